package entity

import (
	"encoding/binary"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
)

// This file is about the column recent of a base row of a Versioned set.

// Recent are versions that an entity has had. Each change writes its version into two slots, whose numbers are in bits
// of the version that are random otherwise. One slot follows the slot of the version before, and is overwritten by the
// 16th change after it. The other one is of the writer's number, and is overwritten by the next change with that
// number. A delete keeps the last two versions. An insert keeps its own.
type Recent map[int8]gocql.UUID

const (
	inTurn = 16 // slots from 0 on
	own    = 64 // slots of writers, from 16 on
	// In these slots an insert writes its version once more, and the version of the deleted row which it replaces.
	firstSlot  = -1
	beforeSlot = -2
)

var recentType = cqltype.Must(layout.Recent.Type)

func slot(version gocql.UUID) int8 { return int8(version[15] % inTurn) }

func slotAfter(version gocql.UUID) int8 { return (slot(version) + 1) % inTurn }

func ownSlot(version gocql.UUID) int8 { return inTurn + int8(version[14]%own) }

// Linked is the version with the slot after the slot of before, which is zero if no version came before.
func Linked(version, before gocql.UUID) gocql.UUID {
	version[15] = version[15]/inTurn*inTurn + byte(slotAfter(before))
	return version
}

// Owned is the version with the slot of the writer of that number.
func Owned(version gocql.UUID, writer uint8) gocql.UUID {
	version[14] = version[14]/own*own + writer%own
	return version
}

// Has says whether the entity has had the version.
func (r Recent) Has(version gocql.UUID) bool {
	return r[slot(version)] == version || r[ownSlot(version)] == version || r[firstSlot] == version
}

// Slot is an entry of recent.
type Slot struct {
	Number  int8
	Version gocql.UUID
}

// Follow is what a change writes into recent, and whether that replaces all of it. live says whether the row before it
// is there, and gone whether the row is not there afterwards.
func Follow(before, version gocql.UUID, live, gone bool) (written []Slot, whole bool) {
	last := Slot{slot(version), version}
	switch {
	case live && !gone:
		return []Slot{last, {ownSlot(version), version}}, false
	case live:
		return []Slot{{slot(before), before}, last}, true
	case gone:
		return nil, false
	}
	written = []Slot{last, {ownSlot(version), version}, {firstSlot, version}}
	if before != (gocql.UUID{}) {
		written = append(written, Slot{beforeSlot, before})
	}
	return written, true
}

// Missed says that a change from before, which is a version that the entity has had, to version was not applied:
// another one has followed before, and the slots would show this one. now is the version of the row.
func (r Recent) Missed(before, version, now gocql.UUID) bool {
	later := func(v gocql.UUID) bool { return v.Time().After(before.Time()) }
	next, first := r[slotAfter(before)], r[firstSlot]
	switch {
	case r.Has(version):
		return false
	case r[slot(before)] == before && later(next):
		return true
	}
	// The row is past before, was not deleted since, and no writer with the number of this one has changed it.
	return later(now) && first != (gocql.UUID{}) && !later(first) && !later(r[ownSlot(version)])
}

// First is the version that the entity was inserted with, and that of the deleted row which it replaced, zero if there
// was none. Both are zero if this is not known.
func (r Recent) First() (first, before gocql.UUID) { return r[firstSlot], r[beforeSlot] }

// slotsValue is the column with these entries.
func slotsValue(slots []Slot) *cqltype.Value {
	const size = 4 + 1 + 4 + len(gocql.UUID{})
	data := binary.BigEndian.AppendUint32(make([]byte, 0, 4+size*len(slots)), uint32(len(slots)))
	for _, s := range slots {
		data = cqltype.AppendValue(append(binary.BigEndian.AppendUint32(data, 1), byte(s.Number)), s.Version[:])
	}
	return &cqltype.Value{Type: recentType, Data: data}
}
