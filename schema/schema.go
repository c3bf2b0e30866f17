package schema

import (
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/tables"
)

// Schema has tables and what belongs to them: declared in Go, written as CQL, or read from a cluster. The zero value is
// empty. A Schema is data: nothing in it is connected to a cluster, and it must not be changed while it is used.
type Schema struct {
	Keyspaces []Keyspace
	Types     []Type
	Tables    []Table
	Indexes   []Index
	Views     []View

	Entities []Entity // which tables belong together; a live schema does not know
	Queries  []Query  // statements that the service sends, as far as known
	Volumes  []Volume // how many rows are expected, as far as stated
	Ignores  []Ignore // findings that are accepted, each with its reason
	Domains  []Domain // what notes say about columns that are not in Tables; [Add] applies it to the table where there is one
	Unread   []Unread // what texts have and the schema lacks

	accord bool // it is that of servers with transactions over tables
}

// Unread is a statement that [Review] has not understood, or what [Parse] or [Read] has left out.
type Unread struct {
	Text   string // the beginning of the statement, in one line
	Reason string
	At     Position
}

// ID names something within a keyspace. An empty Keyspace means the keyspace of the session.
type ID struct{ Keyspace, Name string }

// String returns the name as written in CQL. It returns * for the zero value, which stands for no table or for all.
// Without a Name it returns the name of the keyspace.
func (id ID) String() string {
	switch {
	case id == (ID{}):
		return "*"
	case id.Name == "":
		return cql.Quote(id.Keyspace)
	}
	return cql.Name(id).String()
}

func (id ID) id() ID { return id }

// find gives the first one of which something is so, or nil.
func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// named gives what has a name, or nil.
func named[T interface{ id() ID }](list []T, id ID) *T {
	return find(list, func(x *T) bool { return (*x).id() == id })
}

// Position is where something was written. The zero value means that it is not from a file: it is from a cluster, or
// from Go code.
type Position struct {
	File string
	Line int // from 1
}

// Keyspace is a keyspace about which the schema has information.
type Keyspace struct {
	Name string // empty is the keyspace of tables declared without one
	// Replication is the option of that name: class, and factors by datacentre. Empty means not known or not declared:
	// such a keyspace is neither created nor compared.
	Replication map[string]string
	// NonDurable is durable_writes = false: writes to the keyspace bypass the commit log.
	NonDurable bool
	At         Position
}

func (k Keyspace) id() ID { return ID{Name: k.Name} }

// Type is a user-defined type.
type Type struct {
	ID
	Fields []Field
	At     Position

	set tables.Described // that declares it, the first of several; nil if none does
}

// Field is a field of a [Type].
type Field struct {
	Name string
	Type string // CQL, as system_schema spells it
}

// Table is a table.
type Table struct {
	ID
	Columns []Column // the partition key in order, the clustering columns in order, the others
	// Options are the options of the table that are not the server's own choice, by name. Values are CQL literals in a
	// normalized spelling: numbers, quoted text, maps in the order of their keys.
	Options map[string]string
	// Fingerprint is what all processes that write the table must declare alike, as text: [denorm:1 ...]. It comes from a
	// set. The text of CREATE TABLE has it after the comment, and [Read] and [Parse] read it from there. It is empty for
	// other tables.
	Fingerprint string
	At          Position

	rotation *layout.Rotation // nil for a table that does not rotate
	set      tables.Described // that declares it, the first of several; nil if none does
	with     bool             // it has its options from With

	mode, migratesFrom string // transactional_mode of a live table, and from which one it is being migrated
}

// Rotates reports whether name is one of the tables, one for each period, that a table declared with
// tables.Table.Rotate stands for. All of them that exist are compared with the declaration. Package rotation creates
// them, and [Ensure] creates the one of the present period.
func (t *Table) Rotates(name string) bool {
	if t.rotation == nil {
		return false
	}
	_, ok := t.rotation.Of(name)
	return ok
}

// Kind says what a column is for. Its values are as in system_schema.columns.
type Kind string

// The kinds of columns.
const (
	PartitionKey Kind = "partition_key"
	Clustering   Kind = "clustering"
	Static       Kind = "static"
	Regular      Kind = "regular"
)

// Column is a column of a [Table].
type Column struct {
	Name string
	Type string // CQL, as system_schema spells it
	Kind Kind
	Desc bool // clustering order
	// Mask is what follows MASKED WITH, such as DEFAULT or mask_inner(1, null), and empty without it. [Read] does not
	// read it, so it is not compared with a live table.
	Mask string
	// Domain is the number of values that the column can have, 0 if that is not known.
	Domain int
	// Derived is the bucket function that computes the column, as text, and empty for an ordinary column. Buckets is how
	// many values the function has, 0 for buckets of time.
	Derived string
	Buckets int
	// ReadOnly says that the set which declares the column reads it, and never writes it.
	ReadOnly bool
}

// Index is a secondary index. An index that a text creates without a name has the name that the server would give it.
type Index struct {
	ID
	Table  string
	Target string // a column, or keys(column), values(column), entries(column), full(column); of a custom index none, or several
	// Class is empty for the index that CREATE INDEX makes by default, otherwise what USING names, for example sai.
	Class   string
	Options map[string]string // of WITH OPTIONS
	At      Position

	unnamed bool // the text gives it no name
}

// View is a materialized view.
type View struct {
	ID
	Base    string
	Columns []Column // if the text does not create the base table: the columns that it names, without types
	// All says that the view is a SELECT *. Cassandra also adds to it the columns that the base table gets later, except
	// static ones.
	All     bool
	Where   string            // restrictions, as CQL
	Options map[string]string // as [Table.Options]
	At      Position
}

// Entity is an entity and the tables that hold it.
type Entity struct {
	Name   string
	Tables []ID // the base table first
	// Atomic says that its writes require a logged batch.
	Atomic bool
	// Timestamped says that its writes have USING TIMESTAMP, as package writer's do.
	Timestamped bool
	// Moves are key columns that may change, so that the row moves.
	Moves []string
	// ID are the columns that tell entities apart; empty for the key of the base table.
	ID []string
	At Position // of the note that declares it

	set tables.Described // that declares it; nil if none does
}

// Domain is the number of values that a column can have.
type Domain struct {
	Table  ID
	Column string
	Values int
	At     Position
}

// Ignore accepts findings of lint.
type Ignore struct {
	Code   string // of the rule
	Table  ID     // an empty name stands for all tables
	Reason string
	At     Position
}

// Table returns the table with a name, or nil.
func (s *Schema) Table(id ID) *Table { return named(s.Tables, id) }

// present is the schema with the tables of the time now in place of those that rotate.
func (s *Schema) present(now time.Time) *Schema {
	out := *s
	out.Tables = slices.Clone(s.Tables)
	for i := range out.Tables {
		if t := &out.Tables[i]; t.rotation != nil {
			t.Name, _, _ = t.rotation.At(now)
			t.rotation = nil
		}
	}
	return &out
}

// Keyspace returns the keyspace with a name, or nil.
func (s *Schema) Keyspace(name string) *Keyspace { return named(s.Keyspaces, ID{Name: name}) }

// Column returns the column with a name, or nil.
func (t *Table) Column(name string) *Column {
	return find(t.Columns, func(c *Column) bool { return c.Name == name })
}

// Of returns the columns of some kinds, in order.
func (t *Table) Of(kinds ...Kind) []Column {
	var out []Column
	for _, c := range t.Columns {
		if slices.Contains(kinds, c.Kind) {
			out = append(out, c)
		}
	}
	return out
}

// Key returns the primary key as written in CQL, for example ((tenant, user_id), order_id).
func (t *Table) Key() string { return keyText(t.Columns) }

func keyText(columns []Column) string {
	var part, rest []string
	for _, c := range columns {
		switch c.Kind {
		case PartitionKey:
			part = append(part, cql.Quote(c.Name))
		case Clustering:
			rest = append(rest, cql.Quote(c.Name))
		case Static, Regular:
		}
	}
	first := strings.Join(part, ", ")
	if len(part) > 1 {
		first = "(" + first + ")"
	}
	return "(" + strings.Join(append([]string{first}, rest...), ", ") + ")"
}

// In returns a copy of the schema with other keyspaces: in["orders"] is the keyspace for everything that is declared in
// keyspace orders. A keyspace not in the map stays as it is. The empty name stands for tables declared without a
// keyspace. A keyspace in which nothing is declared is ignored, so spell names as the declaration does.
func (s *Schema) In(in map[string]string) *Schema {
	to := func(name string) string {
		if other, ok := in[name]; ok {
			return other
		}
		return name
	}
	out := *s
	out.Keyspaces = moved(s.Keyspaces, func(k *Keyspace) *string { return &k.Name }, to)
	out.Types = moved(s.Types, func(t *Type) *string { return &t.Keyspace }, to)
	out.Tables = moved(s.Tables, func(t *Table) *string { return &t.Keyspace }, to)
	out.Indexes = moved(s.Indexes, func(i *Index) *string { return &i.Keyspace }, to)
	out.Views = moved(s.Views, func(v *View) *string { return &v.Keyspace }, to)
	out.Entities = slices.Clone(s.Entities)
	for i := range out.Entities {
		out.Entities[i].Tables = moved(s.Entities[i].Tables, func(id *ID) *string { return &id.Keyspace }, to)
	}
	out.Queries = moved(s.Queries, func(q *Query) *string { return &q.Table.Keyspace }, to)
	out.Volumes = moved(s.Volumes, func(v *Volume) *string { return &v.Table.Keyspace }, to)
	out.Ignores = moved(s.Ignores, func(i *Ignore) *string { return &i.Table.Keyspace }, to)
	out.Domains = moved(s.Domains, func(d *Domain) *string { return &d.Table.Keyspace }, to)
	return &out
}

// moved is a copy of a list with other keyspaces.
func moved[T any](list []T, keyspace func(*T) *string, to func(string) string) []T {
	out := slices.Clone(list)
	for i := range out {
		at := keyspace(&out[i])
		*at = to(*at)
	}
	return out
}

// names gives the keyspaces that the schema has anything in, in order of appearance.
func (s *Schema) names() []string {
	return each.Once(slices.Concat(
		each.Of(s.Keyspaces, func(k Keyspace) string { return k.Name }),
		each.Of(s.Types, func(t Type) string { return t.Keyspace }),
		each.Of(s.Tables, func(t Table) string { return t.Keyspace })))
}
