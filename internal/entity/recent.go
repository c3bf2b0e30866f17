package entity

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
)

// This file is about the columns pending and recent of a base row of a Versioned set.

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

var errPending = errors.New("column pending was not written by a version of this library: correct the row")

func (p Pending) encode() []byte {
	return append(append([]byte{pendingFormat}, p.Version[:]...), p.Keys...)
}

// decodePending is the reverse of encode; nil of a null.
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

// PendingOf reads the column pending of the answer to a transaction.
func PendingOf(row map[string]any) (*Pending, error) {
	data, _ := row[layout.Pending.Name].([]byte)
	return decodePending(data)
}

// Recent are the last versions of an entity, by slot. A change writes its version into the slot after that of the version before it, so a slot
// is overwritten only after all others. An insert begins anew.
type Recent map[int8]gocql.UUID

const (
	slots = 16
	// In these slots an insert writes its version once more, and that of the deleted row which it replaces.
	firstSlot  = slots
	beforeSlot = slots + 1
)

var recentType = cqltype.Must(layout.Recent.Type)

// slot is kept in bits of the version that are random otherwise.
func slot(version gocql.UUID) int8 { return int8(version[len(version)-1] % slots) }

func slotAfter(version gocql.UUID) int8 { return (slot(version) + 1) % slots }

// Linked is the version with the slot of one that follows before, which is zero if there is none.
func Linked(version, before gocql.UUID) gocql.UUID {
	last := &version[len(version)-1]
	*last = *last/slots*slots + byte(slotAfter(before))
	return version
}

// Has says whether the entity has had the version.
func (r Recent) Has(version gocql.UUID) bool {
	for _, v := range r {
		if v == version {
			return true
		}
	}
	return false
}

// Follow is what a change writes into recent, and whether that replaces all of it. live says whether the row before it is there, and gone
// whether the row is not there afterwards.
func Follow(before, version gocql.UUID, live, gone bool) (r Recent, whole bool) {
	switch {
	case live && !gone:
		return Recent{slot(version): version}, false
	case live:
		return Recent{slot(before): before, slot(version): version}, true
	case gone:
		return nil, false
	}
	r = Recent{slot(version): version, firstSlot: version}
	if before != (gocql.UUID{}) {
		r[beforeSlot] = before
	}
	return r, true
}

// Next is the version that followed another one. It is zero if that is not known.
func (r Recent) Next(before gocql.UUID) (none gocql.UUID) {
	next := r[slotAfter(before)]
	if r[slot(before)] != before || !next.Time().After(before.Time()) {
		return none
	}
	return next
}

// First is the version that the entity was inserted with, and that of the deleted row which it replaced, zero if there was none. Both are zero if
// this is not known.
func (r Recent) First() (first, before gocql.UUID) { return r[firstSlot], r[beforeSlot] }

// value is the column.
func (r Recent) value() *cqltype.Value {
	data := binary.BigEndian.AppendUint32(nil, uint32(len(r)))
	for slot := range int8(beforeSlot + 1) {
		if v, ok := r[slot]; ok {
			data = cqltype.AppendValue(cqltype.AppendValue(data, []byte{byte(slot)}), v[:])
		}
	}
	return &cqltype.Value{Type: recentType, Data: data}
}

func tinyint(n int8) *cqltype.Value {
	return &cqltype.Value{Type: recentType.Elems()[0], Data: []byte{byte(n)}}
}
