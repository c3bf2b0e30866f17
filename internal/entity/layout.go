package entity

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
)

// Layout is one declared table as a reader sees it: keys, types, and which partitions can hold what. It is immutable and
// safe for concurrent use. The zero value is no layout; see [Set.Layout].
type Layout struct {
	set   *Set
	table *table
}

// Layout gives that of the table declared under name, alone or as in keyspace.table, and false if there is none, or no set, or if several
// keyspaces have a table of that name.
func (s *Set) Layout(name string) (Layout, bool) {
	if s == nil {
		return Layout{}, false
	}
	var found []*table
	for _, t := range slices.Concat(s.tables, s.unique) {
		if t.name == name || statement.Qualified(t.keyspace, t.name) == name {
			found = append(found, t)
		}
	}
	if len(found) != 1 { // by an arbitrary one of several, a reader would read another table than was meant
		return Layout{}, false
	}
	return Layout{s, found[0]}, true
}

// Unique says whether the table is one of unique keys.
func (l Layout) Unique() bool { return slices.Contains(l.set.unique, l.table) }

// FollowsKey says whether the base key of an entity, and the domains of OneOf columns, give all keys under which the table may have rows of it.
func (l Layout) FollowsKey() bool {
	var open func(i int) bool
	open = func(i int) bool {
		c := &l.set.columns[i]
		if c.derived != nil {
			return slices.ContainsFunc(c.derived.sources, open)
		}
		return c.domain == nil && !slices.Contains(l.Base().table.key, i)
	}
	return !slices.ContainsFunc(l.table.key, open)
}

// Entity is the name of the set.
func (l Layout) Entity() string { return l.set.entity }

// Name and Keyspace are as declared.
func (l Layout) Name() string { return l.table.name }

// Hidden says whether package reader must not read the table.
func (l Layout) Hidden() bool { return l.table.hidden }

// Transactional says whether the table is one of transactions.
func (l Layout) Transactional() bool { return l.set.transacted }

// Keyspace is the logical keyspace, empty for the session's.
func (l Layout) Keyspace() string { return l.table.keyspace }

// Partition are the columns of the partition key, in order.
func (l Layout) Partition() []string { return slices.Clone(l.table.keyNames[:l.table.part]) }

// Clustering are the clustering columns, in order.
func (l Layout) Clustering() []string { return slices.Clone(l.table.keyNames[l.table.part:]) }

// Desc says whether clustering column i is declared DESC.
func (l Layout) Desc(i int) bool { return l.table.desc[l.table.part+i] }

// Columns are the columns to select: the clustering columns, then the other ones that are fields, and what else [Layout.Tells] needs.
func (l Layout) Columns() []string {
	out := l.Clustering()
	for _, name := range slices.Concat(l.table.fieldNames, l.Tells()) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Tells are, for the base table of a [Versioned] set, the columns of which at least one is not null in the row of an entity that
// exists: all but key and version. A row in which they all are null is what is left of a deleted entity. It is nil for the other tables:
// what is in them is a row.
func (l Layout) Tells() []string {
	if l.set.version < 0 || l.table != l.set.tables[0] {
		return nil
	}
	return l.set.names(l.set.regular())
}

// Field is the index of the column's field in the row type, as for [reflect.Value.FieldByIndex]; nil if it is none.
func (l Layout) Field(column string) []int {
	if c := l.column(column); c != nil {
		return c.index
	}
	return nil
}

// Derived says whether the column is derived.
func (l Layout) Derived(column string) bool {
	c := l.column(column)
	return c != nil && c.derived != nil
}

// derivations are the bucket functions that decide which partitions a row is in.
func (l Layout) derivations() (out []*derivation) {
	for _, i := range l.table.key[:l.table.part] {
		if d := l.set.columns[i].derived; d != nil {
			out = append(out, d)
		}
	}
	if l.table.rotation != nil {
		out = append(out, l.table.rotation)
	}
	return out
}

// Compare orders two encoded values of clustering column i as the server does, ascending.
func (l Layout) Compare(i int, a, b []byte) int {
	return l.clustering(i).cql.Compare(a, b)
}

// Raw makes a value of clustering column i of what is encoded already, and Fits says whether the server can have data there.
func (l Layout) Raw(i int, data []byte) *cqltype.Value {
	return &cqltype.Value{Type: l.clustering(i).cql, Data: data}
}

// Fits is the check that goes before [Layout.Raw]. data may be anything. It is not the check of writes: a row that was read may have been
// written by somebody else, or when a type had fewer fields.
func (l Layout) Fits(i int, data []byte) bool {
	return len(data) <= statement.MaxKeyBytes && l.clustering(i).cql.Storable(data)
}

// PartitionKey encodes the columns of the partition key, in order.
func (l Layout) PartitionKey(values []*cqltype.Value) []byte { return statement.PartitionKey(values) }

// PartitionKeyOf is [Layout.PartitionKey] of values that are encoded already. It may share memory with them.
func (l Layout) PartitionKeyOf(encoded [][]byte) []byte {
	values := make([]*cqltype.Value, len(encoded))
	for i, data := range encoded {
		values[i] = &cqltype.Value{Data: data}
	}
	return statement.PartitionKey(values)
}

func (l Layout) clustering(i int) *column { return &l.set.columns[l.table.key[l.table.part+i]] }

func (l Layout) column(name string) *column {
	if n := slices.Index(l.table.columnNames, name); n >= 0 {
		return &l.set.columns[l.table.columns[n]]
	}
	return nil
}

// Encode encodes a value of a key column. The value is of the field's Go type, or of one like it. The error holds no
// value.
func (l Layout) Encode(column string, value any) (*cqltype.Value, error) {
	c := l.column(column)
	if c == nil {
		return nil, l.set.invalid(l.table, column, "is no column of the table")
	}
	want := deref(c.goType)
	v := reflect.ValueOf(value)
	if v.IsValid() && v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().Elem() == want {
		v = v.Elem()
	}
	if !v.IsValid() || !like(v, want) {
		wanted := want.String()
		if c.cql.Kind() == gocql.TypeTimeUUID {
			wanted += ", or for the end of a range a time.Time"
		}
		return nil, l.set.invalid(l.table, column, fmt.Sprintf("a value of Go type %T, it must be %s", value, wanted))
	}
	data, err := encodeAs(c, v)
	if err != nil {
		return nil, l.set.invalid(l.table, column, err.Error())
	}
	if data == nil {
		return nil, l.set.invalid(l.table, column, "the value is absent, as the zero time is")
	}
	if reason := keyFault(c, data); reason != "" {
		return nil, l.set.invalid(l.table, column, reason)
	}
	return &cqltype.Value{Type: c.cql, Data: data}, nil
}

// encodeAs encodes v as a value of column c, to whose Go type it can be converted.
func encodeAs(c *column, v reflect.Value) ([]byte, error) {
	field := reflect.New(deref(c.goType))
	field.Elem().Set(v.Convert(field.Type().Elem()))
	if c.goType.Kind() != reflect.Pointer {
		field = field.Elem()
	}
	return encodeField(c, field)
}

// like says whether v can stand for a value of type want: it is of its kind, or a whole number that fits.
func like(v reflect.Value, want reflect.Type) bool {
	if v.Type() == want || v.Kind() == want.Kind() && v.CanConvert(want) {
		return true
	}
	return v.CanInt() && want.Kind() >= reflect.Int && want.Kind() <= reflect.Int64 && !reflect.New(want).Elem().OverflowInt(v.Int())
}

// Moment is the first or the last timeuuid of the moment t, which has a resolution of 100 ns, and false if the column is
// not a timeuuid. Timeuuids end in the years 1582 and 5236: all after it count as the last moment, and all before it as the first.
func (l Layout) Moment(column string, t time.Time, last bool) (*cqltype.Value, bool) {
	c := l.column(column)
	if c == nil || c.cql.Kind() != gocql.TypeTimeUUID {
		return nil, false
	}
	n := max(-farSeconds, min(t.Unix(), farSeconds))*1e7 + int64(t.Nanosecond()/100) + unixTicks
	n = max(0, min(n, 1<<60-1))
	rest := byte(firstByte) // the server compares the bytes after the time as signed ones
	if last {
		rest = lastByte
	}
	id := gocql.TimeUUIDWith(n, uint32(rest), bytes.Repeat([]byte{rest}, 6))
	id[8] = rest // whatever the variant
	return &cqltype.Value{Type: c.cql, Data: id.Bytes()}, true
}

const (
	farSeconds = 1 << 38 // from 1970: beyond what a timeuuid holds, and few enough to be counted in ticks
	firstByte  = 0x80
	lastByte   = 0x7f
)

// Ceil is the first time that is not before t and that the column can hold exactly: timestamps have milliseconds, timeuuids
// 100 ns, dates days. What t is encoded as is the last one not after it.
func (l Layout) Ceil(column string, t time.Time) time.Time {
	c := l.column(column)
	if c == nil {
		return t
	}
	switch c.cql.Kind() {
	case gocql.TypeTimestamp:
		return t.Add(time.Millisecond - 1)
	case gocql.TypeTimeUUID:
		return t.Add(100*time.Nanosecond - 1)
	case gocql.TypeDate:
		return t.Add(day - 1)
	}
	return t
}
