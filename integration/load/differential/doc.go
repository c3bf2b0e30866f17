// Package differential holds the in-process Cassandra of package cassandratest against a real one: generated statements
// go to both, and must give the same rows, WRITETIMEs and errors. Names and types of columns, the order of rows and
// where pages end count too; of errors the code, while texts that differ are only told.
//
// Keys, values and timestamps are few, so that statements meet all the time. Rounds of some forty statements have keys
// of their own and run side by side. A round in which the clusters differ is played again without this and that
// statement, as long as they still do. What was found in that way is in testdata/differences.txt, as the test prints
// it, and is played each time. With -record the real answers are written for package transcript, which needs no cluster
// to replay them:
//
//	go test -run Differential ./differential -size 6500 -record $PWD/../internal/cassandra/transcript/testdata/cassandra-5.0.9.json.gz
//
// Left out is what no two clusters need agree about, or where Cassandra has a way of its own (see package query):
//
//   - WRITETIME of what has no timestamp of the client, and what is left of a lifetime to the second;
//   - equal timestamps of values with equal lifetimes, of which the one that was written in a later second wins;
//   - single columns of rows whose marker has ended, CONTAINS of elements that were deleted, and the order in which several
//     conditions of one row are looked at, of which only one is rejected;
//   - IN of partition keys in a batch with conditions, which is an internal error;
//   - rows of counters that were deleted and are counted again;
//   - two bounds of different length on descending columns, between which Cassandra 5.0 loses rows, and
//     bounds of different length after an IN that names a value twice, with which it finds none;
//   - scans of whole tables.
package differential
