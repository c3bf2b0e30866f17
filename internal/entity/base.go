package entity

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/undecoded"
	"github.com/gocql/gocql"
)

// TimeUUID is the type of versions, marks and tokens.
var TimeUUID = cqltype.Must("timeuuid")

// Base is the base row of one entity, for requests of their own.
type Base struct {
	Set            *layout.Set
	keyspace, name string
	physical       func(string) string
	key            []*cqltype.Value
	row            []cqltype.Value // with what identifies the entity, by column
	// of a change, what its before-image says of the columns that keys in query tables follow from, by column
	before []cqltype.Value
	stored bool  // it comes out of storage, and Set has the base table alone
	whole  *Base // then, if it is known: the row in the set that declares all tables
}

// NewBase is the base row of the entity of row, of which the columns are used that identify it. keyspace maps logical
// keyspaces to physical ones.
func NewBase(s *layout.Set, keyspace func(string) string, row []cqltype.Value) *Base {
	t := s.Tables[0]
	b := &Base{Set: s, keyspace: keyspace(t.Keyspace), name: t.Name, physical: keyspace, key: t.KeyOf(row)}
	b.row = make([]cqltype.Value, len(s.Columns))
	keep := func(columns []int) {
		for _, i := range columns {
			b.row[i] = row[i]
		}
	}
	keep(t.Key)
	for _, i := range t.Key {
		if d := s.Columns[i].Derived; d != nil {
			keep(d.Sources)
		}
	}
	if t.Rotation != nil {
		keep(t.Rotation.Sources)
	}
	return b
}

// BaseOf is the base row of the entity of key, of which the fields are used that identify it. keyspace maps the logical
// keyspace of a table to the physical one; nil leaves them as declared. The error is an [*layout.InvalidError].
func BaseOf(s *layout.Set, key any, keyspace func(string) string) (*Base, error) {
	encoded, err := s.Identity(key)
	if err != nil {
		return nil, err
	}
	return NewBase(s, OrDeclared(keyspace), encoded), nil
}

// within makes known what set, which has the same base key, declares of all tables. row may have more of the row than
// the key.
func (b *Base) within(set *layout.Set, physical func(string) string, row []cqltype.Value) {
	for n, i := range set.Tables[0].Key {
		row[i] = cqltype.Value{Type: set.Columns[i].CQL, Data: b.key[n].Data}
	}
	b.whole = NewBase(set, physical, row)
}

// Whole is the row for [Base.QueryTableMutations]: one that comes out of storage does not know the query tables.
func (b *Base) Whole() *Base {
	if b.whole != nil {
		return b.whole
	}
	return b
}

// Key is the encoded base key: equal for one entity of one set.
func (b *Base) Key() string { return statement.EncodedKey(b.key) }

// Complete says whether no column of the key is null, as may be where other code names the row.
func (b *Base) Complete() bool { return statement.Present(b.key) }

// Place is where the row is.
func (b *Base) Place() (keyspace, table string, partition []byte) {
	return b.keyspace, b.name, statement.PartitionKey(b.key[:b.Set.Tables[0].Part])
}

// Unplaced is the name of a table of the set that has no physical keyspace, or "".
func (b *Base) Unplaced() string {
	for _, t := range b.Set.Tables { // a Unique table is where the base table is
		if b.physical(t.Keyspace) == "" {
			return t.Name
		}
	}
	return ""
}

// VersionColumn is the column of [Versioned].
func (b *Base) VersionColumn() string { return b.Set.Columns[b.Set.Version].Name }

// Row is a base row as it was read.
type Row struct {
	Version gocql.UUID // zero if it is null, or the set has Compare
	Present bool       // some column alongside key and version is not null
	Pending *Pending   // nil if it is null
	Done    gocql.UUID // the last version that the query tables are known to have
	Recent  Recent

	Values []cqltype.Value
	added  bool // it is to become one by an insert
}

// Current is the version of the row. A deleted row's version can expire before its removes are known to be in the query
// tables. Then it is the version in pending, which lives longer. It is zero if the row has neither.
func (r Row) Current() gocql.UUID {
	if r.Version == (gocql.UUID{}) && r.Pending != nil {
		return r.Pending.Version
	}
	return r.Version
}

// becomes are the columns that a change sets, the version excepted. A delete removes also what is only read.
func (b *Base) becomes(deleted bool) []int {
	if deleted {
		return b.Set.Alongside()
	}
	return b.Set.Regular()
}

func (b *Base) where() statement.Terms { return statement.KeyTerms(b.Set.Tables[0].KeyNames, b.key) }

func (b *Base) table() string { return statement.Qualified(b.keyspace, b.name) }

// Select reads the row. dest is what to scan it into; row gives what was scanned.
func (b *Base) Select() (s statement.Bound, dest []any, row func() (Row, error)) {
	columns := b.Set.Alongside()
	names := b.Set.Names(columns)
	raw := make([]rawValue, len(columns))
	for n := range raw {
		dest = append(dest, &raw[n])
	}
	var out Row
	var pending rawValue
	if b.Set.Version >= 0 {
		names, dest = append(names, b.VersionColumn()), append(dest, &out.Version)
		if !b.Set.Transactional {
			for _, c := range layout.KeptInBase {
				names = append(names, c.Name)
			}
			dest = append(dest, &pending, &out.Done, &out.Recent)
		}
	}
	s = statement.Bound{Text: "SELECT " + strings.Join(names, ", ") + " FROM " + b.table()}.Where(b.where())
	return s, dest, func() (row Row, err error) {
		row = b.readRow(columns, raw)
		row.Version, row.Done, row.Recent = out.Version, out.Done, out.Recent
		row.Pending, err = decodePending(pending.Data)
		return row, err
	}
}

// readRow is a row with these values of columns alongside the key. There may be more values after them.
func (b *Base) readRow(columns []int, raw []rawValue) Row {
	row := Row{Values: slices.Clone(b.row)}
	for n, i := range columns {
		row.Values[i] = cqltype.Value{Type: b.Set.Columns[i].CQL, Data: raw[n].Data}
		row.Present = row.Present || raw[n].Data != nil && !b.Set.Columns[i].ReadOnly
	}
	return row
}

// rawValue scans a column's bytes.
type rawValue struct{ Data []byte }

// UnmarshalCQL implements [gocql.Unmarshaler].
func (r *rawValue) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	r.Data = bytes.Clone(data)
	return nil
}

var errStored = errors.New("another client has left the entity unfinished: resume with a writer that has the option " +
	"Resumes, with its set")

// Decode gives the row as a value of the set's row type.
func (b *Base) Decode(row Row) (any, error) {
	if b.stored {
		return nil, errStored
	}
	out := reflect.New(b.Set.Go).Elem()
	for i := range b.Set.Columns {
		c := &b.Set.Columns[i]
		data := row.Values[i].Data
		if c.Index == nil || data == nil || i == b.Set.Version {
			continue
		}
		field := out.FieldByIndex(c.Index).Addr().Interface()
		if size := c.CQL.Size(); size > 0 && len(data) != size && len(data) > 0 {
			// a live column of another type: the driver would decode a part
			return nil, undecoded.As(c.Name, c.CQL.Info(), field)
		}
		if c.CQL.Exceeds(data) {
			return nil, fmt.Errorf("column %s: a value has a field that is not declared, and a write would lose it: declare "+
				"the field", c.Name)
		}
		if err := undecoded.Decode(c.Name, c.CQL.Info(), data, field); err != nil {
			return nil, err
		}
	}
	if b.Set.Version >= 0 {
		out.FieldByIndex(b.Set.Columns[b.Set.Version].Index).Set(reflect.ValueOf(row.Version))
	}
	return out.Interface(), nil
}

// Keys are what the keys of a row in the query tables follow from, encoded, see [Base.QueryTableMutations].
type Keys []byte

// Format says how long they are: printed in full they would show values.
func (k Keys) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "keys of %d bytes", len(k)) }

// MarshalText is the text of Format, for structured loggers.
func (k Keys) MarshalText() ([]byte, error) { return fmt.Append(nil, k), nil }

// keysVersion is the version of the format of keys.
const keysVersion = 1

// noteImage notes in before what the before-image of a change, nil for none, says of the columns that keys in query
// tables follow from. It returns them encoded, by name: another process may know other tables.
func (b *Base) noteImage(image []cqltype.Value) Keys {
	if image == nil {
		return nil
	}
	s, out := b.Set, Keys{keysVersion}
	b.before = make([]cqltype.Value, len(s.Columns))
	for i := range s.Columns {
		if !inKeys(s, i) {
			continue
		}
		b.before[i] = image[i]
		if image[i].Data != nil {
			name := statement.AppendKeyColumn(out, []byte(s.Columns[i].Name)) // it has less than 64 KiB, as a key has
			out = statement.AppendKeyColumn(name, image[i].Data)
		}
	}
	return out
}

// inKeys says whether column i is among the keys in pending.
func inKeys(s *layout.Set, i int) bool {
	return s.Columns[i].Key && s.Columns[i].Derived == nil && !slices.Contains(s.Tables[0].Key, i)
}

var errKeys = errors.New("the keys in column pending are of a later version, or damaged")

// decodeKeys is the reverse of noteImage. It gives nil if the entity was new. data may be anything: what it says is of
// this entity, or is rejected.
func (b *Base) decodeKeys(data []byte) ([]cqltype.Value, error) {
	if len(data) == 0 {
		return nil, nil
	}
	s, row := b.Set, slices.Clone(b.row)
	if err := cutKeys(data, func(name string, value []byte) error {
		for i := range s.Columns {
			if c := &s.Columns[i]; c.Name == name && inKeys(s, i) {
				row[i] = cqltype.Value{Type: c.CQL, Data: value}
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	return row, DeriveRead(s, row)
}

// cutKeys calls visit for every column of keys. No bytes have none.
func cutKeys(data []byte, visit func(name string, value []byte) error) error {
	if len(data) == 0 {
		return nil
	}
	if data[0] != keysVersion {
		return errKeys
	}
	cut := func() (part []byte, ok bool) {
		if len(data) < 2 || len(data)-2 < int(binary.BigEndian.Uint16(data)) {
			return nil, false
		}
		n := int(binary.BigEndian.Uint16(data))
		part, data = data[2:2+n], data[2+n:]
		return part, true
	}
	for data = data[1:]; len(data) > 0; {
		name, ok := cut()
		value, ok2 := cut()
		if !ok || !ok2 {
			return errKeys
		}
		if err := visit(string(name), value); err != nil {
			return err
		}
	}
	return nil
}

// DeriveRead is derive for a row that was read, and that something else than this library may have written: Cassandra
// takes an empty value for one of a fixed size. The base key is that under which it was read, whatever the row says.
func DeriveRead(s *layout.Set, row []cqltype.Value) error {
	for i := range s.Columns {
		c, data := &s.Columns[i], row[i].Data
		if size := c.CQL.Size(); c.Key && data != nil && size > 0 && len(data) != size {
			return s.Invalid(s.Tables[0], c.Name,
				fmt.Sprintf("the row, or its column %s, holds a value of %d bytes, and a %s has %d: "+
					"something else than this library wrote it, so correct the row", layout.Pending.Name, len(data), c.CQL, size))
		}
	}
	return s.Derive(row, func(i int) bool { return !s.InBaseKey(i) })
}

// imaged are the columns of before.
func (b *Base) imaged() []int {
	var out []int
	for i := range b.before {
		if b.before[i].Type != nil {
			out = append(out, i)
		}
	}
	return out
}

// Unimaged is the row without what the before-image of its change says.
func (b *Base) Unimaged() *Base {
	next := *b
	next.before = nil
	return &next
}

// Empty is a row without a value alongside its key.
func (b *Base) Empty() *Row { return &Row{Values: make([]cqltype.Value, len(b.Set.Columns))} }

// Differing is the first column in which row is not what the before-image of the change says, or "" if it says the
// same, be it in other bytes: what something else than this library has written may be null where Go has a zero value.
func (b *Base) Differing(row Row) string {
	var image []cqltype.Value
	if decoded, err := b.Decode(row); err == nil {
		image, _ = imageOf(b.Set, reflect.ValueOf(decoded))
	}
	for _, i := range b.imaged() {
		was, is := b.before[i].Data, row.Values[i].Data
		switch {
		case b.before[i].Type.Same(was, is):
		case image != nil && cqltype.Identical(image[i].Data, was):
		case b.stored && is == nil && cqltype.IsZero(was) && b.before[i].Type.Kind() != gocql.TypeBlob:
			// without a Go type to ask
		default:
			return b.Set.Columns[i].Name
		}
	}
	return ""
}

// Format prints the table for every verb: printed in full it would show the key.
func (b Base) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, b.String()) }

// String says in which table the row is.
func (b Base) String() string { return "base row in " + b.table() }

// MarshalText is [Base.String], for structured loggers.
func (b Base) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// Format prints whether the row is there, and nothing of it.
func (r Row) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.String()) }

// String says whether the row is there, and nothing of it.
func (r Row) String() string {
	return fmt.Sprintf("row (present: %t, pending: %t)", r.Present, r.Pending != nil)
}

// MarshalText is [Row.String]: a structured logger would show what is pending.
func (r Row) MarshalText() ([]byte, error) { return []byte(r.String()), nil }
