package entity

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
)

// This file is about the versions of rows: of what they are made, and the column recent of a base row of a Versioned
// set.

// ticks are the intervals of 100 ns, in which a timeuuid counts, of one microsecond.
const ticks = 10

// Version is the timeuuid of a timestamp in microseconds since the Unix epoch. The random bits, of which it has room
// for 62, are what its writer recognises it by: two versions of one microsecond must not be equal.
func Version(timestamp int64, random uint64) gocql.UUID {
	var node [6]byte
	for i := range node {
		node[i] = byte(random >> (8 * i))
	}
	return gocql.TimeUUIDWith(timestamp*ticks+cqltype.UnixTicks, uint32(random>>48), node[:])
}

// Timestamp is the time in a version, in microseconds since the Unix epoch: that of the query tables' rows. For the
// zero version, it is 0.
func Timestamp(version gocql.UUID) int64 {
	if version == (gocql.UUID{}) {
		return 0
	}
	return (version.Timestamp() - cqltype.UnixTicks) / ticks
}

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

// Digest is a hash of what the condition makes of which row: equal for two deliveries of one request, in any process,
// and as good as never for two changes. It is kept by every version of the library, since versions and marks of rows
// are made of it.
//
// It is the first eight bytes, big-endian, of the SHA-256 of these parts, each after its length in four bytes:
//
//	"denorm change 1", the entity, the verb as [Kind.String] gives it
//	the version of the before-image, of a Versioned set
//	name and value of each column of the base key, in key order
//	"compared", then name and value of each compared column as it was, by name
//	"row", then name and value of each other column as it becomes, by name
//
// Left out are columns that have no value, that are derived or only read, and that the library fills: a service that is
// given another column while it waits for the repeat still knows it. The elements of sets and maps are in the order of
// their bytes, as Go gives them in any.
func (c *Condition) Digest() uint64 {
	h, s := sha256.New(), c.base.Set
	part := func(data []byte) { _, _ = h.Write(cqltype.AppendValue(nil, data)) }
	named := func(i int, v *cqltype.Value) {
		part([]byte(s.Columns[i].Name))
		part(v.Type.Ordered(v.Data))
	}
	part([]byte("denorm change 1"))
	part([]byte(c.Entity))
	part([]byte(c.Kind.String()))
	if c.By != layout.Compared {
		part(c.Before.Bytes())
	}
	for k, i := range s.Tables[0].Key {
		named(i, c.base.key[k])
	}
	columns := make([]int, len(s.Columns))
	for i := range columns {
		columns[i] = i
	}
	slices.SortFunc(columns, func(a, b int) int { return cmp.Compare(s.Columns[a].Name, s.Columns[b].Name) })
	part([]byte("compared"))
	for _, i := range columns {
		if c.before != nil && slices.Contains(s.Compared, i) && c.before[i].Data != nil {
			named(i, &c.before[i])
		}
	}
	part([]byte("row"))
	for _, i := range columns {
		switch {
		case c.after == nil, c.after[i].Data == nil, s.Columns[i].Derived != nil, slices.Contains(s.Tables[0].Key, i),
			i == s.Version, i == s.Mark, s.Columns[i].ReadOnly:
		default:
			named(i, &c.after[i])
		}
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// Digest is a hash of changes in any order, for the marks and versions of their rows where a repeated request is the
// same write. Every version of the library keeps it. That of several is the first eight bytes of the SHA-256 of their
// digests, smallest first, all big-endian.
func Digest(parts []*Conditional) uint64 {
	digests := make([]uint64, len(parts))
	for i, c := range parts {
		digests[i] = c.Condition.Digest()
	}
	if len(digests) == 1 {
		return digests[0]
	}
	slices.Sort(digests)
	var data []byte
	for _, d := range digests {
		data = binary.BigEndian.AppendUint64(data, d)
	}
	sum := sha256.Sum256(data)
	return binary.BigEndian.Uint64(sum[:])
}
