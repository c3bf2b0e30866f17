// Package catalog compares the schema of the in-process Cassandra with that of a real one: the same statements have to
// give the same rows of system_schema, the same refusals and the same bytes.
package catalog
