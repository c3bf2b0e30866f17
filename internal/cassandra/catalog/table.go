package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cassandra/option"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// Table is a table. It never changes: ALTER makes another with the same ID.
type Table struct {
	Keyspace, Name string
	ID             gocql.UUID
	Columns        []*Column // as SELECT * gives them: partition key, clustering, static and regular ones by name
	Partition      []*Column
	Clustering     []*Column
	Static         bool // some columns are static
	Counter        bool // the columns alongside the key are counters
	DefaultTTL     int  // seconds, 0 for none
	GCGrace        int  // seconds
	Repaired       bool // by reads (read_repair)
	System         bool // of the system: read-only

	named   map[string]*Column
	options option.Options
	dropped []droppedColumn
	view    *view // nil unless it is one
}

// droppedColumn is a column that was, which a new one has to get along with.
type droppedColumn struct {
	name string
	typ  *cqltype.Type
	kind Kind
}

// Column is a column of a [Table].
type Column struct {
	Name       string
	Type       *cqltype.Type
	Kind       Kind
	Position   int  // in the partition key or among the clustering columns, -1 elsewhere
	Descending bool // of a clustering column
	Index      int  // in Table.Columns
}

// Kind is the part that a column has in a table.
type Kind uint8

// The kinds of columns.
const (
	Regular Kind = iota
	PartitionKey
	Clustering
	Static
)

// String is the kind as system_schema.columns spells it.
func (k Kind) String() string {
	return [...]string{"regular", "partition_key", "clustering", "static"}[k]
}

// clone is a copy to change, which [Table.arrange] finishes.
func (t *Table) clone() *Table {
	c := *t
	c.Columns = make([]*Column, len(t.Columns))
	for i, column := range t.Columns {
		columnCopy := *column
		c.Columns[i] = &columnCopy
	}
	c.options, c.dropped = maps.Clone(t.options), slices.Clone(t.dropped)
	return &c
}

// arrange brings the columns in order and derives what follows from them and from the options.
func (t *Table) arrange() *Table {
	rank := [...]int{PartitionKey: 0, Clustering: 1, Static: 2, Regular: 3}
	slices.SortFunc(t.Columns, func(a, b *Column) int {
		return cmp.Or(rank[a.Kind]-rank[b.Kind], a.Position-b.Position, strings.Compare(a.Name, b.Name))
	})
	t.Partition, t.Clustering, t.named = nil, nil, make(map[string]*Column, len(t.Columns))
	t.Static, t.Counter = false, false
	for i, c := range t.Columns {
		c.Index = i
		t.named[c.Name] = c
		switch c.Kind {
		case PartitionKey:
			t.Partition = append(t.Partition, c)
		case Clustering:
			t.Clustering = append(t.Clustering, c)
		case Static:
			t.Static = true
		case Regular:
		}
		t.Counter = t.Counter || c.Type.Kind() == gocql.TypeCounter
	}
	t.DefaultTTL, t.GCGrace = t.options.Number(option.TTL), t.options.Number(option.GCGrace)
	t.Repaired = t.options[option.ReadRepair] != "NONE"
	return t
}

// sorted are tables by name.
func sorted(tables map[string]*Table) []*Table {
	return slices.SortedFunc(maps.Values(tables), func(a, b *Table) int { return strings.Compare(a.Name, b.Name) })
}

// Column is the column called name, nil if there is none.
func (t *Table) Column(name string) *Column { return t.named[name] }

// Compare orders rows of a partition by the values of their clustering columns. Of a prefix of the columns, only what
// both have counts.
func (t *Table) Compare(a, b [][]byte) int {
	for i := range min(len(a), len(b)) {
		c := t.Clustering[i]
		if order := c.Type.Compare(a[i], b[i]); order != 0 {
			if c.Descending {
				return -order
			}
			return order
		}
	}
	return 0
}
