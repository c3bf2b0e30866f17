package tables

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/gocql/gocql"
)

// This file is about the entries of pending: what a client that died has left to be done in the query tables.

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

var errStored = errors.New("another client has left the entity unfinished, and an error that was stored does not know its query tables: " +
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
