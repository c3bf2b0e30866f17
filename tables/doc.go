// Package tables declares the query tables of an entity and turns a change of the entity into mutations of them. It is
// pure: no I/O, no session, no clock.
//
// A declaration, a [Set], is made once, in a package variable. Its verbs make changes that package writer carries out:
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
//	res, err := w.Write(ctx, "createOrder", Orders.Insert(order)) // w is a *writer.Writer
//	page, token, err := reader.List(ctx, r, "ordersOfUser", reader.From(Orders, "orders_by_user").Eq("user_id", id))
//
// The first table is the base table: one row per entity, with which the others are compared. The verbs of the set
// ([Set.Insert], [Set.Update], [Set.Upsert], [Set.Patch], [Set.Delete]) return a [Change].
//
// # Types
//
// The CQL type of a column follows from the Go type of its field, and [Type] declares another one that fits this Go
// type:
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
// A pointer is like what it points to, and nil is null. A defined type, such as type MemberID [16]byte, is like its
// underlying type. A struct is declared with [UserType]. Tuples can be inside such types and collections. A write fails
// if the CQL type cannot hold a value, such as 1<<40 in an int column. schema.Validate says which Type to declare for a
// live column of another type, or which Go type fits.
//
// A time.Time in a timestamp column is cut off to milliseconds. Timestamps and dates are read back in UTC; [Type] says
// how to write a date.
//
// The fields of a user-defined type need cql tags, by which gocql reads them back. Processes that do not know a new
// field of the live type write values without it. With [Versioned] or [Compare], writer.Modify and Load reject a value
// with such a field.
//
// # What a change becomes
//
// An update writes the whole row to every table, with one timestamp. Writing only the changed columns would break when
// two requests collide. One table could end with columns of both, and another with the row of one. Absent values are
// written as null. A row that keeps its key keeps the columns that the set does not declare; a row that moves loses
// them.
//
// [Set.Patch] writes single columns, or elements of a map or set, without a before-image. It is for sets in which no
// key column can change. A patch without expiry writes the row marker to every table, so that no table keeps a row that
// another has lost. When a patch expires, only its cells go; the row stays if another write made it.
//
// Key columns are immutable unless the set says how they may change. With [SingleWriter], two writers that move a row
// from the same before-image leave a ghost (stale row), although both writes are acknowledged. The base table does not
// confirm such a row. With [OneOf] they leave none.
//
// # Conditions
//
// A write of a [Versioned] set changes the base row, then the query tables at the version's timestamp. If the client
// dies half-way, the entity's next writer finishes. The base table also has columns without fields:
// docs/ref/glossary.md. A deleted entity leaves a base row that has a version and nothing else. It stays for 24 hours,
// or in a [Transactional] set until the entity is inserted again. writer.Load and package reader skip such rows; code
// that reads the base table by other means must, too. All writes of the set must go through the library:
// schema.Validate rejects a plain set over these tables. Rows from before the declaration have no version: they cannot
// be updated until Adopt of package reconcile has set it.
//
// A set with [Compare] has no version. A change sent again or resumed after a lost answer applies twice if the compared
// columns have their former values again. A repeated insert undoes a delete. So compare a column whose values do not
// recur, such as a reservation's deadline, and mark a row as ended instead of deleting it. Writers recognise their
// changes, except deletes, by the [Mark]. Changes of rows of one partition may be given to one Write, which applies all
// of them or none.
//
// # Another column, another table
//
// A column, or a field of a user-defined type, is added and removed in two releases. A query table is added to an
// entity that has rows with [Table.Hidden] and Backfill of package reconcile. To remove a table, stop reading it,
// deploy the set without it, and drop it once no stored error names it. docs/change-schema.md has the steps.
//
// # Buckets
//
// A key column can be derived from other columns of the row, from a time or by a hash: see [Derive]. Package reader
// reads all partitions of such a table as one.
//
// The source columns of a bucket count as key columns.
//
// To replace a function, declare both, and the row time from which the new one is used. Without a time column a Hash
// needs none:
//
//	tables.Derive("bucket", tables.Every(10*24*time.Hour, "message_time"),
//		tables.Since{Time: march, Bucket: tables.Every(24*time.Hour, "message_time")})
//	tables.Derive("bucket", tables.Hash(10, "message_id"), tables.Since{Bucket: tables.Hash(40, "message_id")})
//
// schema.Validate rejects a declaration that lacks a function in use. docs/choose-rules.md has the steps.
//
// # Counters
//
// A set in which all columns outside of the keys are counters has one verb, [Set.Add]. Counters have no timestamp:
// their tables may not converge. If a count has to be exact, write one row per event and count the rows when reading.
//
// # Convergence
//
// If all key columns are [OneOf] or immutable, every table ends with the row of the largest timestamp. Updates and
// deletes may come in any order, from any before-images, more than once. docs/choose-rules.md has the conditions.
// docs/why/keys-and-clocks.md says what happens at equal timestamps.
package tables
