// Package reader reads the rows of a query from a declared table, by page or as one stream. If the partitions of the
// table are split into buckets, it works out which can hold the rows. It queries these at the same time, and returns
// the rows in clustering order.
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
// A [Query] is on a table declared in package tables. It must say everything that Cassandra has to know to read only
// what is asked for. Every column of the partition key that is not derived equals a value. You may then fix the leading
// clustering columns with Eq, and give the next one a range. If buckets follow from a time, the range of that time must
// have both ends. An error that matches [ErrInvalid] names what is missing before anything is sent. A query never uses
// ALLOW FILTERING, IN or a secondary index. It sends one request per page and partition.
//
// Rows of all partitions come in the clustering order of the table, or in reverse, as [Query.OrderBy] says. Rows with
// equal clustering keys come in the order of the partitions' buckets, which is always the same.
//
// A deleted entity of a set with tables.Versioned leaves a row in the base table, in which all columns but key and
// version are null. It stays for 24 hours, or in a Transactional set until the entity is inserted again. A query does
// not return this row, and a limit does not count it. It is read, though, as a tombstone is.
//
// Rows of a Unique table are claims, also of writes that are not finished or never will be. The base row of the owner
// says whether it has the key, and [Query.Confirm] reads it. See tables.Table.
//
// # Confirmed rows
//
// A query table may have rows that the base table does not confirm. They come from a move that ended half-way, from two
// concurrent moves in a set with tables.SingleWriter, and from unfinished claims. [Query.Confirm] checks each row
// against its base row, leaves such rows out, and returns the values of the base row. It costs one read of the base
// table per row; docs/why/costs.md in the repository has measurements.
//
// # Streams
//
// Consecutive time buckets are read one after the other, with the next ones read ahead where that saves waiting; hash
// buckets are merged. A partition is read in pages, one of them ahead of the caller, so memory does not grow with the
// result. The page size follows the limit: ten rows out of ten partitions cost ten pages of ten rows. To stop early
// just break: when the loop has ended, no request and no goroutine is left.
//
// What is read is not a snapshot: each page is as of the moment it was read. Only [Transaction] reads several rows as
// they are at one moment, on Cassandra 6.
//
// # Continuing
//
// [Rows.Token] continues a query after the last row, in any process. The query must be the same, including its bounds;
// the limit may differ. The token does not hold the bounds. A service that computes them from the clock, such as the
// last 24 hours, does so for page 1 and keeps them with the token. The token is the place in the order, not a state of
// the server. It never expires, and rows inserted or deleted in between appear or do not appear as if the query began
// at this row.
//
// # Errors
//
// Every request is retried as the [retry.Policy] says; reads are idempotent. When a partition cannot be read the query
// ends with an [*Error]. It names the table and the partition by its bucket, and holds no other value. Rows that came
// before the error are correct, but the result is incomplete: it is complete if the loop ends without an error. A token
// taken after the error continues the query.
package reader
