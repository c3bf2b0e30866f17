// Package wire is a Cassandra cluster for tests: it speaks the native protocol, version 4, to a real driver, and does to
// requests what the test tells it. It stores nothing. It writes down every request, and whether it was applied, so that a
// test can hold what a client believes against what has happened.
//
//	server := cassandratest.Listen(t, 3)
//	server.Create(`CREATE TABLE shop.orders_by_user (user_id uuid, order_id uuid, PRIMARY KEY (user_id, order_id))`)
//	server.When(cassandratest.Table("orders_by_user"), cassandratest.Nth(1)).Do(cassandratest.Apply, cassandratest.Drop)
//	server.When(cassandratest.Table("orders_by_user"), cassandratest.Nth(2)).Do(cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1)))
//	session, err := server.Config().CreateSession()
//
// A rule is a sentence: when a request is like this, do these steps. What the steps leave open is done as by a healthy
// node: Do(Delay(time.Second)) applies and answers a second later, Do(Apply, Drop) loses the answer, Do(Drop,
// Delay(time.Second), Apply) applies when the client has given up. Nodes as a whole are made [Node.Silence], [Node.Freeze],
// [Node.Vanish] or [Node.Stop], and [Node.Restore].
//
// [Listen] serves on sockets, one address of 127.0.0.0/8 a node, all on one port. [Pipes] serves in memory, to be used
// inside of a testing/synctest bubble, where a node that is silent for minutes costs no time.
package cassandratest
