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
// # Another column, another table
//
// A column, or a field of a user-defined type, is added and removed in two releases. A query table is added to an
// entity that has rows with [Table.Hidden] and Backfill of package reconcile. To remove a table, stop reading it, deploy
// the set without it, and drop it once no stored error names it any more. docs/change-schema.md has the steps.
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
// In a set of [OneOf] and immutable key columns, updates and deletes may come in any order, from any before-images,
// more than once: every table ends as the row with the largest timestamp says. docs/choose-rules.md has the conditions.
// docs/why/keys-and-clocks.md says what happens at equal timestamps.
package tables
