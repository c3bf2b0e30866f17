// Package simulation runs services with orders, accounts and counters against an in-process Cassandra in virtual time, with faults of every kind: lost
// requests and answers, timeouts of writes that are applied, that are not, and that are at one replica, late messages,
// batches that only the batchlog has, half-done lightweight transactions, nodes that stop, freeze and fall silent, clients that are
// killed, clocks that are wrong. In the end the tables are held against everything that the clients were told.
//
// A [World] is one run. What its clients do and what goes wrong follows from its seed; the times at which the library repeats a
// request do not, so a world that is run again has the same writes and about nine in ten of the same faults, in about the same order
// (TestReplay logs the share).
//
// Not simulated are sets with Compare, rows that end, buckets, and changes of the schema.
package simulation
