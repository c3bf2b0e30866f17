// Package catalog is the schema of an in-process Cassandra 5.0: its keyspaces, tables and types, what CREATE, ALTER and
// DROP make of them, the rows that system_schema shows of them, and the bytes of values. What it does not know it
// rejects, as Cassandra does where Cassandra does not know it either.
package catalog
