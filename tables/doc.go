// Package tables declares the query tables of an entity and turns a change of the entity into mutations of them. It is
// pure: no I/O, no session, no clock.
//
// A declaration, a [Set], is made once, in a package variable:
//
//	var Orders = tables.Must(tables.New[Order]("order",
//		tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
//		tables.Table{Name: "orders_by_user", PartKey: []string{"user_id"}, SortKey: []string{"order_id DESC"}},
//		tables.Table{Name: "orders_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id DESC"}},
//		tables.OneOf("status", Open, Paid, Shipped, Cancelled),
//		tables.Stamp("updated_at"),
//		tables.Type("order_id", "timeuuid"),
//	))
//
// The first table is the base table: one row per entity, the truth that the others are compared with. The verbs of the
// set ([Set.Insert], [Set.Update], [Set.Upsert], [Set.Patch], [Set.Delete]) return a [Change], which package writer carries out.
//
// # Types
//
// The CQL type of a column follows from the Go type of its field, and [Type] declares another one that fits this Go type:
//
//	Go type                CQL type    with Type
//	string                 text        ascii, bigint, blob, date, inet, int, smallint, timeuuid, tinyint, uuid, varint
//	[]byte                 blob        ascii, text, timeuuid, uuid
//	bool                   boolean
//	int8                   tinyint
//	int16                  smallint    tinyint
//	int32                  int         smallint, tinyint
//	int64                  bigint      counter, int, smallint, time, timestamp, tinyint
//	int                    bigint      int, smallint, tinyint, varint
//	uint8                  -           bigint, int, smallint, varint
//	uint16                 -           bigint, int, varint
//	uint32                 -           bigint, varint
//	uint64                 -           varint
//	float32                float
//	float64                double
//	inf.Dec                decimal
//	big.Int                varint
//	gocql.UUID, [16]byte   uuid        timeuuid
//	net.IP                 inet        blob
//	time.Time              timestamp   date
//	time.Duration          -           bigint, counter, int, smallint, time, timestamp, tinyint
//	gocql.Duration         duration
//	[]T                    -           frozen<list<T>>, set<T>, frozen<set<T>>
//	map[T]struct{}         set<T>      frozen<list<T>>, frozen<set<T>>
//	map[K]T                map<K,T>    frozen<map<K,T>>
//
// A pointer is like what it points to, and nil is null. A defined type, such as type MemberID [16]byte, is like its underlying type. A
// struct is declared with [UserType]. Tuples can be inside such types and collections. A value that the CQL type cannot hold, such as
// 1<<40 in an int column, is an error of the write. schema.Validate says which Type to declare for a live column of
// another type, or which Go type to use if that of the field does not fit.
//
// A time.Time in a date column must be in UTC, and its day is written. Any other time is an error, as 01:30 on May 6 in Berlin would be
// May 5. [Type] says how to write the local day. In a timestamp column it is the moment, cut off to milliseconds. Both are read back in UTC.
//
// # What a change becomes
//
// An update writes the whole row to every table, at the one timestamp of the write. Writing only what differs would be wrong as soon as
// two writers meet: one table would keep a cell of each, another the row of one. Absent values are written as null. A row that keeps its
// key keeps the columns that the set does not declare; a row that moves does not take them along.
//
// [Set.Patch] writes single columns, or elements of a map or set, without a before-image. It is for sets in which no key column can change. It
// writes the row marker to every table of the set, so that no table keeps a row that another has lost. If a patch expires, only what it has
// written goes; the row stays as long as others have written it.
//
// Key columns are immutable unless the set says how they may change. The reason is that two writers that move a row
// from the same before-image leave a ghost: a row that the base table does not confirm, although both writes are
// acknowledged. See [OneOf] and [SingleWriter].
//
// # Another column
//
// A column, or a field of a user-defined type, is added in two releases. Add it to the tables, or the type. The first release declares it and
// leaves it absent (a nil pointer). The second release, deployed when every process has the first, gives it values. Processes that do not
// know a column that has values cannot keep the tables in step. A row that they move leaves the column behind. An entity that they delete
// from a Versioned set stays there, with the column, for processes that know it. What they finish for another process lacks the column in the
// query tables. An expiry that they set does not reach it.
//
// To remove a column, take it out of the declaration, and drop it from the tables when every process has that release. Until
// then a deleted entity of a Versioned set keeps its base row if it has a value in the column.
//
// # Another table
//
// A query table is added to an entity that has rows in four steps. Create the table. Deploy the set with it everywhere, with [Table.Hidden], so
// that writers write it and nobody reads it. Once the last process without it has ended, and the errors that such processes stored have been
// resumed or discarded, run Backfill of package reconcile: it puts the rows of the base table into the new one, each at its own time, while
// writers go on. When Backfill has returned no error, remove Hidden.
//
// To remove a table, stop reading it, deploy the set without it, and drop it once no stored error names it any more.
//
// # Buckets
//
// A key column can be derived from other columns of the row, from a time or by a hash: see [Derive]. Package reader reads
// all partitions of such a table as one.
//
// # Counters
//
// A set in which all columns besides the keys are counters has one verb, [Set.Add]. Counters have no timestamp, so nothing that
// is said here about convergence holds for them, and nothing repeats what may have been counted already. If a count has to be
// exact, write one row per event and count the rows when reading.
//
// # Convergence
//
// Take a set of [OneOf] and immutable key columns, any updates and deletes, and at most one insert, whose timestamp
// is the smallest. They may have any before-images, need distinct timestamps, and are delivered in any order, each at
// least once. Then every table ends as the projection of the row with the largest timestamp, or without it if that
// was a delete. Sets with [SweepInserts] need no rule for inserts.
//
// If two writers share a timestamp, neither is an insert, and rows do not expire, then every table whose key has at most one
// OneOf column still has the row under the key that the base row names, and under no other. The other columns may be a mixture of
// the two writes; a derived column is right in keys, and may be a mixture in the base row.
//
// In a set that can be patched, any inserts, updates, patches and deletes at distinct timestamps leave every table as if they had
// come in the order of their timestamps. This includes those that expire, whether they come before their expiry or after it.
//
// All this holds while all processes know the same domain, the immutable key columns of an id agree in all changes (a
// created_at = now in a repeated request makes a ghost: derive it from the id), and delivery ends within gc_grace_seconds.
// TestConvergence, TestConvergenceTies and TestConvergencePatch test it.
package tables
