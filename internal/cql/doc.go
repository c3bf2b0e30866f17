// Package cql knows the words, names and types of the Cassandra Query Language, as Cassandra 5.0 reads it: which names
// need no quotes, and what a type as text is ([ParseType]). Package ast reads statements. It knows no schema: names are
// as written.
package cql
