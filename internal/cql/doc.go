// Package cql reads statements of the Cassandra Query Language: the forms that applications, gocql and gocqlx send, as
// Cassandra 5.0 reads them. It knows no schema: names and values are as they stand there. What it does not know is an
// error, never skipped.
package cql
