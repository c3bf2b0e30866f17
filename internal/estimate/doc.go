// Package estimate computes how large the partitions of a table become: rows, cells and bytes over time, and when they
// reach limits. It computes from the stated volume of the table, or from what a cluster reports.
//
//	e, err := estimate.New(Shop, schema.Volume{
//		Table: schema.ID{Name: "orders_by_user"}, Rows: 2000, Per: schema.Year, // rows of one partition
//	})
//	fmt.Println(e.At(5 * schema.Year)) // the largest partition after five years
//	age, reached := e.When(func(s estimate.Size) bool { return s.Bytes >= estimate.BadBytes })
//
// The command denorm estimate prints this for all tables of a schema.
//
// # What is counted
//
// Bytes are those of Cassandra's data files before compression, which is also what a cluster reports for its
// partitions: keys, rows, and cells with their timestamps. Indexes, and tombstones of deleted or expired data, are not
// counted. If the type does not determine the width of a column, estimate assumes 32 bytes for text, 256 for blob and
// 10 elements for a collection, unless the [schema.Volume] states them (Width, Elements). It assumes that every row has
// every column, unless Filled says otherwise.
//
// # Limits
//
// [GoodRows] and [GoodBytes] are where reads, compaction and repair of a partition begin to be slow, [BadBytes] where
// they hurt. [MaxCells] is a limit of Cassandra itself, beyond which a partition cannot be written to. The rules DN105
// to DN108 of package lint use the same numbers.
//
// # Existing tables
//
// [Measure] reads what a node reports about its own part of a table, and [Live.Volume] converts it into a volume to
// compute with:
//
//	live, err := estimate.Measure(ctx, s, schema.ID{Keyspace: "shop", Name: "orders_by_user"})
//	volume, reported := live.Volume(Shop)
//
// A node reports what is in its data files: it leaves out rows that are not flushed yet, and gives mean sizes in steps
// of 20 %.
package estimate
