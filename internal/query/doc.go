// Package query prepares statements against a schema, as a Cassandra node does: it says what their marks stand for, what a write
// puts into which partition, and what a read gives of the partitions that it is handed. It neither stores nor knows nodes.
//
// Forms that Cassandra has and this package does not are errors that say so, when the statement is prepared.
package query
