// Package describe is what a set declares as data, for code that compares it with a live schema, with what other
// processes declare, or draws it.
package describe

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/fingerprint"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/gocql/gocql"
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
	ID            []string // columns that tell entities apart, nil for all of the base key
	Tables        []Table  // the base table first, Unique tables last
}

// Table is one table of a [Description].
type Table struct {
	Name, Keyspace string // as declared
	// Rotation says how the table rotates, nil if it does not. If it does, Name is what the names of the tables begin
	// with.
	Rotation *layout.Rotation
	Columns  []Column
	// Types are the user-defined types of its columns, each after those that it uses itself.
	Types []Type
	// Unique is Table.Unique. The columns that the library keeps are among Columns.
	Unique bool
	// Fingerprint is what all processes that write the table have to declare alike, as text at the end of its comment: how
	// key columns may change and within which domains, bucket functions, conditions, and unique keys. Package schema
	// writes it.
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
	ReadOnly bool // ReadOnly: the column is never written
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
	d := Description{
		Entity: s.Name, Atomic: s.Atomic, Counts: s.Counts, Conditional: s.Conditional(),
		Transactional: s.Transactional,
	}
	if len(s.ID) < len(s.Tables[0].Key) {
		d.ID = s.Names(s.ID)
	}
	for at, t := range s.All() {
		td := Table{
			Name: t.Name, Keyspace: t.Keyspace, Unique: at >= len(s.Tables), Fingerprint: fingerprintOf(s, t),
		}
		if rotation, ok := t.Rotates(); ok {
			td.Rotation = &rotation
		}
		for n, i := range t.Read {
			col := &s.Columns[i]
			c := Column{
				Name: col.Name, Type: col.CQL.String(), Kind: "regular", Changes: col.Changes, ReadOnly: col.ReadOnly,
				Domain: len(col.Domain),
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
		d.Types = append(d.Types, Type{u.Name, each.Of(u.Fields, func(f cqltype.Field) Field {
			return Field{f.Name, f.Type.String()}
		})})
	}
}

func keptColumn(kept layout.Kept) Column {
	return Column{Name: kept.Name, Type: kept.Type, Kind: "regular"}
}

// fingerprint is what processes that write t have to declare alike.
func fingerprintOf(s *layout.Set, t *layout.Table) string {
	var clauses []fingerprint.Clause
	var seen []int
	names := func(kind fingerprint.Kind, there bool, names ...string) {
		if there {
			clauses = append(clauses, fingerprint.Clause{Kind: kind, Words: names})
		}
	}
	rule := func(i int) {
		c := &s.Columns[i]
		if c.Rule == layout.Immutable || s.Version >= 0 || slices.Contains(seen, i) {
			// all columns of a Versioned set may change
			return
		}
		seen = append(seen, i)
		r := fingerprint.Clause{Kind: fingerprint.SingleWriter, Words: []string{c.Name}}
		for _, v := range c.Domain {
			r.Kind, r.Words = fingerprint.OneOf, append(r.Words, domainText(v))
		}
		clauses = append(clauses, r)
	}
	for _, i := range t.Key {
		rule(i)
		d := s.Columns[i].Derived
		if d == nil {
			continue
		}
		for _, source := range d.Sources {
			rule(source)
		}
		names(fingerprint.Bucket, true, append([]string{s.Columns[i].Name}, functions(s, d)...)...)
	}
	column := func(kind fingerprint.Kind, i int) {
		if i >= 0 {
			names(kind, true, s.Columns[i].Name)
		}
	}
	if t.Rotation != nil {
		names(fingerprint.Rotate, true, compact(t.Rotation.Versions[0].Bucket))
	}
	column(fingerprint.Versioned, s.Version)
	names(fingerprint.Compare, len(s.Compared) > 0, slices.Sorted(slices.Values(s.Names(s.Compared)))...)
	column(fingerprint.Mark, s.Mark)
	names(fingerprint.LocalSerial, s.LocalSerial)
	names(fingerprint.Transactional, s.Transactional)
	names(fingerprint.ID, len(s.ID) < len(s.Tables[0].Key), slices.Sorted(slices.Values(s.Names(s.ID)))...)
	column(fingerprint.Stamp, s.Stamp)
	column(fingerprint.ExpiresAt, s.Expiry)
	names(fingerprint.SweepInserts, s.SweepInserts)
	if t == s.Tables[0] { // who writes a base row has to claim its keys
		unique := each.Of(s.Unique, func(u *layout.Table) string { return u.Name })
		slices.Sort(unique)
		names(fingerprint.Unique, unique != nil, unique...)
	}
	names(fingerprint.Owners, slices.Contains(s.Unique, t), s.Tables[0].Name)
	return fingerprint.Of(clauses)
}

func functions(s *layout.Set, d *layout.Derivation) (words []string) {
	for n, v := range d.Versions {
		switch {
		case n > 0 && d.Clock >= 0:
			words = append(words, fingerprint.From(time.UnixMilli(v.From).UTC().Format(time.RFC3339Nano),
				s.Columns[d.Clock].Name)...)
		case n > 0:
			words = append(words, fingerprint.Or)
		}
		words = append(words, compact(v.Bucket))
	}
	return words
}

// compact is the function without spaces.
func compact(b layout.Bucket) string { return strings.ReplaceAll(b.String(), " ", "") }

// domainText is a value of a domain as written in a fingerprint.
func domainText(v *cqltype.Value) string {
	switch v.Type.Kind() {
	case gocql.TypeVarchar, gocql.TypeText, gocql.TypeAscii:
		return fingerprint.Text(string(v.Data))
	case gocql.TypeBoolean:
		return strconv.FormatBool(v.Data[0] != 0)
	case gocql.TypeTinyInt, gocql.TypeSmallInt, gocql.TypeInt, gocql.TypeBigInt:
		return strconv.FormatInt(cqltype.Number(v.Data), 10)
	}
	return fingerprint.Other(v.Data)
}
