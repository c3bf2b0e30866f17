// Package tablerow is rows of tables as they were read: compared with those of other tables of their set, and rendered
// again where a table lacks them. It is pure: no I/O, no session, no clock.
package tablerow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/literal"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/gocql/gocql"
)

// Row is a row of one table of a set as it was read, for comparing tables of the set and repairing them. It is
// immutable. The zero value is no row; see [Read].
type Row struct {
	layout Layout
	values []cqltype.Value // by column of the set; typ is nil where the table has no such column
}

// Incomparable says why the tables of the set cannot be compared row by row, and is empty if they can.
func Incomparable(s *layout.Set) string {
	switch {
	case s.Transactional:
		return "it is Transactional: each write is one transaction over all of its tables, and repairs, which carry " +
			"timestamps, must not be mixed with those"
	case s.Counts:
		return "it has counters, whose tables cannot be compared by the times of writes"
	case slices.ContainsFunc(s.Tables, func(t *layout.Table) bool { return t.Rotation != nil }):
		return "one of its tables rotates, which package reconcile cannot do yet"
	}
	seen := make(map[string]bool) // findings, repairs and stored runs name tables without their keyspaces
	for _, t := range slices.Concat(s.Tables, s.Unique) {
		if seen[t.Name] {
			return "two of its tables have the name " + t.Name +
				", in different keyspaces, and package reconcile tells tables apart by name"
		}
		seen[t.Name] = true
	}
	return ""
}

// Timed are the columns of the table that have a WRITETIME: those that are not in its key, and have one cell.
func Timed(l Layout) []string {
	var out []string
	for n, i := range l.Table.Columns[len(l.Table.Key):] {
		if !l.Set.Columns[i].CQL.MultiCell() {
			out = append(out, l.Table.ColumnNames[len(l.Table.Key)+n])
		}
	}
	return out
}

// Arguments are the values of a key of the table that [Row.Key] has encoded, as arguments of a statement, and its
// partition key.
func Arguments(l Layout, key string) (values []any, partition []byte) {
	all := decodedKey(l, key)
	return statement.AppendArgs(nil, all), statement.PartitionKey(all[:l.Table.Part])
}

// HasKey says whether the bytes can be a key of the table that [Row.Key] has encoded.
func HasKey(l Layout, key string) bool {
	values := make([][]byte, len(l.Table.Key))
	for k := range values {
		if len(key) < 2 || len(key)-2 < int(binary.BigEndian.Uint16([]byte(key))) {
			return false
		}
		n := 2 + int(binary.BigEndian.Uint16([]byte(key)))
		values[k], key = []byte(key[2:n]), key[n:]
	}
	return key == "" && normalize(l, l.Table.Key, values) == nil
}

// decodedKey are the values of a key of the table that [Row.Key] has encoded.
func decodedKey(l Layout, key string) []*cqltype.Value {
	out := make([]*cqltype.Value, len(l.Table.Key))
	for k, i := range l.Table.Key {
		n := 2 + int(binary.BigEndian.Uint16([]byte(key)))
		out[k] = &cqltype.Value{Type: l.Set.Columns[i].CQL, Data: []byte(key[2:n])}
		key = key[n:]
	}
	return out
}

// KeyText is a key of the table that [Row.Key] has encoded, as CQL text.
func KeyText(l Layout, key string) string {
	texts := slices.Clone(l.Table.KeyNames)
	for k, v := range decodedKey(l, key) {
		texts[k] += " = " + literal.Of(v.Type, v.Data)
	}
	return strings.Join(texts, " AND ")
}

// Texts are the values of the row that are not null, as CQL text, by column.
func (r Row) Texts() map[string]string {
	out := make(map[string]string)
	for i, v := range r.values {
		if v.Data != nil {
			out[r.layout.Set.Columns[i].Name] = literal.Of(v.Type, v.Data)
		}
	}
	return out
}

// Of is a row of Go as one of the base table. Only what identifies the entity must be valid; other columns that are not
// are absent.
func Of(s *layout.Set, row any) (Row, error) {
	values, err := s.Identity(row)
	if err != nil {
		return Row{}, err
	}
	for i := range values {
		if s.Columns[i].Derived != nil || values[i].Type != nil {
			continue
		}
		if v, err := s.Encode(reflect.ValueOf(row), i); err == nil {
			values[i] = v
		}
	}
	return Row{layout: Layout{Set: s, Table: s.Tables[0]}, values: values}, nil
}

// Read is a row of the table: values are the encoded ones of [Layout.AllColumns], nil for null, and belong to the row
// from then on. It is an [*InvalidError] if one of a key column cannot be of its type: something else than this library
// has written the row.
func Read(l Layout, values [][]byte) (Row, error) {
	if err := Normalize(l, values); err != nil {
		return Row{}, err
	}
	r := Row{layout: l, values: make([]cqltype.Value, len(l.Set.Columns))}
	for n, i := range l.Table.Read {
		r.values[i] = cqltype.Value{Type: l.Set.Columns[i].CQL, Data: values[n]}
	}
	return r, nil
}

// Normalize gives columns that are in keys the fields that are declared today, so that equal keys have equal bytes, and
// checks as [Read] does.
func Normalize(l Layout, values [][]byte) error { return normalize(l, l.Table.Read, values) }

// normalize takes the values of the table's first columns: the key comes first.
func normalize(l Layout, columns []int, values [][]byte) error {
	for n, i := range columns {
		c := &l.Set.Columns[i]
		if !c.Key {
			continue
		}
		values[n] = AsDeclared(c.CQL, values[n])
		if n >= len(l.Table.Key) && (values[n] == nil || !slices.Contains(l.Table.Leads, i)) {
			continue
		}
		if reason := c.CQL.Malformed(values[n]); values[n] == nil || reason != "" {
			return l.Set.Invalid(l.Table, c.Name, "a row has a value in its key that is no "+c.CQL.String())
		}
	}
	return nil
}

// Table is the name of the table, as declared.
func (r Row) Table() string { return r.layout.Table.Name }

// Layout is that of the table.
func (r Row) Layout() Layout { return r.layout }

// Key is the encoded primary key of the row in its table, and Entity that of the entity in the base table.
func (r Row) Key() string { return statement.EncodedKey(r.layout.Table.KeyOf(r.values)) }

// Entity is empty where the table does not have all columns of the base key.
func (r Row) Entity() string {
	key, _ := r.KeyIn(r.layout.Base())
	return key
}

// KeyIn is the encoded primary key that the entity of the row has in another table of the set. It is false if it has
// none there, or if the table of the row does not have all the columns that it follows from.
func (r Row) KeyIn(l Layout) (string, bool) {
	key := l.Table.KeyOf(r.all())
	if !statement.Present(key) {
		return "", false
	}
	return statement.EncodedKey(key), true
}

// Places are the encoded primary keys under which a query table may have rows of the entity: that of the row, and where
// a column is OneOf those of its other values.
func (r Row) Places(l Layout) ([]string, error) {
	x, err := r.renderer(entity.Delete, 0, nil)
	if err != nil {
		return nil, err
	}
	x.Removes(x.Place(l.Table), nil)
	var out []string
	for _, m := range x.Out {
		var key []*cqltype.Value
		for _, a := range m.Args {
			if v, ok := a.(*cqltype.Value); ok && v != x.At {
				key = append(key, v)
			}
		}
		out = append(out, statement.EncodedKey(key))
	}
	return out, nil
}

// Whole says whether the table has all columns of the set that are written, so that the other tables' rows follow from
// this one.
func (r Row) Whole() bool {
	for i := range r.layout.Set.Columns {
		if c := &r.layout.Set.Columns[i]; c.Derived == nil && !c.ReadOnly && r.values[i].Type == nil {
			return false
		}
	}
	return true
}

// With adds what another row of the entity has in columns that this one's table lacks. It is for rows that were written
// together.
func (r Row) With(other Row) Row {
	r.values = slices.Clone(r.values)
	for i := range r.values {
		if r.values[i].Type == nil {
			r.values[i] = other.values[i]
		}
	}
	return r
}

// Differs is the name of a column that both tables have and in which the rows differ, empty if there is none. It is one
// of [tables.ReadOnly] only if there is no other. Derived columns are not looked at: they follow from the others, and
// in different tables under different functions.
func (r Row) Differs(other Row) (column string) {
	patchable := r.Patchable()
	for i := range r.values {
		if r.values[i].Type == nil || other.values[i].Type == nil || skipsCompare(r.layout, i, other.layout, patchable) {
			continue
		}
		c := &r.layout.Set.Columns[i]
		switch {
		case cqltype.Identical(r.values[i].Data, other.values[i].Data):
		case c.ReadOnly:
			column = c.Name
		default:
			return c.Name
		}
	}
	return column
}

// Unwritten is the name of a column of [tables.ReadOnly] that a table has and in which the row has a value, empty if
// there is none: a row that is put into the table would lack it.
func (r Row) Unwritten(in Layout) string {
	for _, i := range in.Table.Read {
		if c := &r.layout.Set.Columns[i]; c.ReadOnly && r.values[i].Data != nil {
			return c.Name
		}
	}
	return ""
}

// all are the values with those of derived columns, as far as they are known.
func (r Row) all() []cqltype.Value {
	values := slices.Clone(r.values)
	for _, i := range r.layout.Set.Derived {
		if d := r.layout.Set.Columns[i].Derived; values[i].Type == nil &&
			!slices.ContainsFunc(d.Sources, func(s int) bool { return values[s].Data == nil }) {
			_ = r.layout.Set.Derive(values, func(n int) bool { return n == i }) // in no bucket: it stays absent
		}
	}
	return values
}

// Underived is the name of a column of a base row that has another value than tables.Derive gives, and whether it is in
// the base key: then no write finds the row. It is empty in other rows.
func (r Row) Underived() (column string, key bool) {
	of := func(i int) *cqltype.Value { return &r.values[i] }
	for _, i := range r.layout.Set.Derived {
		if c := &r.layout.Set.Columns[i]; r.values[i].Data != nil && !c.Derived.Gives(r.values[i].Data, of) {
			return c.Name, slices.Contains(r.layout.Set.Tables[0].Key, i)
		}
	}
	return "", false
}

// Stale says whether the row is where an earlier bucket function has put it, of a column with several that have no
// time.
func (r Row) Stale() bool { return r.misplaced((*layout.Derivation).Swept) }

// Misplaced says whether a derived column of the key has another value than follows from the row.
func (r Row) Misplaced() bool { return r.misplaced(func(*layout.Derivation) bool { return true }) }

func (r Row) misplaced(of func(*layout.Derivation) bool) bool {
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

// Deliver renders the write again that has left this row: what an update of the row by itself puts and removes at that
// time, in microseconds. At a later time than the row's own it is a new write of the same row. The row must be
// [Row.Whole]. Without nulls, absent columns are left as they are.
func (r Row) Deliver(at int64, nulls bool, keyspace func(string) string) ([]statement.Mutation, error) {
	if !r.Whole() {
		return nil, r.layout.Set.Invalid(r.layout.Table, "",
			"the table lacks columns of the set, from which other tables' rows follow")
	}
	x, err := r.renderer(entity.Update, at, keyspace)
	if err != nil {
		return nil, err
	}
	if i := x.Set.Stamp; i >= 0 {
		x.Before[i] = *x.At
	}
	x.After = x.Before
	if err := x.Check(); err != nil {
		return nil, err
	}
	out := x.Everywhere()
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
func (r Row) Withdraw(at int64, keyspace func(string) string) ([]statement.Mutation, error) {
	x, err := r.renderer(entity.Delete, at, keyspace)
	if err != nil {
		return nil, err
	}
	if err := x.Check(); err != nil {
		return nil, err
	}
	return x.Everywhere(), nil
}

// Remove renders the delete of this row alone at a time.
func (r Row) Remove(at int64, keyspace func(string) string) (statement.Mutation, error) {
	x, err := r.renderer(entity.Delete, at, keyspace)
	if err != nil {
		return statement.Mutation{}, err
	}
	t := r.layout.Table
	return x.Delete(x.Place(t), t.KeyOf(r.values), at), nil
}

// Patchable says whether the set takes [entity.Patch]: no key of it moves.
func (r Row) Patchable() bool { return r.layout.Patchable() }

// Value is false of a column that the table does not have.
func (r Row) Value(column string) ([]byte, bool) {
	for i := range r.values {
		if r.layout.Set.Columns[i].Name == column {
			return r.values[i].Data, r.values[i].Type != nil
		}
	}
	return nil, false
}

func (r Row) renderer(kind entity.Kind, at int64, keyspace func(string) string) (*entity.Renderer, error) {
	s := r.layout.Set
	x := &entity.Renderer{
		Set: s, Kind: kind, Timestamp: at, Keyspace: entity.OrDeclared(keyspace), Before: r.all(),
		At: cqltype.BigInt(at),
	}
	for i := range x.Before {
		if x.Before[i].Type == nil {
			x.Before[i].Type = s.Columns[i].CQL
		}
	}
	return x, entity.DeriveRead(s, x.Before)
}

// String is the table, without values.
func (r Row) String() string {
	if r.layout.Table == nil {
		return "no row"
	}
	return "a row of " + r.layout.Table.Name
}

// Format prints [Row.String] for every verb.
func (r Row) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.String()) }

// MarshalText is [Row.String].
func (r Row) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// BaseKey is the physical table of the entity's base row, with the primary key of the row, of which the table of this
// row must have the columns. It is false if one of them is null.
func (r Row) BaseKey() (table string, key []*cqltype.Value, ok bool) {
	base, values := r.layout.Set.Tables[0], r.all()
	if key = base.KeyOf(values); !statement.Present(key) {
		return "", nil, false
	}
	if base.Rotation == nil {
		return base.Name, key, true
	}
	at := &values[base.Rotation.Clock]
	if len(at.Data) == 0 { // as Cassandra allows it in a clustering column
		return "", nil, false
	}
	clock := at.Instant()
	if _, err := base.Rotation.Versions[0].Bucket.Text(clock); err != nil {
		return "", nil, false // no table is named so, and no base row can be there
	}
	return base.Rotated(clock), key, true
}

// BaseRow is the base row with a key that [Row.Key] has encoded. l is the base table.
func BaseRow(l Layout, key string, keyspace func(string) string) *entity.Base {
	row := make([]cqltype.Value, len(l.Set.Columns))
	for k, v := range decodedKey(l, key) {
		row[l.Table.Key[k]] = *v
	}
	return entity.NewBase(l.Set, entity.OrDeclared(keyspace), row)
}

// ClaimOf is the claim of the entity with an encoded base key to an encoded key of the table, which is [Layout.Unique].
func ClaimOf(l Layout, owner, key string, keyspace func(string) string) *entity.Claim {
	return entity.NewClaim(l.Table, decodedKey(l, key), BaseRow(l.Base(), owner, keyspace))
}

// OfBase is the row as one of the base table, with keys as of [Normalize].
func OfBase(b *entity.Base, row entity.Row) Row {
	values := slices.Clone(row.Values)
	for i := range values {
		if c := &b.Set.Columns[i]; c.Key {
			values[i].Data = AsDeclared(c.CQL, values[i].Data)
		}
	}
	version := &cqltype.Value{Type: entity.TimeUUID}
	if row.Version != (gocql.UUID{}) {
		version = cqltype.TimeUUID(row.Version)
	}
	values[b.Set.Version] = *version
	return Row{layout: Layout{Set: b.Set, Table: b.Set.Tables[0]}, values: values}
}
