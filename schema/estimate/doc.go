// Package estimate computes how large the partitions of a table become: rows, cells and bytes over time, from what is
// stated of the table or from what a cluster reports, and when limits are met.
//
//	e, err := estimate.New(Shop, schema.Volume{
//		Table: schema.ID{Name: "orders_by_user"}, Rows: 2000, Per: schema.Year, // rows of one partition
//	})
//	fmt.Println(e.At(5 * schema.Year)) // the largest partition after five years
//	age, reached := e.When(func(s estimate.Size) bool { return s.Bytes >= estimate.BadBytes })
//
// The command denorm estimate writes this for all tables of a schema, with what ways to split them do.
//
// # What is counted
//
// Bytes are those of Cassandra's data files before compression, which is also what a cluster reports of its partitions:
// keys, rows, and cells with their timestamps. They leave out indexes, and tombstones of what was deleted or has expired.
// Where the type does not say how wide a column is, 32 bytes of text, 256 of blob and 10 elements of a collection are assumed,
// unless the [schema.Volume] states it (Width, Elements). Every row is taken to have every column, unless Filled says otherwise.
//
// # Limits
//
// [GoodRows] and [GoodBytes] are where reads, compaction and repair of a partition begin to be slow, [BadBytes] where they hurt;
// [MaxCells] is a limit of Cassandra itself, beyond which a partition cannot be written to. The rules DN105 to DN108 of package
// lint go by the same numbers.
//
// # Existing tables
//
// [Measure] reads what a node reports of its own part of a table, and [Live.Volume] turns it into a volume to compute
// with:
//
//	live, err := estimate.Measure(ctx, s, schema.ID{Keyspace: "shop", Name: "orders_by_user"})
//	volume, reported := live.Volume(Shop)
//
// A node reports what is in its data files: nothing of rows that are not flushed yet, and mean sizes in steps of 20 %.
package estimate
