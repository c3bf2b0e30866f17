package tables

import "github.com/denorm-go/denorm/internal/declare"

// Table declares one Cassandra table, which stores a row per entity under its key. The first Table given to [New] is
// the base table. A Table is an [Option] of [New].
type Table struct {
	// Name of the table, an unquoted CQL identifier. Required.
	Name string
	// Keyspace is the logical name of the table's keyspace, which session.Keyspaces may map to another. Empty stands for
	// the session's keyspace.
	Keyspace string
	// PartKey names the partition key columns, in order. Required.
	PartKey []string
	// SortKey names the clustering columns, in order, each optionally followed by ASC (the default) or DESC. Like every
	// key column it is immutable without a rule ([OneOf], [SingleWriter], [Versioned]). Do not sort by what people
	// correct, such as a title.
	SortKey []string
	// Columns names the columns that the table holds alongside its key. Nil stands for all columns, or in a set of
	// counters for all counters. The base table must hold all of them. A row read from a table with Columns has zero
	// values for the others. Do not give such a row to Update, as before or after: the write would make these columns null
	// or zero in every table. Read the base row, or use writer.Modify.
	Columns []string
	// Rotate splits the table into one table per bucket of a time bucket function. Each is named Name and the bucket,
	// as in events_2024_01 for Month. The column of the function must be in the key of the table. Package rotation
	// creates the tables ahead of time and drops old ones; schema.Ensure creates the current one. The function must not
	// change while the table keeps its name: rows would be looked for in other tables, and dropped at another time.
	Rotate Bucket
	// Unique gives each primary key of the table, such as an e-mail address, to one entity only. The table also holds the
	// base key of the owner, and a column named claim (timeuuid), which is not a field. Only a [Versioned] set can have
	// such tables, in the keyspace of the base table. A key has one owner per keyspace. Two sets must not share the table:
	// schema.Validate and Ensure reject that. Keys are compared by their bytes: write "A@x.org" and "a@x.org" in one
	// spelling.
	//
	// A row of the table is a claim. It is written before the base row has the key, and may stay if the client dies. So
	// to look up an owner read its base row too, and trust the base row. Rows from before the table was declared have
	// no claims: their keys are free until Repair of package reconcile has claimed them.
	Unique bool
	// Hidden makes package reader reject queries of the table, while writers write it like any other. Set Hidden on a
	// table that is new to an entity with rows, until these rows are in the table; see the package documentation.
	// Processes may differ in Hidden, so that a rolling deployment can remove it.
	Hidden bool
}

func (t Table) apply(d *declare.Declaration) {
	d.Tables = append(d.Tables, declare.Table{
		Name: t.Name, Keyspace: t.Keyspace, PartKey: t.PartKey, SortKey: t.SortKey, Columns: t.Columns,
		Rotate: t.Rotate.bucket, Unique: t.Unique, Hidden: t.Hidden,
	})
}
