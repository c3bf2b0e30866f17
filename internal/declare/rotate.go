package declare

import (
	"reflect"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/layout"
	"github.com/gocql/gocql"
)

// maxTableName is Cassandra's limit: table names are names of directories.
const maxTableName = 48

// readRotation reads the Rotate of a table. What it follows from counts as a key column.
func (b *builder) readRotation(t *layout.Table, decl Table) {
	if decl.Rotate.Kind == layout.NoBucket {
		return
	}
	fault := func(reason string) { b.fault(decl.Name, "", "Rotate: %s", reason) }
	if err := decl.Rotate.Check(); err != nil {
		fault(err.Error())
		return
	}
	switch {
	case decl.Rotate.Kind == layout.HashBucket:
		fault("tables rotate by time, not by hash")
		return
	case decl.Rotate.Kind == layout.EveryBucket && decl.Rotate.Width%(24*time.Hour) != 0:
		fault("a period of its own must be whole days, as the table's name says the first one")
		return
	case len(decl.Name)+1+len(decl.Rotate.SuffixLayout()) > maxTableName:
		fault("with the bucket behind it the name is too long: a table's has at most 48 characters")
	}
	i, ok := b.column(decl.Name, decl.Rotate.Sources[0], "Rotate")
	if !ok {
		return
	}
	if b.set.Columns[i].Derived != nil {
		b.fault(decl.Name, b.set.Columns[i].Name, "Rotate: is derived: name the column that it follows from")
		return
	}
	b.set.Columns[i].Key = true
	t.Rotation = &layout.Derivation{Clock: i, Sources: []int{i}, Versions: []layout.Version{{Bucket: decl.Rotate}}}
}

// checkRotation holds the Rotate of a table against the types and rules of columns.
func (b *builder) checkRotation(t *layout.Table) {
	if t.Rotation == nil {
		return
	}
	c := &b.set.Columns[t.Rotation.Clock]
	switch {
	case c.CQL == nil:
	case c.CQL.Kind() != gocql.TypeTimestamp && c.CQL.Kind() != gocql.TypeTimeUUID:
		b.fault(t.Name, c.Name, "tables rotate by a timestamp or timeuuid, and this is %s", c.CQL)
	case c.Rule != layout.Immutable:
		b.fault(t.Name, c.Name, "tables rotate by it, so it cannot change")
	case c.Go.Kind() == reflect.Pointer:
		b.fault(t.Name, c.Name, "tables rotate by it, so it cannot be a pointer, which may be absent")
	case !slices.Contains(t.Key, t.Rotation.Clock):
		b.fault(t.Name, c.Name, "tables rotate by it, and it is not in the key of this one, so no query could say in which "+
			"tables its rows are: add it to PartKey or SortKey")
	}
}
