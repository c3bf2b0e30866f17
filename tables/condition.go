package tables

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"
)

// This file renders changes of sets whose base row is written by lightweight transactions. What is sent when is the
// writer's business; here are the statements.

// FenceTTL is how long the base row of a deleted entity of a [Versioned] set keeps its version. For that time a writer
// that still has the deleted row in hand, or a transaction that was delayed on its way, cannot bring it back. An insert must
// not be much older: below a fence that is gone it would be in the base table, and under tombstones in the others.
const FenceTTL = 24 * time.Hour

// clearAhead is how far above the time of a version, and of now, the timestamp lies that removes its entry of pending: above
// the ballot, which is the time of a server's clock when the transaction was made. The keys of entries never recur.
const clearAhead = time.Hour

var timeuuid, blob = mustType("timeuuid"), mustType("blob")

// Statement is CQL text with what is to be bound to its marks.
type Statement struct {
	Text string
	Args []any
}

// Condition is a change of a base row that is made by a lightweight transaction. It is immutable.
type Condition struct {
	Entity          string
	Kind            Kind
	Keyspace, Table string // physical
	PartitionKey    []byte
	Versioned       bool // else the set has Compare
	Local           bool // LOCAL_SERIAL

	// Before is the version of the before-image, zero for an insert; Version is that of the row afterwards. Both are of
	// versioned sets.
	Before, Version gocql.UUID
	// Keys are those that the before-image has in the query tables, encoded for [Base.Spread].
	Keys []byte

	base   *Base
	after  []Value // by column; nil for a delete
	before []Value // of a set with Compare: by column
}

// Conditional is a change rendered: first the condition, then the mutations, which are of the query tables alone.
type Conditional struct {
	Rendered
	Condition *Condition
	// Claims are the keys of Unique tables that the change takes, and Releases those that it gives up.
	Claims, Releases []*Claim
}

// Conditional says whether the change is of a [Versioned] or [Compare] set, and so rendered by RenderConditional.
func (c Change) Conditional() bool { return c.set != nil && c.set.conditional() }

func (s *set) conditional() bool { return s.version >= 0 || len(s.compare) > 0 }

// VersionOf is the version of the before-image, zero if there is none.
func (c Change) VersionOf() gocql.UUID {
	if !c.Valid() || c.set.version < 0 || c.Before == nil {
		return gocql.UUID{}
	}
	v, _ := reflect.ValueOf(c.Before).FieldByIndex(c.set.columns[c.set.version].index).Interface().(gocql.UUID)
	return v
}

// RenderConditional is [Change.Render] for a change that is [Change.Conditional]. version is a timeuuid whose time is
// timestamp.
func (c Change) RenderConditional(timestamp int64, version gocql.UUID, keyspace func(string) string) (Conditional, error) {
	if !c.Valid() || !c.Conditional() {
		return Conditional{}, &InvalidError{Entity: c.Entity, Reason: "the change was not made by a verb of a set with conditions"}
	}
	if keyspace == nil {
		keyspace = func(name string) string { return name }
	}
	s := c.set
	switch {
	case c.Kind != Insert && c.Kind != Update && c.Kind != Delete:
		return Conditional{}, s.invalid(nil, "", "in a set with conditions an entity is inserted, or updated or deleted from a before-image: no "+c.Kind.String())
	case s.version >= 0 && c.Before != nil && zero(c.VersionOf().Bytes()):
		return Conditional{}, s.invalid(nil, s.columns[s.version].name, "before-image: it has no version: only a row as it was read, or as "+
			"it was last written, with Result.Version in it, can be updated or deleted")
	case s.version >= 0 && c.Before != nil && c.VersionOf().Version() != 1:
		return Conditional{}, s.invalid(nil, s.columns[s.version].name, "before-image: the version is no version 1 UUID")
	}
	r := renderer{set: s, kind: c.Kind, timestamp: timestamp, version: version, keyspace: keyspace}
	if err := r.encode(c); err != nil {
		return Conditional{}, err
	}
	if err := r.check(); err != nil {
		return Conditional{}, err
	}
	row := r.after
	if row == nil {
		row = r.before
	}
	out := Conditional{Condition: &Condition{
		Entity: s.entity, Kind: c.Kind, Versioned: s.version >= 0, Local: s.localSerial, Before: c.VersionOf(), Version: version,
		base: s.base(keyspace, row), after: r.after,
	}}
	cond := out.Condition
	cond.Keyspace, cond.Table, cond.PartitionKey = cond.base.keyspace, cond.base.name, partitionKey(cond.base.key[:s.tables[0].part])
	if s.version < 0 {
		if err := r.encodeCompared(c); err != nil {
			return Conditional{}, err
		}
		cond.before = r.before
		out.Key = r.entityKey()
		return out, nil
	}
	if r.before != nil {
		cond.Keys = s.encodeKeys(r.before)
	}
	for _, t := range s.tables[1:] {
		r.table(t)
	}
	out.Mutations, out.Key = r.out, r.entityKey()
	for _, t := range s.unique {
		before, after := t.claim(&r, r.before), t.claim(&r, r.after)
		switch {
		case before != nil && after != nil && bytes.Equal(before.PartitionKey, after.PartitionKey):
		default:
			if after != nil {
				out.Claims = append(out.Claims, after)
			}
			if before != nil {
				out.Releases = append(out.Releases, before)
			}
		}
	}
	return out, nil
}

// encodeCompared encodes the compared columns of the before-image, of which otherwise only the keys matter.
func (r *renderer) encodeCompared(c Change) error {
	for _, i := range r.set.compare {
		if c.Before == nil {
			return nil
		}
		v, err := r.set.encode(reflect.ValueOf(c.Before), i)
		if err != nil {
			return err
		}
		r.before[i] = v
	}
	return nil
}

// Base is the base row of one entity, for requests of their own.
type Base struct {
	set            *set
	keyspace, name string
	physical       func(string) string
	key            []*Value
	row            []Value // with what identifies the entity, by column
	stored         bool    // it comes out of storage, and the query tables are not known
}

func (s *set) base(keyspace func(string) string, row []Value) *Base {
	t := s.tables[0]
	b := &Base{set: s, keyspace: keyspace(t.keyspace), name: t.name, physical: keyspace, key: t.keyOf(row)}
	b.row = make([]Value, len(s.columns))
	for i := range row {
		if s.identifies(i) || slices.Contains(t.key, i) {
			b.row[i] = row[i]
		}
	}
	return b
}

// Base is the row that the condition is about.
func (c *Condition) Base() *Base { return c.base }

// Row is a base row as it was read.
type Row struct {
	Version gocql.UUID // zero if it is null, or the set has Compare
	Present bool       // some column beside key and version is not null
	Pending map[gocql.UUID][]byte

	values []Value
}

// regular are the columns beside the key, the version excepted.
func (b *Base) regular() []int {
	var out []int
	for _, i := range b.set.tables[0].columns[len(b.key):] {
		if i != b.set.version {
			out = append(out, i)
		}
	}
	return out
}

func (b *Base) where() (text string, args []any) {
	parts := make([]string, len(b.key))
	for k, name := range b.set.tables[0].keyNames {
		parts[k], args = name+" = ?", append(args, b.key[k])
	}
	return " WHERE " + strings.Join(parts, " AND "), args
}

func (b *Base) table() string { return qualified(b.keyspace, b.name) }

// Select reads the row. dest is what to scan it into; row gives what was scanned.
func (b *Base) Select() (s Statement, dest []any, row func() Row) {
	columns := b.regular()
	names := make([]string, len(columns))
	raw := make([]rawValue, len(columns))
	for n, i := range columns {
		names[n] = b.set.columns[i].name
		dest = append(dest, &raw[n])
	}
	var out Row
	if b.set.version >= 0 {
		names = append(names, b.set.columns[b.set.version].name, PendingColumn)
		dest = append(dest, &out.Version, &out.Pending)
	}
	where, args := b.where()
	s = Statement{"SELECT " + strings.Join(names, ", ") + " FROM " + b.table() + where, args}
	return s, dest, func() Row {
		out.values = slices.Clone(b.row)
		for n, i := range columns {
			out.values[i] = Value{typ: b.set.columns[i].cql, data: raw[n].data}
			out.Present = out.Present || raw[n].data != nil
		}
		return out
	}
}

// rawValue scans a column's bytes.
type rawValue struct{ data []byte }

// UnmarshalCQL implements [gocql.Unmarshaler].
func (r *rawValue) UnmarshalCQL(_ gocql.TypeInfo, data []byte) error {
	if data != nil {
		data = append(make([]byte, 0, len(data)), data...)
	}
	r.data = data
	return nil
}

// Decode gives the row as a value of the set's row type.
func (b *Base) Decode(row Row) (any, error) {
	if b.stored {
		return nil, errStored
	}
	out := reflect.New(b.set.typ).Elem()
	for i := range b.set.columns {
		c := &b.set.columns[i]
		data := row.values[i].data
		if c.index == nil || data == nil || i == b.set.version {
			continue
		}
		if err := gocql.Unmarshal(c.cql.Info(), data, out.FieldByIndex(c.index).Addr().Interface()); err != nil {
			return nil, fmt.Errorf("column %s cannot be decoded: %w", c.name, err)
		}
	}
	if b.set.version >= 0 {
		out.FieldByIndex(b.set.columns[b.set.version].index).Set(reflect.ValueOf(row.Version))
	}
	return out.Interface(), nil
}

// After is the row that the condition makes, in the form of [Base.Touch]. It is nil for a delete.
func (c *Condition) After() *Row {
	if c.after == nil {
		return nil
	}
	return &Row{Version: c.Version, Present: true, values: c.after}
}

// Swap is the lightweight transaction that makes the base row after, if its version is before (zero: null) and nothing is
// pending. Without after it makes a fence. Several statements travel in one batch.
func (b *Base) Swap(before, version gocql.UUID, after *Row, keys []byte) []Statement {
	versionName := b.set.columns[b.set.version].name
	var sets []string
	var args []any
	for _, i := range b.regular() {
		name := b.set.columns[i].name
		switch {
		case after == nil && keys == nil:
		case after == nil:
			sets = append(sets, name+" = null")
		default:
			sets = append(sets, name+" = ?")
			args = append(args, bound(&after.values[i], before != (gocql.UUID{})))
		}
	}
	where, key := b.where()
	where += " IF " + versionName + " = ? AND " + PendingColumn + " = null"
	condition := any(nil)
	if before != (gocql.UUID{}) {
		condition = uuidValue(before)
	}
	ttl := encodeInt(int64(FenceTTL / time.Second))
	if after == nil && keys == nil { // of an entity that does not exist
		return []Statement{{
			"UPDATE " + b.table() + " USING TTL ? SET " + versionName + " = ?" + where,
			append(append([]any{ttl, uuidValue(version)}, key...), condition),
		}}
	}
	if after != nil {
		sets, args = append(sets, versionName+" = ?"), append(args, uuidValue(version))
	}
	sets = append(sets, PendingColumn+"[?] = ?")
	args = append(args, uuidValue(version), &Value{typ: blob, data: append([]byte{}, keys...)})
	out := []Statement{{"UPDATE " + b.table() + " SET " + strings.Join(sets, ", ") + where, append(append(args, key...), condition)}}
	if after == nil {
		where, key := b.where()
		out = append(out, Statement{
			"UPDATE " + b.table() + " USING TTL ? SET " + versionName + " = ?" + where,
			append([]any{ttl, uuidValue(version)}, key...),
		})
	}
	return out
}

// bound is what to bind for a value: null only where there may be something to remove.
func bound(v *Value, replacing bool) any {
	if v.data == nil && !replacing {
		return gocql.UnsetValue
	}
	return v
}

func uuidValue(id gocql.UUID) *Value { return &Value{typ: timeuuid, data: id.Bytes()} }

// Clear removes an entry of pending. now is the time by the writer's clock: a write that is resumed may be old.
func (b *Base) Clear(version gocql.UUID, now time.Time) Statement {
	where, key := b.where()
	at := max(version.Time().UnixMicro(), now.UnixMicro()) + clearAhead.Microseconds()
	return Statement{
		"DELETE " + PendingColumn + "[?] FROM " + b.table() + " USING TIMESTAMP ?" + where,
		append([]any{uuidValue(version), &Value{typ: bigint, data: encodeInt64(at)}}, key...),
	}
}

// Spread renders what row is into the query tables, at the time of version: its rows, and a Remove for every key among
// those of entries of pending that is not its own.
func (b *Base) Spread(row Row, version gocql.UUID, entries [][]byte) ([]Mutation, error) {
	s := b.set
	if b.stored {
		return nil, errStored
	}
	var out []Mutation
	if len(entries) == 0 {
		entries = [][]byte{nil}
	}
	for _, entry := range entries {
		before, err := b.decodeKeys(entry)
		if err != nil {
			return nil, err
		}
		r := renderer{set: s, kind: Update, timestamp: version.Time().UnixMicro(), version: version, keyspace: b.physical, before: before}
		r.at = &Value{typ: bigint, data: encodeInt64(r.timestamp)}
		r.replacing = before != nil
		if row.Present {
			r.after = slices.Clone(row.values)
			r.after[s.version] = *uuidValue(version)
			if err := s.derive(r.after, all); err != nil {
				return nil, err
			}
		}
		if r.after == nil && r.before == nil {
			continue
		}
		for _, t := range s.tables[1:] {
			r.table(t)
		}
		out = append(out, r.out...)
	}
	return out, nil
}

// keysVersion is the version of the format of entries of pending.
const keysVersion = 1

// encodeKeys encodes what the keys of a row in the query tables follow from, by name: another process may know other
// tables.
func (s *set) encodeKeys(row []Value) []byte {
	out := []byte{keysVersion}
	for i := range s.columns {
		c := &s.columns[i]
		if !c.key || c.derived != nil || slices.Contains(s.tables[0].key, i) || row[i].data == nil {
			continue
		}
		out = binary.BigEndian.AppendUint16(out, uint16(len(c.name))) // names and keys have less than 64 KiB
		out = append(out, c.name...)
		out = binary.BigEndian.AppendUint16(out, uint16(len(row[i].data)))
		out = append(out, row[i].data...)
	}
	return out
}

var errStored = errors.New("another client has left this entity unfinished, and a condition that was stored does not know the query tables: " +
	"write or modify the entity through its set, and resume then")

var errKeys = errors.New("an entry of pending is of a later version, or damaged")

// decodeKeys is the reverse of encodeKeys. It gives nil if the entity was new.
func (b *Base) decodeKeys(data []byte) ([]Value, error) {
	if len(data) == 0 {
		return nil, nil
	}
	if data[0] != keysVersion {
		return nil, errKeys
	}
	row := slices.Clone(b.row)
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
			return nil, errKeys
		}
		for i := range b.set.columns {
			if c := &b.set.columns[i]; c.name == string(name) {
				row[i] = Value{typ: c.cql, data: value}
			}
		}
	}
	return row, b.set.derive(row, all)
}

// Compare is the lightweight transaction of a change in a set with Compare.
func (c *Condition) Compare() Statement {
	b := c.base
	t := b.set.tables[0]
	if c.Kind == Insert {
		args := make([]any, len(t.columns))
		for n, i := range t.columns {
			args[n] = bound(&c.after[i], false)
		}
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(t.columns)), ", ")
		return Statement{"INSERT INTO " + b.table() + " (" + strings.Join(t.columnNames, ", ") + ") VALUES (" + marks + ") IF NOT EXISTS", args}
	}
	var args []any
	text := "DELETE FROM " + b.table()
	if c.Kind == Update {
		var sets []string
		for _, i := range b.regular() {
			sets, args = append(sets, b.set.columns[i].name+" = ?"), append(args, &c.after[i])
		}
		text = "UPDATE " + b.table() + " SET " + strings.Join(sets, ", ")
	}
	where, key := b.where()
	args = append(args, key...)
	var conditions []string
	for _, i := range b.set.compare {
		conditions, args = append(conditions, b.set.columns[i].name+" = ?"), append(args, &c.before[i])
	}
	return Statement{text + where + " IF " + strings.Join(conditions, " AND "), args}
}

// Made says whether row is what the change wanted to make.
func (c *Condition) Made(row Row) bool {
	if c.after == nil {
		return false
	}
	for _, i := range c.base.regular() {
		if c.base.set.columns[i].cql.MultiCell() {
			continue // its bytes depend on the order in which Go walks it
		}
		if !bytes.Equal(c.after[i].data, row.values[i].data) || (c.after[i].data == nil) != (row.values[i].data == nil) {
			return false
		}
	}
	return true
}

// Key is the encoded base key: equal for one entity of one set.
func (b *Base) Key() string { return encodedKey(b.key) }

// Local says whether conditions hold within a datacentre alone.
func (b *Base) Local() bool { return b.set.localSerial }

// Place is where the row stands.
func (b *Base) Place() (keyspace, table string, partitionKey []byte) {
	return b.keyspace, b.name, partitionKeyOf(b.key[:b.set.tables[0].part])
}

// VersionColumn is the column of [Versioned].
func (b *Base) VersionColumn() string { return b.set.columns[b.set.version].name }

// Statements are the CQL texts of the condition.
func (c *Condition) Statements() []string {
	if !c.Versioned {
		return []string{c.Compare().Text}
	}
	var out []string
	for _, s := range c.base.Swap(c.Before, c.Version, c.After(), c.Keys) {
		out = append(out, s.Text)
	}
	return out
}
