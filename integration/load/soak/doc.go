// Package soak is one long load of several services at once, on three nodes that are killed, stopped, restarted one
// after the other and given another schema meanwhile, while the clients are killed, too, and their clocks disagree.
// Afterwards every write is compared with what the tables show, and every divergence is put down to the write that has
// left it.
//
// Part of what fails is stored for other processes, which resume it late, in any order and some of it twice.
//
// The orders are those of package hot, in several modes; the accounts are versioned and have a unique key.
package soak
