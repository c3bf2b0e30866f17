package tablerow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/gocql/gocql"
)

// Layout is one declared table as a reader sees it: keys, types, and which partitions can hold what. It is immutable
// and safe for concurrent use. The zero value is no layout; see [LayoutOf].
type Layout struct {
	Set   *layout.Set
	Table *layout.Table
}

// LayoutOf gives the layout of the table declared under name, alone or as in keyspace.table, and false without such a
// table or set, or if several keyspaces have a table of that name.
func LayoutOf(s *layout.Set, name string) (Layout, bool) {
	if s == nil {
		return Layout{}, false
	}
	var found []*layout.Table
	for _, t := range slices.Concat(s.Tables, s.Unique) {
		if t.Name == name || statement.Qualified(t.Keyspace, t.Name) == name {
			found = append(found, t)
		}
	}
	if len(found) != 1 { // by an arbitrary one of several, a reader would read another table than was meant
		return Layout{}, false
	}
	return Layout{s, found[0]}, true
}

// Unique says whether the table is one of unique keys.
func (l Layout) Unique() bool { return slices.Contains(l.Set.Unique, l.Table) }

// FollowsKey says whether the base key of an entity, and the domains of OneOf columns, give all keys under which the
// table may have rows of it.
func (l Layout) FollowsKey() bool {
	var open func(i int) bool
	open = func(i int) bool {
		c := &l.Set.Columns[i]
		if c.Derived != nil {
			return slices.ContainsFunc(c.Derived.Sources, open)
		}
		return c.Domain == nil && !slices.Contains(l.Base().Table.Key, i)
	}
	return !slices.ContainsFunc(l.Table.Key, open)
}

// Name and Keyspace are as declared.
func (l Layout) Name() string { return l.Table.Name }

// Keyspace is the logical keyspace, empty for the session's.
func (l Layout) Keyspace() string { return l.Table.Keyspace }

// Partition are the columns of the partition key, in order.
func (l Layout) Partition() []string { return slices.Clone(l.Table.KeyNames[:l.Table.Part]) }

// Clustering are the clustering columns, in order.
func (l Layout) Clustering() []string { return slices.Clone(l.Table.KeyNames[l.Table.Part:]) }

// Desc says whether clustering column i is declared DESC.
func (l Layout) Desc(i int) bool { return l.Table.Desc[l.Table.Part+i] }

// Columns are the columns to select: the clustering columns, then the other ones that are fields, and what else
// [Layout.Tells] needs.
func (l Layout) Columns() []string {
	out := l.Clustering()
	for _, name := range slices.Concat(l.Table.FieldNames, l.Tells()) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Tells are, for the base table of a [Versioned] set, the columns of which at least one is not null in the row of an
// entity that exists: all but key and version. A row in which they all are null is what is left of a deleted entity. It
// is nil for the other tables: what is in them is a row.
func (l Layout) Tells() []string {
	if l.Set.Version < 0 || l.Table != l.Set.Tables[0] {
		return nil
	}
	return l.Set.Names(l.Set.Regular())
}

// Field is the index of the column's field in the row type, as for [reflect.Value.FieldByIndex]; nil if it is no field.
func (l Layout) Field(column string) []int {
	if c := l.Column(column); c != nil {
		return c.Index
	}
	return nil
}

// Derived says whether the column is derived.
func (l Layout) Derived(column string) bool {
	c := l.Column(column)
	return c != nil && c.Derived != nil
}

// Derivations are the bucket functions that decide which partitions a row is in.
func (l Layout) Derivations() (out []*layout.Derivation) {
	for _, i := range l.Table.Key[:l.Table.Part] {
		if d := l.Set.Columns[i].Derived; d != nil {
			out = append(out, d)
		}
	}
	if l.Table.Rotation != nil {
		out = append(out, l.Table.Rotation)
	}
	return out
}

// Compare orders two encoded values of clustering column i as the server does, ascending.
func (l Layout) Compare(i int, a, b []byte) int {
	return l.clustering(i).CQL.Compare(a, b)
}

// Raw makes a value of clustering column i of what is encoded already, and Fits says whether the server can have data
// there.
func (l Layout) Raw(i int, data []byte) *cqltype.Value {
	return &cqltype.Value{Type: l.clustering(i).CQL, Data: data}
}

// Fits is the check that goes before [Layout.Raw]. data may be anything. It is not the check of writes: a row that was
// read may have been written by somebody else, or when a type had fewer fields.
func (l Layout) Fits(i int, data []byte) bool {
	return len(data) <= statement.MaxKeyBytes && storable(l.clustering(i).CQL, data)
}

// PartitionKeyOf is the encoded partition key of values that are encoded already. It may share memory with them.
func (l Layout) PartitionKeyOf(encoded [][]byte) []byte {
	values := make([]*cqltype.Value, len(encoded))
	for i, data := range encoded {
		values[i] = &cqltype.Value{Data: data}
	}
	return statement.PartitionKey(values)
}

func (l Layout) clustering(i int) *layout.Column { return &l.Set.Columns[l.Table.Key[l.Table.Part+i]] }

// Column is nil if the table has none of the name.
func (l Layout) Column(name string) *layout.Column {
	for _, i := range l.Table.Read {
		if c := &l.Set.Columns[i]; c.Name == name {
			return c
		}
	}
	return nil
}

// Encode encodes a value of a key column. The value is of the field's Go type, or of one like it. The error holds no
// value.
func (l Layout) Encode(column string, value any) (*cqltype.Value, error) {
	c := l.Column(column)
	if c == nil {
		return nil, l.Set.Invalid(l.Table, column, "is no column of the table")
	}
	want := layout.Deref(c.Go)
	v := reflect.ValueOf(value)
	if v.IsValid() && v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().Elem() == want {
		v = v.Elem()
	}
	if !v.IsValid() || !layout.Like(v, want) {
		wanted := want.String()
		if c.CQL.Kind() == gocql.TypeTimeUUID {
			wanted += ", or for the end of a range a time.Time"
		}
		return nil, l.Set.Invalid(l.Table, column, fmt.Sprintf("a value of Go type %T, it must be %s", value, wanted))
	}
	data, err := layout.EncodeAs(c, v)
	if err != nil {
		return nil, l.Set.Invalid(l.Table, column, err.Error())
	}
	if data == nil {
		return nil, l.Set.Invalid(l.Table, column, "the value is absent, as the zero time is")
	}
	if reason := layout.KeyFault(c, data); reason != "" {
		return nil, l.Set.Invalid(l.Table, column, reason)
	}
	return &cqltype.Value{Type: c.CQL, Data: data}, nil
}

// Moment is the first or the last timeuuid of the moment t, which has a resolution of 100 ns, and false if the column
// is not a timeuuid. Timeuuids end in the years 1582 and 5236: all after it count as the last moment, and all before it
// as the first.
func (l Layout) Moment(column string, t time.Time, last bool) (*cqltype.Value, bool) {
	c := l.Column(column)
	if c == nil || c.CQL.Kind() != gocql.TypeTimeUUID {
		return nil, false
	}
	n := max(-farSeconds, min(t.Unix(), farSeconds))*1e7 + int64(t.Nanosecond()/100) + cqltype.UnixTicks
	n = max(0, min(n, 1<<60-1))
	rest := byte(FirstByte) // the server compares the bytes after the time as signed ones
	if last {
		rest = lastByte
	}
	id := gocql.TimeUUIDWith(n, uint32(rest), bytes.Repeat([]byte{rest}, 6))
	id[8] = rest // whatever the variant
	return &cqltype.Value{Type: c.CQL, Data: id.Bytes()}, true
}

const (
	farSeconds = 1 << 38 // from 1970: beyond what a timeuuid holds, and few enough to be counted in ticks
	// FirstByte is the byte of which the last half of the first timeuuid of a moment consists: bytes are signed there.
	FirstByte = 0x80
	lastByte  = 0x7f
)

// Ceil is the first time that is not before t and that the column can hold exactly: timestamps have milliseconds,
// timeuuids 100 ns, dates days. What t is encoded as is the last one not after it.
func (l Layout) Ceil(column string, t time.Time) time.Time {
	c := l.Column(column)
	if c == nil {
		return t
	}
	switch c.CQL.Kind() {
	case gocql.TypeTimestamp:
		return t.Add(time.Millisecond - 1)
	case gocql.TypeTimeUUID:
		return t.Add(100*time.Nanosecond - 1)
	case gocql.TypeDate:
		return t.Add(24*time.Hour - 1)
	}
	return t
}

// AllColumns are all columns of the table, the key first, with derived ones and the version.
func (l Layout) AllColumns() []string { return l.Set.Names(l.Table.Read) }

// Regular are the columns of the table that are written, and neither are in its key nor lead to the base row.
func (l Layout) Regular() []string {
	return slices.DeleteFunc(slices.Clone(l.Table.ColumnNames[len(l.Table.Key):]), func(name string) bool {
		return slices.Contains(l.Set.Names(l.Table.Leads), name)
	})
}

// Layouts are the layouts of the base table and of the query tables, in declared order. Tables of unique keys are not
// among them.
func Layouts(s *layout.Set) []Layout { return layouts(s, s.Tables) }

// UniqueLayouts are the layouts of the tables of unique keys.
func UniqueLayouts(s *layout.Set) []Layout { return layouts(s, s.Unique) }

func layouts(s *layout.Set, tables []*layout.Table) []Layout {
	out := make([]Layout, len(tables))
	for i, t := range tables {
		out[i] = Layout{s, t}
	}
	return out
}

// Patchable says whether the set takes a Patch.
func (l Layout) Patchable() bool { return l.Set.Patchable() == nil }

// Version is the column with the version of the row in the base table of a [Versioned] set, and empty in other tables.
func (l Layout) Version() string {
	if l.Table != l.Set.Tables[0] {
		return ""
	}
	return l.Set.NameOf(l.Set.Version)
}

// Base is the layout of the set's base table.
func (l Layout) Base() Layout { return Layout{l.Set, l.Set.Tables[0]} }

// Unconfirmable says why rows of the table cannot be checked against base rows, and because of which column, if it is
// one; "" if they can.
func (l Layout) Unconfirmable() (column, reason string) {
	switch {
	case l.Table == l.Set.Tables[0]:
		return "", "it is the base table, whose rows are the truth: leave Confirm out"
	case l.Set.Counts:
		return "", "its rows are counters, which may be sums of several base rows: leave Confirm out"
	}
	for _, i := range l.Table.Key {
		if c := &l.Set.Columns[i]; c.Derived != nil && c.Derived.Swept() {
			return c.Name, "a row may be under any of its functions, as they have no time from which on they are valid, and " +
				"the base row does not " +
				"say under which one: give the functions a time, or leave Confirm out"
		}
	}
	return "", ""
}

// AppendID appends what tells entities apart, of an encoded base key.
func (l Layout) AppendID(out, key []byte) []byte {
	for _, i := range l.Table.Key {
		n := 2 + int(binary.BigEndian.Uint16(key))
		if slices.Contains(l.Set.ID, i) {
			out = append(out, key[:n]...)
		}
		key = key[n:]
	}
	return out
}

// Leads says whether rows of the table need columns alongside their key to lead to their base rows.
func (l Layout) Leads() bool { return len(l.Table.Leads) > 0 }

// EntityColumns are the columns of the table that say which entity a row is of: its key, then what leads to base rows.
func (l Layout) EntityColumns() []string {
	return append(slices.Clone(l.Table.KeyNames), l.Set.Names(l.Table.Leads)...)
}

// ListOf is a bound list of values of one column, as IN ? takes it.
func ListOf(values []*cqltype.Value) *cqltype.Value {
	data := binary.BigEndian.AppendUint32(nil, uint32(len(values)))
	for _, v := range values {
		// keys are at most statement.MaxKeyBytes
		data = append(binary.BigEndian.AppendUint32(data, uint32(len(v.Data))), v.Data...)
	}
	return &cqltype.Value{Type: cqltype.ListOf(values[0].Type), Data: data}
}
