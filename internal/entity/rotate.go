package entity

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
)

// maxTableName is Cassandra's limit: table names are names of directories.
const maxTableName = 48

// readRotation reads the Rotate of a table. What it follows from counts as a key column.
func (b *builder) readRotation(t *table, decl Table) {
	if decl.Rotate.kind == noBucket {
		return
	}
	fault := func(reason string) { b.fault(decl.Name, "", "Rotate: %s", reason) }
	if err := decl.Rotate.valid(); err != nil {
		fault(err.Error())
		return
	}
	switch {
	case decl.Rotate.kind == hashBucket:
		fault("tables rotate by time, not by hash")
		return
	case decl.Rotate.kind == everyBucket && decl.Rotate.width%day != 0:
		fault("a period of its own must be whole days, as the table's name says the first one")
		return
	case len(decl.Name)+1+len(decl.Rotate.suffixLayout()) > maxTableName:
		fault("with the bucket behind it the name is too long: a table's has at most 48 characters")
	}
	i, ok := b.column(decl.Name, decl.Rotate.sources[0], "Rotate")
	if !ok {
		return
	}
	if b.set.columns[i].derived != nil {
		b.fault(decl.Name, b.set.columns[i].name, "Rotate: is derived: name the column that it follows from")
		return
	}
	b.set.columns[i].key = true
	t.rotation = &derivation{clock: i, sources: []int{i}, versions: []version{{bucket: decl.Rotate}}}
}

// checkRotation holds the Rotate of a table against the types and rules of columns.
func (b *builder) checkRotation(t *table) {
	if t.rotation == nil {
		return
	}
	c := &b.set.columns[t.rotation.clock]
	switch {
	case c.cql == nil:
	case c.cql.Kind() != gocql.TypeTimestamp && c.cql.Kind() != gocql.TypeTimeUUID:
		b.fault(t.name, c.name, "tables rotate by a timestamp or timeuuid, and this is %s", c.cql)
	case c.rule != immutable:
		b.fault(t.name, c.name, "tables rotate by it, so it cannot change")
	case c.goType.Kind() == reflect.Pointer:
		b.fault(t.name, c.name, "tables rotate by it, so it cannot be a pointer, which may be absent")
	case !slices.Contains(t.key, t.rotation.clock):
		b.fault(t.name, c.name, "tables rotate by it, and it is not in the key of this one, so no query could say in which tables its rows are: "+
			"add it to PartKey or SortKey")
	}
}

// checkRotated rejects a row that no table can be named for.
func (r *renderer) checkRotated(t *table, row []cqltype.Value) error {
	if t.rotation == nil || row == nil {
		return nil
	}
	i := t.rotation.clock
	if _, err := t.rotation.versions[0].bucket.text(instantOf(&row[i])); err != nil {
		return r.set.invalid(t, r.set.columns[i].name, err.Error())
	}
	return nil
}

// rotated is the name of the table for rows of time ms.
func (t *table) rotated(ms int64) string {
	return t.name + "_" + t.rotation.versions[0].bucket.suffix(ms)
}

// suffix is what the name of a rotating table ends with.
func (b Bucket) suffix(ms int64) string {
	return time.UnixMilli(b.start(b.number(ms))).UTC().Format(b.suffixLayout())
}

func (b Bucket) suffixLayout() string {
	if b.kind == everyBucket { // whole days
		b = Day("")
	}
	return strings.ReplaceAll(b.layout(), "-", "_")
}

// Rotation says how a table rotates: which tables there are, and which rows they have.
type Rotation struct {
	name   string
	bucket Bucket
}

// Rotation gives that of a declared table, and false if it does not rotate.
func (s *Set) Rotation(keyspace, name string) (Rotation, bool) {
	if s == nil {
		return Rotation{}, false
	}
	i := slices.IndexFunc(s.tables, func(t *table) bool { return t.keyspace == keyspace && t.name == name })
	if i < 0 || s.tables[i].rotation == nil {
		return Rotation{}, false
	}
	return Rotation{name, s.tables[i].rotation.versions[0].bucket}, true
}

// String is the time bucket function, for example month(event_time).
func (r Rotation) String() string { return r.bucket.String() }

// At is the table for rows of time t, with the first time of its rows and the first of the next table's.
func (r Rotation) At(t time.Time) (name string, from, to time.Time) {
	n := r.bucket.number(t.UnixMilli())
	from, to = time.UnixMilli(r.bucket.start(n)).UTC(), time.UnixMilli(r.bucket.start(n+1)).UTC()
	return r.name + "_" + r.bucket.suffix(t.UnixMilli()), from, to
}

// Of is the reverse of At: the time from which on the table of this name has rows, and false if it is not one of the
// rotation's.
func (r Rotation) Of(name string) (from time.Time, ok bool) {
	rest, ok := strings.CutPrefix(name, r.name+"_")
	if !ok {
		return from, false
	}
	from, err := time.Parse(r.bucket.suffixLayout(), rest)
	if err != nil {
		return time.Time{}, false
	}
	if at, _, _ := r.At(from); at != name { // between two periods, or written in another way
		return time.Time{}, false
	}
	return from, true
}
