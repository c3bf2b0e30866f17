package writer

import (
	"fmt"
	"slices"

	"github.com/denorm-go/denorm/internal/compare"
	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fingerprint"
)

// declaration is what a set says of a table.
type declaration struct {
	entity.Description
	table entity.TableDescription
}

func (c *checker) physical(t entity.TableDescription) cql.Name {
	return cql.Name{Keyspace: c.w.physical(t.Keyspace), Name: t.Name}
}

// alike compares what a set declares of its tables with what the sets before it do.
func (c *checker) alike(d entity.Description) {
	for n, t := range d.Tables {
		id := c.physical(t)
		first, ok := c.declared[id]
		here := declaration{d, t}
		if !ok {
			c.declared[id] = here
			continue
		}
		if n == 0 && c.physical(first.Tables[0]) == id {
			c.alikeTables(first, here)
			c.alikeTables(here, first)
		}
		c.alikeColumns(id, first, here)
		c.alikeColumns(id, here, first)
		now := c.w.clock.now() // and both ways: within one process nothing is rolled out
		found := slices.Concat(fingerprint.Check(t.Fingerprint, first.table.Fingerprint, now), fingerprint.Check(first.table.Fingerprint, t.Fingerprint, now))
		if !slices.ContainsFunc(found, func(f fingerprint.Finding) bool { return !f.Note }) {
			continue
		}
		c.add(id, compare.Difference{Reason: fmt.Sprintf("entities %s and %s both declare it, "+
			"and contradict each other: %s and %s; give each entity a table of its own", first.Entity, d.Entity, first.table.Fingerprint, t.Fingerprint)})
	}
}

// alikeTables adds the query tables of a base table that one set declares and another does not. The fingerprint of the base table says
// which tables of unique keys there are.
func (c *checker) alikeTables(has, lacks declaration) {
	for _, t := range has.Tables[1:] {
		id := c.physical(t)
		if t.Unique || slices.ContainsFunc(lacks.Tables, func(o entity.TableDescription) bool { return c.physical(o) == id }) {
			continue
		}
		c.add(id, compare.Difference{Reason: fmt.Sprintf("entity %s declares it as a query "+
			"table of %s, and entity %s, which declares that base table too, does not: rows that %[3]s inserts are missing in it, and rows that it "+
			"changes or deletes stay in it; declare it in both, or write with one of the sets (a set that is only read need not be checked)",
			has.Entity, has.table.Name, lacks.Entity)})
	}
}

// alikeColumns adds the columns of a table that one set declares and another does not: the other leaves them out of the
// rows that it writes. That is an error if the other then cannot keep the tables in step, and otherwise a note.
func (c *checker) alikeColumns(id cql.Name, has, lacks declaration) {
	loses := lacks.Conditional || fingerprint.Expires(lacks.table.Fingerprint) ||
		slices.ContainsFunc(lacks.table.Columns, func(col entity.ColumnDescription) bool { return col.Kind != "regular" && col.Changes })
	for _, col := range has.table.Columns {
		if slices.ContainsFunc(lacks.table.Columns, func(other entity.ColumnDescription) bool { return other.Name == col.Name }) ||
			fingerprint.Kept(col.Name, col.Type) != "" {
			continue
		}
		d := compare.Difference{Column: col.Name, Note: !loses}
		d.Reason = fmt.Sprintf("entity %s declares it in this table, and entity %s, which declares the table too, does not: rows that %[2]s writes "+
			"lack it", has.Entity, lacks.Entity)
		if loses {
			d.Reason += ", and a row that it moves, deletes or lets expire loses it or leaves it behind; declare it in both, or give each entity a table " +
				"of its own (a set that is only read need not be checked)"
		}
		c.add(id, d)
	}
}
