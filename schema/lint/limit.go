package lint

import "github.com/denorm-go/denorm/schema"

const (
	// mostTables is where Cassandra 4.0 and later warn by default when one more table is created (table_count_warn_threshold), its own 40 or so counted.
	mostTables = 150
	// mostColumns is far above what an entity has, and far below what Cassandra takes.
	mostColumns = 100
)

// manyTables reports the first table that is too many for a cluster.
func manyTables(r *review) {
	tables := r.tables()
	if n := len(tables) + len(r.schema.Views); n > mostTables && len(tables) > 0 {
		r.finding(tables[min(mostTables, len(tables)-1)],
			"one table with the tenant, the kind or the period in its key, in place of a table for each of them",
			"there are %d tables and views: each takes memory of every node, and changes of the schema and starts get slower", n)
	}
}

// manyColumns reports tables with more columns than an entity has.
func manyColumns(r *review, t *schema.Table) {
	if n := len(t.Columns) - len(t.Of(schema.PartitionKey)); n > mostColumns {
		r.finding(t, "rows with a name and a value; or a frozen type, or a map, for what is read together",
			"the table has %d columns, each with cells of its own that a read of the row goes through", len(t.Columns))
	}
}
