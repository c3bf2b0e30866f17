// Package cassandratest is an Apache Cassandra cluster in the process of a test: nodes that speak the native protocol, version 4,
// to the real gocql, store what they are sent by Cassandra's rules, and do to requests what the test tells them. What a real cluster
// does once a year, as to apply a write and lose the answer, it does on demand.
//
//	c := cassandratest.Start(t, 3)
//	c.Create(Shop.Statements()...) // the tables; or CQL as it stands in a file
//	config := writer.Configure(c.Config(), "dc1")
//	config.Keyspace = "shop"
//	session, err := config.CreateSession()
//	t.Cleanup(session.Close)
//
//	c.When(cassandratest.Table("orders_by_user"), cassandratest.Nth(1)).Do(cassandratest.Apply, cassandratest.Drop)
//	c.When(cassandratest.On(2)).Do(cassandratest.Fail(cassandratest.Overloaded))
//	c.Node(3).Freeze()
//
// # Faults
//
// A rule is a sentence: when a request is like this, do these steps. What the steps leave open is done as by a healthy
// node: Do(Delay(time.Second)) applies and answers a second later, Do(Apply, Drop) loses the answer, Do(Drop,
// Delay(time.Second), Apply) applies when the client has given up. [ApplyAt], [StoreBatch], [Promise], [Propose] and [Accept]
// carry a write out in part, as a coordinator that dies in between. Nodes as a whole are made [Node.Silence], [Node.Freeze],
// [Node.Vanish] or [Node.Stop], and [Node.Restore].
//
// [Cluster.Journal] has every request, and how often it was applied; [Cluster.Watch] tells of each that is.
//
// # Time
//
// [Start] serves in memory and works inside of a testing/synctest bubble, where a node that is silent for minutes costs no time.
// gocql lets go of its goroutines up to some minutes after Session.Close, so a test in a bubble begins with
//
//	t.Cleanup(func() { <-time.After(10 * time.Minute) })
//
// Pages that gocql reads ahead keep the clock of a bubble from running on, as one of its goroutines waits for a mutex then: give
// Query.Prefetch(0) to what is read in pages. The clock of a bubble begins at midnight UTC 2000-01-01. [Listen] serves on sockets, one address of 127.0.0.0/8 a node, all on
// one port.
//
// # What it is, and what it is not
//
// It prepares and executes the CQL that denorm, gocqlx and gocql send: SELECT, INSERT, UPDATE, DELETE with conditions, batches,
// counters, collections and user-defined types, TTL and timestamps, and the definitions of keyspaces, tables and types. Partitions
// belong to replicas by their token; writes and reads need as many replicas as their consistency level says; nodes that are gone get
// hints, logged batches are replayed, lightweight transactions that were left half-done are finished by the next one, reads repair.
// The same generated statements give the same rows, write times and errors as on Apache Cassandra 5.0.6 (package
// integration/differential).
//
// It is no database: all is in memory, under one lock, and gone at the end. What it does not know it refuses, with an error that
// says so; among it are functions and aggregates but a few, lists by index, authentication, more than one datacenter, adding and removing nodes. There is no compaction, so nothing deleted comes back after
// gc_grace_seconds; indexes and materialized views can be declared, for those who read the schema, and are not filled; messages between nodes take no time; what a test measures on it says nothing about Cassandra's speed.
package cassandratest
