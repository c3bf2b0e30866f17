// Package estimate reckons how large partitions become: rows, cells and bytes over time, from what is stated of a table
// or from what a cluster reports, and when limits are met.
//
// Bytes are those of Cassandra's data files before compression, which is also what a cluster reports of its partitions.
// They leave out indexes, and tombstones of what has been deleted or has expired.
package estimate
