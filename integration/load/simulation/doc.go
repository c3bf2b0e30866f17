// Package simulation runs services with orders, accounts, seats, logins and counters against an in-process Cassandra in
// virtual time, with faults of every kind: lost requests and answers, timeouts of writes that are applied, that are
// not, and that are at one replica, late messages, batches that only the batchlog has, slow and half-done lightweight
// transactions, nodes that stop, freeze and fall silent, clients that are killed, clocks that are wrong by up to hours,
// and jump. In the end the tables are compared with everything that the clients were told. The orders that nobody
// finished are then repaired, and compared once more. That an address is its account's alone is also looked at whenever
// an account is read.
//
// What a client cannot finish is stored and goes into a queue. The queue delivers it at least once, late and out of
// order, to several processes of its own, which are killed, too: some of it once more when it is done, some while its
// row is changed, some to two processes at the same time or to two goroutines of its own client. Whatever any of them
// is told counts: what is said to be applied has to be there in the end, and what is said not to be must not, unless it
// is sent again later.
//
// A [World] is one run. What its clients do and what goes wrong follows from its seed; the times at which the library
// repeats a request do not, so a world that is run again has the same writes and about nine in ten of the same faults,
// in about the same order (TestReplay logs the share).
//
// Not simulated are buckets by time, rotation, tenants, and changes of the schema.
package simulation
