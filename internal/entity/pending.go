package entity

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
)

// This file is about the column pending of a base row of a Versioned set, and the keys in it.

// Pending is what a change has left to be done in the query tables, unless the column done says that it is.
type Pending struct {
	Version gocql.UUID
	Keys    Keys // of the row before the change; none of an insert
}

// Keys are what the keys of a row in the query tables follow from, encoded, see [Base.QueryTableMutations].
type Keys []byte

// Format says how long they are: printed in full they would show values.
func (k Keys) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "keys of %d bytes", len(k)) }

// MarshalText is the text of Format, for structured loggers.
func (k Keys) MarshalText() ([]byte, error) { return fmt.Append(nil, k), nil }

const pendingFormat = 1

var pendingType = cqltype.Must(layout.Pending.Type)

var errPending = errors.New("column pending was not written by a version of this library: correct the row")

func (p Pending) value() *cqltype.Value {
	data := make([]byte, 0, 1+len(p.Version)+len(p.Keys))
	return &cqltype.Value{Type: pendingType, Data: append(append(append(data, pendingFormat), p.Version[:]...), p.Keys...)}
}

// decodePending is the reverse of value; nil of a null.
func decodePending(data []byte) (*Pending, error) {
	const version = 1 + len(gocql.UUID{})
	if data == nil {
		return nil, nil //nolint:nilnil // nothing is pending
	}
	if len(data) < version || data[0] != pendingFormat {
		return nil, errPending
	}
	return &Pending{Version: gocql.UUID(data[1:version]), Keys: data[version:]}, nil
}

// QueryTableMutations renders what row is into the query tables, at the time of version: its rows, and a Remove for
// every one of keys that is not its own.
func (b *Base) QueryTableMutations(row Row, version gocql.UUID, keys Keys) ([]statement.Mutation, error) {
	s := b.Set
	if b.stored {
		return nil, errStored
	}
	before, err := b.decodeKeys(keys)
	if err != nil {
		return nil, err
	}
	at := version.Time().UnixMicro()
	r := Renderer{
		Set: s, Kind: Update, Timestamp: at, version: version, Keyspace: b.physical, Before: before, At: cqltype.BigInt(at),
		replacing: before != nil,
	}
	if row.Present {
		r.After = slices.Clone(row.Values)
		r.After[s.Version] = *cqltype.TimeUUID(version)
		if err := DeriveRead(s, r.After); err != nil {
			return nil, err
		}
	}
	if r.After == nil && r.Before == nil {
		return nil, nil
	}
	for _, t := range s.Tables[1:] {
		if t.Rotation != nil && r.row()[t.Rotation.Clock].Data == nil {
			continue // without the time the row is in none of the tables
		}
		if err := r.checkRotated(t, r.row()); err != nil {
			return nil, err
		}
		if err := checkKey(s, t, r.After); err != nil {
			return nil, err
		}
		r.table(t)
	}
	return r.Out, nil
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

// keysVersion is the version of the format of keys.
const keysVersion = 1

// encodeKeys encodes what the keys of a row in the query tables follow from, by name: another process may know other
// tables.
func encodeKeys(s *layout.Set, row []cqltype.Value) []byte {
	out := []byte{keysVersion}
	for i := range s.Columns {
		c := &s.Columns[i]
		if !inKeys(s, i) || row[i].Data == nil {
			continue
		}
		out = binary.BigEndian.AppendUint16(out, uint16(len(c.Name))) // names and keys have less than 64 KiB
		out = append(out, c.Name...)
		out = statement.AppendKeyColumn(out, row[i].Data)
	}
	return out
}

var errStored = errors.New("another client has left the entity unfinished: write or modify the entity through its " +
	"set, then resume")

var errKeys = errors.New("the keys in column pending are of a later version, or damaged")

// inKeys says whether column i is among the keys in pending.
func inKeys(s *layout.Set, i int) bool {
	return s.Columns[i].Key && s.Columns[i].Derived == nil && !slices.Contains(s.Tables[0].Key, i)
}

// decodeKeys is the reverse of encodeKeys. It gives nil if the entity was new. data may be anything: what it says is of
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
