//go:build !race

package cost

const race = false
