// Package query prepares statements against a schema, as a Cassandra node does: it says what their marks stand for,
// what a write puts into which partition, and what a read gives of the partitions that it is handed. It neither stores
// nor knows nodes.
//
// A row whose marker has ended, and that is there only by cells older than the marker, is there whatever columns are
// asked for. Cassandra leaves it out of some reads that do not ask for the columns of those cells (BTreeRow.filter).
//
// CONTAINS KEY of a map and CONTAINS of a set that are not frozen find what is there. Cassandra finds what was deleted,
// too (RowFilter.SimpleExpression).
//
// Forms that Cassandra has and this package does not are errors that say so, when the statement is prepared.
package query
