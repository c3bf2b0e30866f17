//go:build !race

// Package race says whether the race detector is on, which slows tests down about tenfold.
package race

// Enabled is true with the race detector.
const Enabled = false
