package entity

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/undecoded"
	"github.com/gocql/gocql"
)

// FenceTTL is how long the base row of a deleted entity of a [Versioned] set keeps its version. For that time a writer
// that still has the deleted row in hand, or a transaction that was delayed on its way, cannot bring it back. An insert
// must not be much older: below a fence that is gone it would be in the base table, and under tombstones in the others.
const FenceTTL = 24 * time.Hour

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
	stored bool // it comes out of storage, and the query tables are not known
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

// Key is the encoded base key: equal for one entity of one set.
func (b *Base) Key() string { return statement.EncodedKey(b.key) }

// Complete says whether no column of the key is null, as may be where other code names the row.
func (b *Base) Complete() bool { return statement.Present(b.key) }

// Local says whether conditions hold within a datacentre alone.
func (b *Base) Local() bool { return b.Set.LocalSerial }

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

// regular are the columns alongside the key that are written, the version excepted.
func (b *Base) regular() []int { return b.Set.Regular() }

// becomes are the columns that a change sets, the version excepted. A delete removes also what is only read.
func (b *Base) becomes(deleted bool) []int {
	if deleted {
		return b.Set.Alongside()
	}
	return b.regular()
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

// Swap is a lightweight transaction of a base row: if its version is Before, and nothing is left to be done, it becomes
// After.
type Swap struct {
	Before  gocql.UUID // zero: null
	Live    bool       // the row before it is there, and has the version Before
	Version gocql.UUID
	After   *Row // nil for a fence
	Keys    Keys // of the row before it
	// Finished says that the column done need not be Before.
	Finished bool
}

// Swap renders it. A live row is finished if done is its version, and another row if pending is null. Where this call
// has finished a live row, it does not ask: done can be of a later time than the version, and then stays. An insert
// also wants all declared columns to be null. Another change wants the columns that keys follow from to be as its
// before-image says. Several statements are sent in one batch.
func (b *Base) Swap(swap Swap) []statement.Bound {
	var set, condition statement.Terms
	after, version := swap.After, swap.Version
	condition.Equal(b.VersionColumn(), nil)
	if swap.Before != (gocql.UUID{}) {
		condition.Args[0] = cqltype.TimeUUID(swap.Before)
	}
	switch {
	case !swap.Live:
		condition.Null(layout.Pending.Name)
	case !swap.Finished:
		condition.Equal(layout.Done.Name, cqltype.TimeUUID(swap.Before))
	}
	for _, i := range b.becomes(after == nil) {
		name := b.Set.Columns[i].Name
		switch {
		case after == nil && b.stored:
			// bound, for the driver to see that the column is of the type by which keys were checked
			set.Equal(name, &cqltype.Value{Type: b.Set.Columns[i].CQL})
		case after == nil:
			set.Null(name)
		default:
			set.Equal(name, bound(&after.Values[i], swap.Before != (gocql.UUID{})))
		}
		if after != nil && after.added { // a row of before the declaration has no version either
			condition.Null(name)
		}
	}
	update := statement.Bound{Text: "UPDATE " + b.table()}
	recent, whole := Follow(swap.Before, version, swap.Live, after == nil)
	if after == nil && !swap.Live { // of an entity that does not exist
		return []statement.Bound{b.fence(version, recent).OnlyIf(condition)}
	}
	if swap.Keys != nil { // what the change removes from the query tables follows from them
		for _, i := range b.imaged() {
			condition.Equal(b.Set.Columns[i].Name, &b.before[i])
		}
	}
	set.Equal(layout.Pending.Name, Pending{version, swap.Keys}.value())
	if after == nil {
		return []statement.Bound{update.Set(set).Where(b.where()).OnlyIf(condition), b.fence(version, recent)}
	}
	set.Equal(b.VersionColumn(), cqltype.TimeUUID(version))
	if whole {
		set.Equal(layout.Recent.Name, slotsValue(recent))
	} else {
		set.Texts, set.Args = append(set.Texts, layout.Recent.Name+" = "+layout.Recent.Name+" + ?"),
			append(set.Args, slotsValue(recent))
	}
	return []statement.Bound{update.Set(set).Where(b.where()).OnlyIf(condition)}
}

// fence is the version of a deleted entity, for as long as it lives.
func (b *Base) fence(version gocql.UUID, recent []Slot) statement.Bound {
	var set statement.Terms
	set.Equal(b.VersionColumn(), cqltype.TimeUUID(version))
	if recent != nil {
		set.Equal(layout.Recent.Name, slotsValue(recent))
	}
	ttl := cqltype.Int(int64(FenceTTL / time.Second))
	return statement.Bound{Text: "UPDATE " + b.table() + " USING TTL ?", Args: []any{ttl}}.Set(set).Where(b.where())
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

// bound is what to bind for a value: null only where there may be something to remove.
func bound(v *cqltype.Value, replacing bool) any {
	if v.Data == nil && !replacing {
		return gocql.UnsetValue
	}
	return v
}

// Finish says that the query tables have a version of a live row. A later one is not undone, whatever comes first.
func (b *Base) Finish(version gocql.UUID) statement.Bound {
	var set statement.Terms
	set.Equal(layout.Done.Name, cqltype.TimeUUID(version))
	return b.at(version, "UPDATE "+b.table()+" USING TIMESTAMP ?").Set(set).Where(b.where())
}

// Forget removes what a row that is not live keeps of earlier versions than this one. Drop removes what is pending of
// it, and nothing later.
func (b *Base) Forget(version gocql.UUID) statement.Bound {
	return b.at(version, "DELETE "+layout.Done.Name+" FROM "+b.table()+" USING TIMESTAMP ?").Where(b.where())
}

// Drop is the transaction that removes what is pending, if it is still this.
func (b *Base) Drop(p Pending) statement.Bound {
	var set, condition statement.Terms
	set.Null(layout.Pending.Name)
	condition.Equal(layout.Pending.Name, p.value())
	return statement.Bound{Text: "UPDATE " + b.table()}.Set(set).Where(b.where()).OnlyIf(condition)
}

// at begins a statement at the time of a version.
func (b *Base) at(version gocql.UUID, text string) statement.Bound {
	return statement.Bound{Text: text, Args: []any{cqltype.BigInt(version.Time().UnixMicro())}}
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

// BaseOf is the base row of the entity of key, of which the fields are used that identify it. keyspace maps the logical
// keyspace of a table to the physical one; nil leaves them as declared. The error is an [*layout.InvalidError].
func BaseOf(s *layout.Set, key any, keyspace func(string) string) (*Base, error) {
	encoded, err := s.Identity(key)
	if err != nil {
		return nil, err
	}
	return NewBase(s, OrDeclared(keyspace), encoded), nil
}
