package entity

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
)

// TableRow is a row of one table of a set as it was read, for comparing tables of the set and repairing them. It is immutable. The zero
// value is no row; see [Layout.Row].
type TableRow struct {
	layout Layout
	values []cqltype.Value // by column of the set; typ is nil where the table has no such column
}

// AllColumns are all columns of the table, those of the key first, derived ones and the version among them.
func (l Layout) AllColumns() []string { return slices.Clone(l.Table.ColumnNames) }

// Layouts are those of the base table and of the query tables, in declared order. Tables of unique keys are not among them.
func (s *Set) Layouts() []Layout { return s.layouts(s.Tables) }

// UniqueLayouts are those of the tables of unique keys.
func (s *Set) UniqueLayouts() []Layout { return s.layouts(s.Unique) }

func (s *Set) layouts(tables []*Table) []Layout {
	out := make([]Layout, len(tables))
	for i, t := range tables {
		out[i] = Layout{s, t}
	}
	return out
}

// Incomparable says why the tables of the set cannot be compared row by row, and is empty if they can.
func (s *Set) Incomparable() string {
	switch {
	case s.Transactional:
		return "it is Transactional: each write is one transaction over all of its tables, and repairs, which carry timestamps, must not be mixed with those"
	case s.Counts:
		return "it has counters, whose tables cannot be compared by the times of writes"
	case len(s.Compared) > 0:
		return "it has Compare, so it has one table, and nothing to compare"
	case slices.ContainsFunc(s.Tables, func(t *Table) bool { return t.Rotation != nil }):
		return "one of its tables rotates, which package reconcile cannot do yet"
	case len(s.Tables)+len(s.Unique) < 2:
		return "it has one table, and nothing to compare"
	}
	seen := make(map[string]bool) // findings, repairs and stored runs name tables without their keyspaces
	for _, t := range slices.Concat(s.Tables, s.Unique) {
		if seen[t.Name] {
			return "two of its tables have the name " + t.Name + ", in different keyspaces, and package reconcile tells tables apart by name"
		}
		seen[t.Name] = true
	}
	return ""
}

// Timed are the columns of the table that have a WRITETIME: those that are not in its key, and have one cell.
func (l Layout) Timed() []string {
	var out []string
	for n, i := range l.Table.Columns[len(l.Table.Key):] {
		if !l.Set.Columns[i].CQL.MultiCell() {
			out = append(out, l.Table.ColumnNames[len(l.Table.Key)+n])
		}
	}
	return out
}

// Arguments are the values of a key of the table that [TableRow.Key] has encoded, as arguments of a statement, and its partition key.
func (l Layout) Arguments(key string) (values []any, partition []byte) {
	all := l.decodedKey(key)
	return statement.AppendArgs(nil, all), statement.PartitionKey(all[:l.Table.Part])
}

// HasKey says whether the bytes can be a key of the table that [TableRow.Key] has encoded.
func (l Layout) HasKey(key string) bool {
	values := make([][]byte, len(l.Table.Key))
	for k := range values {
		if len(key) < 2 || len(key)-2 < int(binary.BigEndian.Uint16([]byte(key))) {
			return false
		}
		n := 2 + int(binary.BigEndian.Uint16([]byte(key)))
		values[k], key = []byte(key[2:n]), key[n:]
	}
	return key == "" && l.normalize(l.Table.Key, values) == nil
}

// decodedKey are the values of a key of the table that [TableRow.Key] has encoded.
func (l Layout) decodedKey(key string) []*cqltype.Value {
	out := make([]*cqltype.Value, len(l.Table.Key))
	for k, i := range l.Table.Key {
		n := 2 + int(binary.BigEndian.Uint16([]byte(key)))
		out[k] = &cqltype.Value{Type: l.Set.Columns[i].CQL, Data: []byte(key[2:n])}
		key = key[n:]
	}
	return out
}

// KeyText is a key of the table that [TableRow.Key] has encoded, as CQL text.
func (l Layout) KeyText(key string) string {
	texts := slices.Clone(l.Table.KeyNames)
	for k, v := range l.decodedKey(key) {
		texts[k] += " = " + v.Type.Literal(v.Data)
	}
	return strings.Join(texts, " AND ")
}

// Texts are the values of the row that are not null, as CQL text, by column.
func (r TableRow) Texts() map[string]string {
	out := make(map[string]string)
	for i, v := range r.values {
		if v.Data != nil {
			out[r.layout.Set.Columns[i].Name] = v.Type.Literal(v.Data)
		}
	}
	return out
}

// TableRow is a row of Go as one of the base table. Only what identifies the entity must be valid; other columns that are not are absent.
func (s *Set) TableRow(row any) (TableRow, error) {
	values, err := s.Identity(row)
	if err != nil {
		return TableRow{}, err
	}
	for i := range values {
		if s.Columns[i].Derived != nil || values[i].Type != nil {
			continue
		}
		if v, err := s.Encode(reflect.ValueOf(row), i); err == nil {
			values[i] = v
		}
	}
	return TableRow{layout: Layout{s, s.Tables[0]}, values: values}, nil
}

// Row is a row of the table: values are the encoded ones of [Layout.AllColumns], nil for null, and belong to the row from then on. It is
// an [*InvalidError] if one of a key column cannot be of its type: something else than this library has written the row.
func (l Layout) Row(values [][]byte) (TableRow, error) {
	if err := l.Normalize(values); err != nil {
		return TableRow{}, err
	}
	r := TableRow{layout: l, values: make([]cqltype.Value, len(l.Set.Columns))}
	for n, i := range l.Table.Columns {
		r.values[i] = cqltype.Value{Type: l.Set.Columns[i].CQL, Data: values[n]}
	}
	return r, nil
}

// Normalize gives columns that are in keys the fields that are declared today, so that equal keys have equal bytes, and checks as
// [Layout.Row] does.
func (l Layout) Normalize(values [][]byte) error { return l.normalize(l.Table.Columns, values) }

// normalize takes the values of the table's first columns: the key comes first.
func (l Layout) normalize(columns []int, values [][]byte) error {
	for n, i := range columns {
		c := &l.Set.Columns[i]
		if !c.Key {
			continue
		}
		values[n] = c.CQL.AsDeclared(values[n])
		if n >= len(l.Table.Key) {
			continue
		}
		if reason := c.CQL.Malformed(values[n]); values[n] == nil || reason != "" {
			return l.Set.Invalid(l.Table, c.Name, "a row has a value in its key that is no "+c.CQL.String())
		}
	}
	return nil
}

// Table is the name of the table, as declared.
func (r TableRow) Table() string { return r.layout.Table.Name }

// Layout is that of the table.
func (r TableRow) Layout() Layout { return r.layout }

// Key is the encoded primary key of the row in its table, and Entity that of the entity in the base table.
func (r TableRow) Key() string { return statement.EncodedKey(r.layout.Table.KeyOf(r.values)) }

// Entity is empty where the table does not have all columns of the base key.
func (r TableRow) Entity() string {
	key, _ := r.KeyIn(r.layout.Base())
	return key
}

// KeyIn is the encoded primary key that the entity of the row has in another table of the set. It is false if it has none there, or if
// the table of the row does not have all the columns that it follows from.
func (r TableRow) KeyIn(l Layout) (string, bool) {
	key := l.Table.KeyOf(r.all())
	if !statement.Present(key) {
		return "", false
	}
	return statement.EncodedKey(key), true
}

// Places are the encoded primary keys under which a query table may have rows of the entity: that of the row, and where a column is OneOf
// those of its other values.
func (r TableRow) Places(l Layout) ([]string, error) {
	x, err := r.renderer(Delete, 0, nil)
	if err != nil {
		return nil, err
	}
	x.removes(x.place(l.Table), nil)
	var out []string
	for _, m := range x.out {
		var key []*cqltype.Value
		for _, a := range m.Args {
			if v, ok := a.(*cqltype.Value); ok && v != x.at {
				key = append(key, v)
			}
		}
		out = append(out, statement.EncodedKey(key))
	}
	return out, nil
}

// Whole says whether the table has all columns of the set, so that the other tables' rows follow from this one.
func (r TableRow) Whole() bool {
	for i := range r.layout.Set.Columns {
		if c := &r.layout.Set.Columns[i]; c.Derived == nil && r.values[i].Type == nil {
			return false
		}
	}
	return true
}

// With adds what another row of the entity has in columns that this one's table lacks. It is for rows that were written together.
func (r TableRow) With(other TableRow) TableRow {
	r.values = slices.Clone(r.values)
	for i := range r.values {
		if r.values[i].Type == nil {
			r.values[i] = other.values[i]
		}
	}
	return r
}

// Differs is the name of a column that both tables have and in which the rows differ, empty if there is none. Derived columns are not
// looked at: they follow from the others, and in different tables under different functions.
func (r TableRow) Differs(other TableRow) string {
	patchable := r.Patchable()
	for i := range r.values {
		if r.values[i].Type == nil || other.values[i].Type == nil || r.layout.skipsCompare(i, other.layout, patchable) {
			continue
		}
		if !cqltype.Identical(r.values[i].Data, other.values[i].Data) {
			return r.layout.Set.Columns[i].Name
		}
	}
	return ""
}

// all are the values with those of derived columns, as far as they are known.
func (r TableRow) all() []cqltype.Value {
	values := slices.Clone(r.values)
	for _, i := range r.layout.Set.Derived {
		if d := r.layout.Set.Columns[i].Derived; values[i].Type == nil &&
			!slices.ContainsFunc(d.Sources, func(s int) bool { return values[s].Data == nil }) {
			_ = r.layout.Set.Derive(values, func(n int) bool { return n == i }) // in no bucket: it stays absent
		}
	}
	return values
}

// Stale says whether the row is where an earlier bucket function has put it, of a column with several that have no time.
func (r TableRow) Stale() bool { return r.misplaced((*Derivation).Swept) }

// Misplaced says whether a derived column of the key has another value than follows from the row.
func (r TableRow) Misplaced() bool { return r.misplaced(func(*Derivation) bool { return true }) }

func (r TableRow) misplaced(of func(*Derivation) bool) bool {
	s := r.layout.Set
	for _, i := range r.layout.Table.Key {
		d := s.Columns[i].Derived
		if d == nil || !of(d) {
			continue
		}
		now, err := d.Value(func(i int) *cqltype.Value { return &r.values[i] })
		if err == nil && !bytes.Equal(now, r.values[i].Data) {
			return true
		}
	}
	return false
}

// Deliver renders the write again that has left this row: what an update of the row by itself puts and removes at that time, in
// microseconds. At a later time than the row's own it is a new write of the same row. The row must be [TableRow.Whole]. Without nulls,
// absent columns are left as they are.
func (r TableRow) Deliver(at int64, nulls bool, keyspace func(string) string) ([]statement.Mutation, error) {
	if !r.Whole() {
		return nil, r.layout.Set.Invalid(r.layout.Table, "", "the table lacks columns of the set, from which other tables' rows follow")
	}
	x, err := r.renderer(Update, at, keyspace)
	if err != nil {
		return nil, err
	}
	if i := x.set.Stamp; i >= 0 {
		x.before[i] = *x.at
	}
	x.after = x.before
	if err := x.check(); err != nil {
		return nil, err
	}
	out := x.everywhere()
	for n := range out {
		if out[n].Kind != statement.Put || nulls {
			continue
		}
		for i, arg := range out[n].Args {
			if v, ok := arg.(*cqltype.Value); ok && v.Data == nil {
				out[n].Args[i] = gocql.UnsetValue
			}
		}
	}
	return out, nil
}

// Withdraw renders a delete of the entity at a time, in all tables for which the row has the columns of the key.
func (r TableRow) Withdraw(at int64, keyspace func(string) string) ([]statement.Mutation, error) {
	x, err := r.renderer(Delete, at, keyspace)
	if err != nil {
		return nil, err
	}
	if err := x.check(); err != nil {
		return nil, err
	}
	return x.everywhere(), nil
}

// Remove renders the delete of this row alone at a time.
func (r TableRow) Remove(at int64, keyspace func(string) string) (statement.Mutation, error) {
	x, err := r.renderer(Delete, at, keyspace)
	if err != nil {
		return statement.Mutation{}, err
	}
	t := r.layout.Table
	return x.delete(x.place(t), t.KeyOf(r.values), at), nil
}

// Patchable says whether the set takes [Patch]: no key of it moves.
func (r TableRow) Patchable() bool { return r.layout.Patchable() }

// Patchable is that of rows of the table.
func (l Layout) Patchable() bool { return l.Set.patchable() == nil }

// Expires says whether the set has [ExpiresAt]: a column of the row says when it ends.
func (r TableRow) Expires() bool { return r.layout.Set.Expiry >= 0 }

// Regular are the columns of the table that are not in its key, and Value what the row has in one of them, nil for null.
func (l Layout) Regular() []string { return slices.Clone(l.Table.ColumnNames[len(l.Table.Key):]) }

// Value is false of a column that the table does not have.
func (r TableRow) Value(column string) ([]byte, bool) {
	for i := range r.values {
		if r.layout.Set.Columns[i].Name == column {
			return r.values[i].Data, r.values[i].Type != nil
		}
	}
	return nil, false
}

func (r TableRow) renderer(kind Kind, at int64, keyspace func(string) string) (*renderer, error) {
	s := r.layout.Set
	x := &renderer{set: s, kind: kind, timestamp: at, keyspace: orDeclared(keyspace), before: r.all(), at: cqltype.BigInt(at)}
	for i := range x.before {
		if x.before[i].Type == nil {
			x.before[i].Type = s.Columns[i].CQL
		}
	}
	return x, s.deriveRead(x.before)
}

// everywhere gives the mutations of all tables.
func (r *renderer) everywhere() []statement.Mutation {
	r.reserve()
	for _, t := range r.set.Tables {
		r.table(t)
	}
	return r.out
}

// String is the table, without values.
func (r TableRow) String() string {
	if r.layout.Table == nil {
		return "no row"
	}
	return "a row of " + r.layout.Table.Name
}

// Format prints [TableRow.String] for every verb.
func (r TableRow) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.String()) }

// MarshalText is [TableRow.String].
func (r TableRow) MarshalText() ([]byte, error) { return []byte(r.String()), nil }
