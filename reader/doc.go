// Package reader reads the rows of a query from a declared table, by page or as one stream. If the table is split into
// buckets, the reader works out which partitions can hold the rows. It queries these at the same time, and returns the
// rows in clustering order.
//
//	r, err := reader.New(s) // of session.Open
//	page, next, err := reader.List(ctx, r, "ordersOfUser",
//		reader.From(Orders, "orders_by_user").Eq("user_id", id).Limit(20)) // next page: .After(next)
//
//	newest := reader.From(Logs, "logs").Eq("sensor_id", id).GtOrEq("ts", midnight).Lt("ts", now).OrderBy("ts DESC").Limit(10)
//	for row, err := range reader.Read(ctx, r, "newestLogs", newest).All() {
//		...
//	}
//
// # Queries
//
// A [Query] is on a table declared in package tables. Give every partition key column a value with Eq, except derived
// ones. You may then fix the leading clustering columns with Eq, and give the next one a range. If buckets follow from
// a time, the range of that time must have both ends. An error that matches [ErrInvalid] names what is missing before
// anything is sent. A query never uses ALLOW FILTERING, IN or a secondary index. It sends one request per page and
// partition.
//
// Rows of all partitions come in the clustering order of the table, or in reverse, as [Query.OrderBy] says. Rows with
// equal clustering keys come in the order of the partitions' buckets, which is always the same.
//
// A deleted entity of a set with tables.Versioned leaves a row in the base table, in which all columns but key and
// version are null. It stays for 24 hours, or in a Transactional set until the entity is inserted again. A query does
// not return this row, and a limit does not count it. It is read, though, like a tombstone.
//
// Rows of a Unique table are claims, some of them of unfinished writes. Only the owner's base row shows whether the
// owner has the key; [Query.Confirm] reads it. See tables.Table.
//
// # Confirmed rows
//
// A query table may have rows that the base table does not confirm. They come from a move that ended half-way, from two
// concurrent moves in a set with tables.SingleWriter, and from unfinished claims. [Query.Confirm] leaves such rows out,
// and returns the values of the base row. docs/why/costs.md in the repository has measurements.
//
// # Streams
//
// A partition is read in pages, one of them ahead of the caller, so memory does not grow with the result. The page size
// follows the limit: Limit(10) over ten partitions reads ten pages of ten rows. To stop early just break: the loop ends
// when its requests have ended, and leaves no goroutine.
//
// A read is not a snapshot: each page shows the moment when it was read. Only [Transaction] reads several rows as they
// are at one moment, on Cassandra 6.
//
// # Continuing
//
// [Rows.Token] continues a query after the last row, in any process. The query must be the same, including its bounds;
// the limit may differ. The token never expires. The query goes on like a new query that begins after the last row.
//
// # Errors
//
// Every request is retried as the [retry.Policy] says; reads are idempotent. When a partition cannot be read the query
// ends with an [*Error]. A token taken after the error continues the query.
package reader
