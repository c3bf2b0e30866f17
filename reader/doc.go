// Package reader reads the rows of a query whose partitions are split into buckets: it works out which partitions can hold
// them, asks these at the same time, and gives the rows in clustering order, as one stream.
//
//	r, err := reader.New(s) // of session.Open
//
//	newest := reader.From(Logs, "logs").Eq("sensor_id", id).GtOrEq("ts", midnight).Lt("ts", now).OrderBy("ts DESC").Limit(10)
//	for row, err := range reader.Read(ctx, r, "newestLogs", newest).All() {
//		...
//	}
//
// # Queries
//
// A [Query] is on a table declared in package tables. It says everything that Cassandra has to know to read only what is
// asked for: every column of the partition key that is not derived equals a value; so do the first clustering columns, or
// none; the next one may have a range. Where buckets follow from a time, that time must have both ends of a range. What is
// missing is named, in a [*QueryError], before anything is sent. There is no ALLOW FILTERING, no IN and no secondary index
// behind a query: it costs its partitions.
//
// Rows come in the clustering order of the table, or against it, as [Query.OrderBy] says, over all partitions; rows with equal
// clustering keys, in the order of the partitions' buckets, always the same.
//
// A deleted entity of a set with tables.Versioned leaves a row in the base table for 24 hours, in which all columns but key
// and version are null. It is no row here: not given, and not counted by a limit. It is read, though, as a tombstone is.
//
// Rows of a table that is Unique are claims, also of writes that are not finished or never will be: the base row of the owner says
// whether it has the key, and [Query.Confirm] asks it. See tables.Table.
//
// # Confirmed rows
//
// A query table may have rows that the base table does not confirm: those of a move that ended half-way, or of two at a time in a set with
// tables.SingleWriter, and unfinished claims. [Query.Confirm] checks each row against its base row, leaves such rows out, and gives the values
// of the base row. It costs a read of the base table a row; docs/tombstones.md in the repository has it measured.
//
// # Streams
//
// Buckets of time that follow each other are read one after the other, with the next ones ahead where that saves waiting;
// hash buckets are merged. A partition is read in pages, one of them ahead of the caller, so memory does not grow with the
// result. Pages follow the limit: ten rows out of ten partitions cost ten pages of ten rows. To stop early just break: when
// the loop has ended, no request and no goroutine is left.
//
// What is read is not a snapshot: each page is as of the moment it was read.
//
// # Continuing
//
// [Rows.Token] continues a query after the last row, in any process, as long as the query is the same, its bounds too; the limit
// may be another. The token does not hold the bounds: a service that computes them from the clock, such as the last 24 hours, does
// so for page 1 and keeps them with the token. The token is the place in the order, not a state of the server: it never expires,
// and rows that came or went meanwhile are there or not there as if the query began at this row.
//
// # Errors
//
// Every request is repeated as the [retry.Policy] says; reads are idempotent. When a partition cannot be read the query ends with
// a [*Error], which names the table and the partition by its bucket, and holds no other value. Rows that came before
// it are right, and are not the whole: a result is whole if the loop ends without an error. The token taken then
// continues it.
package reader
