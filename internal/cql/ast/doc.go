// Package ast reads statements of the Cassandra Query Language, as Cassandra 5.0 reads them: single ones with [Parse],
// for the engine of cassandratest, which adds ALTER and DROP, and texts of many with [Script], for package schema. It
// knows no schema: names and values are as written there. What [Parse] does not know is an error, never skipped.
package ast
