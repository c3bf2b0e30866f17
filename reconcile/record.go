package reconcile

import (
	"encoding/binary"
	"time"
)

// record is what one table says of one row of a query table: the query table itself, or the base table.
type record struct {
	hash   uint64 // of its ID
	base   bool   // it is of the base table
	query  int    // of digest.tables
	at     int64
	ends   time.Time // see row
	values [16]byte
	entity []byte // encoded base key
	key    []byte // that of the row
}

// append appends the record, encoded for a [spool].
func (r *record) append(out []byte) []byte {
	out = binary.BigEndian.AppendUint64(out, r.hash)
	out = binary.BigEndian.AppendUint64(out, uint64(r.at))
	ends := int64(0)
	if !r.ends.IsZero() {
		ends = r.ends.Unix() + 1 // rounded up
	}
	out = binary.BigEndian.AppendUint64(out, uint64(ends))
	out = append(out, r.values[:]...)
	side := uint64(r.query) << 1
	if r.base {
		side |= 1
	}
	out = binary.AppendUvarint(out, side)
	out = append(binary.AppendUvarint(out, uint64(len(r.entity))), r.entity...)
	return append(binary.AppendUvarint(out, uint64(len(r.key))), r.key...)
}

// parseRecord is the first of encoded records, and the rest of them. It keeps their bytes.
func parseRecord(data []byte) (r record, rest []byte) {
	r.hash, r.at = binary.BigEndian.Uint64(data), int64(binary.BigEndian.Uint64(data[8:]))
	if ends := binary.BigEndian.Uint64(data[16:]); ends != 0 {
		r.ends = time.Unix(int64(ends), 0)
	}
	data = data[24:]
	data = data[copy(r.values[:], data):]
	side, n := binary.Uvarint(data)
	r.base, r.query = side&1 != 0, int(side>>1)
	r.entity, data = cutBytes(data[n:])
	r.key, rest = cutBytes(data)
	return r, rest
}

// cutBytes cuts off bytes with their length.
func cutBytes(data []byte) (cut, rest []byte) {
	size, n := binary.Uvarint(data)
	end := n + int(size)
	return data[n:end:end], data[end:]
}
