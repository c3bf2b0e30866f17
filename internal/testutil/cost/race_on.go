//go:build race

package cost

const race = true
