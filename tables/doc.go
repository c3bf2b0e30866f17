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
// set ([Set.Insert], [Set.Update], [Set.Upsert], [Set.Patch], [Set.Delete]) give a [Change], which package writer carries out.
//
// # What a change becomes
//
// An update writes the whole row to every table, at the one timestamp of the write. Writing only what differs is wrong
// as soon as two writers meet: one table would keep a cell of each, another the row of one. What is absent
// is written as null. A row that keeps its key keeps the columns that the set does not declare, so a service may add one
// while its former version is still running; a row that moves does not take them along.
//
// [Set.Patch] writes columns of one's choice, or elements of a map or set, without a before-image. It is for sets in which no
// key column can change, and gives every table of the set the row marker, so that no table keeps a row that another has lost. One that expires ends alone:
// what it has written goes, and the row stays as long as others have written it.
//
// Key columns are immutable unless the set says how they may change, because two writers that move a row from the same
// before-image leave a ghost, a row that the base table does not confirm, although both writes are acknowledged. See
// [OneOf] and [SingleWriter].
//
// # Buckets
//
// A key column can follow from other columns of the row, see [Derive]: from a time or from a hash. Package reader reads all
// partitions of such a table as one.
//
// # Counters
//
// A set all of whose columns beside the keys are counters has one verb, [Set.Add]. Counters have no timestamp, so none of what
// is said here of convergence holds for them, and nothing repeats what may have been counted already. A counter that has to
// be exact is a row an event, counted when it is read.
//
// # Convergence
//
// For a set of [OneOf] and immutable key columns, any updates and deletes, and at most one insert, whose timestamp is
// the smallest, from any before-images, with distinct timestamps, delivered in any order, each at least once: every
// table ends as the projection of the row with the largest timestamp, or without it if that was a delete. At equal
// timestamps, without expiry and with the insert's strictly the smallest, keys agree in every table whose key holds at
// most one OneOf column; a derived column is as it follows from the others there, and may be a mixture in the base row. Sets with [SweepInserts] need no rule for inserts. In a set that can be patched, any inserts, updates,
// patches and deletes at distinct timestamps leave every table as if they had come in the order of their timestamps, those that
// expire too, whether they come before their expiry or after it. It holds while all processes know the same domain, the immutable key columns of an id agree in all changes (a created_at = now in a
// repeated request is a ghost: derive it from the id), and delivery ends within gc_grace_seconds. TestConvergence
// holds the code to it.
package tables
