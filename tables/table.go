package tables

import (
	"github.com/denorm-go/denorm/internal/declare"
)

// Table declares one Cassandra table of an entity: a row of the entity is stored in it under the key it names. The
// first Table given to [New] is the base table. A Table is an [Option] of [New].
type Table struct {
	// Name of the table, an unquoted CQL identifier. Required.
	Name string
	// Keyspace is the logical name of the table's keyspace, which session.Keyspaces may map to another one. Empty stands
	// for the keyspace of the session.
	Keyspace string
	// PartKey names the partition key columns, in order. Required.
	PartKey []string
	// SortKey names the clustering columns, in order, each optionally followed by ASC (the default) or DESC. Like every
	// key column it changes only as the set says ([OneOf], [SingleWriter], [Versioned]). Do not sort by what people
	// correct, such as a title.
	SortKey []string
	// Columns names the columns that the table holds alongside its key. Nil stands for all columns of the entity, or for
	// its counters. The base table holds all of them. In a row read from such a table the fields of the other columns are
	// zero. Do not give such a row to Update, as before or after: the write would make these columns null or zero in
	// every table. Read the base row, or use writer.Modify.
	Columns []string
	// Rotate, if given, is a time bucket function, and the table is split into many, one per bucket. The name of each is
	// Name followed by the text of the bucket, as in events_2024_01 for Month. The column of the function must be in the
	// key of the table. Package rotation creates the tables ahead of time and drops old ones; schema.Ensure creates the
	// present one. The function must not change while the table keeps its name: rows would be looked for in other tables,
	// and dropped at another time.
	Rotate Bucket
	// Unique makes the table a register of keys that only one entity can have, such as e-mail addresses: its primary key.
	// It also holds the base key of the owner, and a column named claim (timeuuid), which is not a field. Only a
	// [Versioned] set can have such tables, in the keyspace of the base table. A key has one owner per keyspace, so
	// tenants with keyspaces of their own have one owner each. Two sets must not share the table: schema.Validate and
	// Ensure reject that. Keys are compared by their bytes: write "A@x.org" and "a@x.org" in one spelling.
	//
	// A row of the table is a claim. It is there before the base row has the key, and may stay without it if the client
	// died. So to look up an owner read its base row too, and trust that. Rows from before the table was declared have no
	// claims. Their keys are free to be taken until Repair of package reconcile has claimed them.
	Unique bool
	// Hidden makes package reader reject queries of the table, while writers write it like any other. Set it on a table
	// that is new to an entity with rows, until these rows are in the table; see the package documentation. It may be set
	// in some processes and not in others, so that it can be removed in a rolling deployment.
	Hidden bool
}

func (t Table) apply(d *declare.Declaration) {
	d.Tables = append(d.Tables, declare.Table{
		Name: t.Name, Keyspace: t.Keyspace, PartKey: t.PartKey, SortKey: t.SortKey, Columns: t.Columns,
		Rotate: t.Rotate.bucket, Unique: t.Unique,
		Hidden: t.Hidden,
	})
}
