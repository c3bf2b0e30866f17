//go:build !race

package tables_test

const raceEnabled = false
