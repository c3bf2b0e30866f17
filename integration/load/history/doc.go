// Package history checks the tables of a set against the logical writes that their clients know of.
//
// Clients note each write in a [History] before they send it and when they know what became of it. When all is over and
// the cluster is quiet ([Quiesce]), the tables are read in full ([Read]) and [Check] holds them against the history.
// The law for a set whose key columns are immutable or OneOf: every table shows the row of the write with the largest
// timestamp, as a whole, or none if that was a delete.
//
// A client that is killed leaves its history in a journal ([New], [Load]).
package history
