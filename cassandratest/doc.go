// Package cassandratest is an Apache Cassandra cluster in the process of a test: nodes that speak the native protocol, version 4,
// to the real gocql, store what they are sent by Cassandra's rules, and do to requests what the test tells them. What a real
// cluster does once a year, as to apply a write and lose the answer, it does on demand.
//
// The first thing to use is [Test], which runs a test in virtual time on nodes of its own:
//
//	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
//		c.Create(Shop.In(map[string]string{"": "shop"}).Statements()...) // the tables; or CQL as in a file
//		config := c.Config()
//		config.Keyspace = "shop"
//		s, err := session.Open(config)
//		t.Cleanup(s.Close)
//
//		lost := c.When().Do(cassandratest.Apply, cassandratest.Drop) // whatever is sent is applied, and nobody answers
//		// what does the service say?
//		lost.End() // the network works again
//		if lost.Handled() == 0 {
//			t.Fatal("nothing was sent")
//		}
//	})
//
// docs/cassandratest.md is about code that uses gocql and nothing else of denorm, and package example has its tests.
//
// Other rules, and nodes as a whole:
//
//	c.When(cassandratest.Table("orders_by_user"), cassandratest.Nth(1)).Do(cassandratest.Cut)
//	c.When(cassandratest.On(2)).Do(cassandratest.Fail(cassandratest.Overloaded))
//	c.Node(3).Freeze()
//
// # Faults
//
// A rule is a sentence: when a request is like this, do these steps. What the steps leave open is done as by a healthy
// node: Do(Delay(time.Second)) applies and answers a second later, Do(Apply, Drop) loses the answer, Do(Drop,
// Delay(time.Second), Apply) applies when the client has given up. [ApplyAt], [StoreBatch], [Promise], [Propose] and [Accept]
// carry a write out in part, as a coordinator that dies in between.
//
// The test of a service wants When() without a [Kind], which is all that the service reads and writes, or one with a [Table].
// When(Execute) does not meet writes of several rows of a partition, nor logged batches, as of an update that moves a row: those
// travel as BATCH. And it does meet, as naming any kind does, the requests for system tables by which gocql and the writer read
// the schema. A rule for a table that does not exist is an error of the test; whether another has met anything says
// [Rule.Handled].
//
// Nodes as a whole are made [Node.Silence], [Node.Freeze], [Node.Vanish] or [Node.Stop], and [Node.Restore]. The other nodes do
// not know at once: for 10 seconds they take the node to be up, and what needs it times out, writes after 2 seconds and reads
// after 5 (WRITE_TIMEOUT, READ_TIMEOUT). Only then is it UNAVAILABLE. A test of the latter waits, <-time.After(10*time.Second),
// or answers by a rule: Fail(Unavailable(gocql.LocalQuorum, 2, 1)).
//
// [Cluster.Journal] has every request, and how often it was applied; [Cluster.Watch] tells of each that is.
//
// # Time
//
// [Start] serves in memory and works inside of a testing/synctest bubble, where a node that is silent for minutes costs no time.
// gocql lets go of its goroutines up to some minutes after Session.Close, if a node was gone or cut a connection, and a bubble
// that ends before panics:
//
//	panic: deadlock: main bubble goroutine has exited but blocked goroutines remain
//
// with a dump of goroutines of gocql. [Test] lets virtual time run on until they are gone. A session that nobody has closed is an error
// of the test, which says where it was opened; with [Start] that is in the log of the test. A test that has its own bubble begins with
//
//	t.Cleanup(func() { <-time.After(10 * time.Minute) })
//
// An open session sends heartbeats, so virtual time is not quite free: a day of it takes some 6 seconds with three nodes, and
// fills the journal. A test of writer.ErrExpired, which is half of gc_grace_seconds away, makes these few
// (ALTER TABLE ... WITH gc_grace_seconds = 120), or closes its session before the days and opens another after them: then they
// take no time.
//
// Writers share a clock, and bubbles have times of their own: where tests run in parallel, make each writer with
// writer.WithClock(writer.NewClock(time.Now)).
//
// Pages that gocql reads ahead keep the clock of a bubble from running on, as one of its goroutines waits for a mutex then: give
// Query.Prefetch(0) to what is read in pages. The clock of a bubble begins at midnight UTC 2000-01-01.
//
// [Listen] serves on sockets, one address of 127.0.0.0/8 a node, all on one port.
//
// # What it is, and what it is not
//
// It prepares and executes the CQL that denorm, gocqlx and gocql send: SELECT, INSERT, UPDATE, DELETE with conditions, batches,
// counters, collections and user-defined types, TTL and timestamps, and the definitions of keyspaces, tables and types.
// Partitions belong to replicas by their token; writes and reads need as many replicas as their consistency level says; nodes
// that are gone get hints, logged batches are replayed, lightweight transactions that were left half-done are finished by the
// next one, reads repair. The same generated statements give the same rows, write times and errors as on Apache Cassandra 5.0.6
// (package integration/load/differential).
//
// It is no database: all is in memory, under one lock, and gone at the end. What it does not know it rejects, with an error that
// begins with "not supported by the in-process Cassandra"; among it are functions and aggregates but a few, SELECT JSON and
// INSERT JSON, GROUP BY, lists by index, roles and authentication, more than one datacenter, adding and removing nodes. Indexes
// and materialized views can be declared, for those who read the schema, and are not filled: a SELECT from a view, or by an
// index, is rejected. Other errors have the text of Cassandra, in which "line 0:-1" is the end of the statement. There is no
// compaction, so nothing deleted comes back after gc_grace_seconds; messages between nodes take no time; what a test measures on
// it says nothing about Cassandra's speed.
package cassandratest
