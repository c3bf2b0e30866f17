// Package describe is what a set declares as data, for code that compares it with a live schema, with what other processes declare, or draws it.
package describe

import (
	"slices"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/layout"
)

// Description is what a set declares, for code that compares it with a live schema or draws it.
type Description struct {
	Entity string
	Atomic bool
	// Counts says that all columns alongside the keys are counters.
	Counts bool
	// Conditional says that the base table is written by lightweight transactions: the set is Versioned or has Compare.
	Conditional bool
	// Transactional says that all tables are written in transactions of Cassandra 6.
	Transactional bool
	Tables        []Table // the base table first, Unique tables last
}

// Table is one table of a [Description].
type Table struct {
	Name, Keyspace string // as declared
	// Rotation says how the table rotates, nil if it does not. If it does, Name is what the names of the tables begin with.
	Rotation *layout.Rotation
	Columns  []Column
	// Types are the user-defined types of its columns, each after those that it uses itself.
	Types []Type
	// Unique is Table.Unique. The columns that the library keeps are among Columns.
	Unique bool
	// Fingerprint is what all processes that write the table have to declare alike, as text at the end of its comment: how key
	// columns may change and within which domains, bucket functions, conditions, and unique keys. Package schema writes it.
	Fingerprint string
}

// Column is one column of a [Table].
type Column struct {
	Name string
	Type string // CQL, as system_schema.columns spells it
	// Kind is "partition_key", "clustering" or "regular", and Position counts from 0 within the first two.
	Kind     string
	Position int
	Desc     bool // clustering order
	Changes  bool // OneOf or SingleWriter: the column may change, and with it the key of a row
	Domain   int  // how many values a OneOf column has, 0 if that is not declared
	// Derived is the bucket function in use, as text, and empty for a column of its own. Buckets is how many values it has
	// if that is known, 0 for buckets of time.
	Derived string
	Buckets int
}

// Type is a user-defined type of a [Table].
type Type struct {
	Name   string
	Fields []Field // in order
}

// Field is one field of a [Type].
type Field struct {
	Name string
	Type string // CQL; what is not atomic is frozen, as it is in effect whether CREATE TYPE says so or not
}

// Of gives the declaration as data. That of a nil set is the zero Description, without an Entity.
func Of(s *layout.Set) Description {
	if s == nil {
		return Description{}
	}
	d := Description{Entity: s.Name, Atomic: s.Atomic, Counts: s.Counts, Conditional: s.Conditional(), Transactional: s.Transactional}
	for at, t := range s.All() {
		td := Table{
			Name: t.Name, Keyspace: t.Keyspace, Unique: at >= len(s.Tables), Fingerprint: fingerprintOf(s, t),
		}
		if rotation, ok := t.Rotates(); ok {
			td.Rotation = &rotation
		}
		for n, i := range t.Columns {
			col := &s.Columns[i]
			c := Column{
				Name: col.Name, Type: col.CQL.String(), Kind: "regular", Changes: s.Changes(i), Domain: len(col.Domain),
			}
			if col.Derived != nil {
				c.Derived, c.Buckets = col.Derived.Latest().String(), col.Derived.Latest().N
			}
			switch {
			case n < t.Part:
				c.Kind, c.Position = "partition_key", n
			case n < len(t.Key):
				c.Kind, c.Position, c.Desc = "clustering", n-t.Part, t.Desc[n]
			}
			td.Columns = append(td.Columns, c)
			td.describeTypes(col.CQL)
		}
		switch {
		case s.Transactional: // a transaction keeps nothing of its own
		case td.Unique:
			td.Columns = append(td.Columns, keptColumn(layout.Token))
		case at == 0 && s.Version >= 0:
			for _, kept := range layout.KeptInBase {
				td.Columns = append(td.Columns, keptColumn(kept))
			}
		}
		d.Tables = append(d.Tables, td)
	}
	return d
}

// describeTypes adds the user-defined types that t is made of.
func (d *Table) describeTypes(t *cqltype.Type) {
	for _, u := range t.Users() {
		if slices.ContainsFunc(d.Types, func(known Type) bool { return known.Name == u.Name }) {
			continue
		}
		d.Types = append(d.Types, Type{u.Name, each.Of(u.Fields, func(f cqltype.Field) Field { return Field{f.Name, f.Type.String()} })})
	}
}

func keptColumn(kept layout.Kept) Column {
	return Column{Name: kept.Name, Type: kept.Type, Kind: "regular"}
}
