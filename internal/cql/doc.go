// Package cql knows the words, names and types of the Cassandra Query Language, as Cassandra 5.0 reads it: which names need no quotes, what a
// type as text is ([ParseType]), and a [Parser] of tokens, for package ast, which reads statements. It knows no schema: names are as written.
package cql
