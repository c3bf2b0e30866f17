//go:build race

package versioned_test

// raceEnabled says that the race detector slows the tests down about tenfold.
const raceEnabled = true
