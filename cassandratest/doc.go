// Package cassandratest runs an Apache Cassandra cluster in the process of a test. Its nodes speak version 4 of the
// native protocol to the real gocql. They store data by Cassandra's rules, and handle requests as the test tells them.
// On demand they do what a real cluster does once a year, such as applying a write and losing the answer.
//
// Start with [Test], which runs a test in virtual time on nodes of its own:
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
// docs/ref/cassandratest.md is about code that uses gocql and nothing else of denorm. Its tests are in
// cassandratest/example.
//
// Other rules, and a fault of a whole node:
//
//	c.When(cassandratest.Table("orders_by_user"), cassandratest.Nth(1)).Do(cassandratest.Cut)
//	c.When(cassandratest.On(2)).Do(cassandratest.Fail(cassandratest.Overloaded))
//	c.Node(3).Freeze()
//
// # Faults
//
// A rule says: when a request is like this, do these steps. In all else the node is healthy. Do(Delay(time.Second))
// applies and answers a second later. Do(Apply, Drop) loses the answer. Do(Drop, Delay(time.Second), Apply) applies
// when the client has given up. [ApplyAt], [StoreBatch], [Promise], [Propose] and [Accept] execute part of a write,
// like a coordinator that dies midway.
//
// In the test of a service use When() without a [Kind], which matches all that the service reads and writes, or When
// with a [Table]. When(Execute) does not match writes of several rows of a partition, or logged batches: these are sent
// as BATCH. An example is an update that moves a row. With any kind, When also matches the requests for system tables
// by which gocql and the writer read the schema. A rule for a table that does not exist is an error of the test. For
// other rules, [Rule.Handled] tells whether they matched anything.
//
// [Node.Silence], [Node.Freeze], [Node.Vanish] and [Node.Stop] make a whole node fail, and [Node.Restore] ends that.
// The other nodes consider that node up for 10 more seconds. In that time, requests that need it time out, writes after
// 2 seconds and reads after 5 (WRITE_TIMEOUT, READ_TIMEOUT). After it, they are UNAVAILABLE. A test of UNAVAILABLE
// waits, <-time.After(10*time.Second), or answers by a rule: Fail(Unavailable(gocql.LocalQuorum, 2, 1)).
//
// [Cluster.Journal] returns every request, and how often it was applied; [Cluster.Watch] reports each write that is
// applied.
//
// # Time
//
// [Start] serves in memory and works inside a testing/synctest bubble, where a node that is silent for minutes costs no
// time. If a node was gone or cut a connection, gocql's goroutines end up to some minutes after Session.Close. A bubble
// that ends before these goroutines panics:
//
//	panic: deadlock: main bubble goroutine has exited but blocked goroutines remain
//
// with a dump of goroutines of gocql. [Test] lets virtual time run on until they have ended. A session that nobody has
// closed is an error of the test, which says where it was opened. [Start] only logs it. A test that has its own bubble
// begins with
//
//	t.Cleanup(func() { <-time.After(10 * time.Minute) })
//
// An open session sends heartbeats, so virtual time is not quite free. A day of it takes some 6 seconds per
// session.Session with three nodes, and fills the journal. A test of writer.ErrExpired has to wait for half of
// gc_grace_seconds. It either lowers gc_grace_seconds (ALTER TABLE ... WITH gc_grace_seconds = 120), or closes its
// session before the wait and opens another after it: then the wait takes no time.
//
// Writers share a clock, but each bubble has its own time: if tests run in parallel, make each writer with
// writer.WithClock(writer.NewClock(time.Now)).
//
// Pages that gocql reads ahead stop the clock of a bubble, because one of its goroutines then waits for a mutex. Set
// Query.Prefetch(0) for paged reads. The clock of a bubble begins at midnight UTC 2000-01-01.
//
// [Listen] serves on sockets: each node has its own address in 127.0.0.0/8, and all use one port.
//
// # What it is, and what it is not
//
// It prepares and executes the CQL that denorm, gocqlx and gocql send:
//
//   - SELECT, INSERT, UPDATE, DELETE with conditions, batches, counters, TTL and timestamps;
//   - collections and user-defined types, and the definitions of keyspaces, tables and types.
//
// Partitions belong to replicas by their token. Writes and reads need as many replicas as their consistency level says.
// Hints are stored for nodes that are gone, and logged batches are replayed. The next lightweight transaction finishes
// one that was left half-done, and reads do read repair. The same generated statements give the same rows, write times
// and errors as on Apache Cassandra 5.0.9 (package integration/load/differential).
//
// It is not a database: all data is in memory, under one lock, and gone at the end. It rejects what it does not
// support, with an error that begins with "not supported by the in-process Cassandra". That includes all but a few
// functions and aggregates, SELECT JSON and INSERT JSON, GROUP BY, and lists by index. It also includes roles and
// authentication, more than one datacenter, adding and removing nodes. Indexes and materialized views can be declared,
// for code that reads the schema, but are not filled. A SELECT from a view, or by an index, is rejected. Other errors
// have the text of Cassandra, in which "line 0:-1" is the end of the statement. There is no compaction, so nothing
// deleted comes back after gc_grace_seconds. Messages between nodes take no time, and what a test measures on it says
// nothing about Cassandra's speed.
package cassandratest
