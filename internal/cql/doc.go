// Package cql reads the Cassandra Query Language, as Cassandra 5.0 reads it: single statements with [Parse], for the
// engine of cassandratest, which adds ALTER and DROP, texts of many with [Script], for package schema, and types with [ParseType]. It
// knows no schema: names and values are as written there. What [Parse] does not know is an error, never skipped. The package
// also says which names need no quotes.
package cql
