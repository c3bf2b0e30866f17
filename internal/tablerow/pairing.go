package tablerow

import (
	"encoding/binary"
	"slices"

	"github.com/denorm-go/denorm/internal/statement"
)

// Pairing says how rows of a table are compared with those of another table of the set by hashes: of the values of a
// row it gives what [Row.KeyIn] and [Row.Differs] look at, without making a [Row]. It is immutable.
type Pairing struct {
	from, to Layout
	key      []int // where the columns of to's key are in a row of from; nil if one of them is derived and is not there
	compared []int // where the columns are that both tables have, in the order of the set's columns
}

// Pair is how rows of the table are compared with those of another one, or of itself.
func Pair(l Layout, to Layout) Pairing {
	p := Pairing{from: l, to: to}
	for _, i := range to.Table.Key {
		n := slices.Index(l.Table.Read, i)
		if n < 0 {
			p.key = nil
			break
		}
		p.key = append(p.key, n)
	}
	patchable := l.Patchable()
	for i := range l.Set.Columns {
		if n := slices.Index(l.Table.Read, i); n >= 0 && slices.Contains(to.Table.Read, i) &&
			!skipsCompare(l, i, to, patchable) {
			p.compared = append(p.compared, n)
		}
	}
	return p
}

// skipsCompare says whether a row of the table is not compared with one of another table in column i: a derived column
// follows from others, and in different tables under different functions; and a patch of an entity without a row makes
// a row in each table that has the columns of its own key and no other table's, so a column that is in the key of one
// of the two may be null in the other. A column that is in neither key is written to both by the same writes, whatever
// other tables have it in their keys.
func skipsCompare(l Layout, i int, to Layout, patchable bool) bool {
	return l.Set.Columns[i].Derived != nil || patchable &&
		(slices.Contains(l.Table.Key, i) || slices.Contains(to.Table.Key, i))
}

// Key appends the encoded key that [Row.KeyIn] gives of the row with these values of [Layout.AllColumns]. It is
// false if the row has none.
func (p Pairing) Key(out []byte, values [][]byte) ([]byte, bool) {
	if p.key == nil {
		row, err := Read(p.from, values)
		if err != nil {
			return out, false
		}
		key, there := row.KeyIn(p.to)
		return append(out, key...), there
	}
	start := len(out)
	for _, n := range p.key {
		if values[n] == nil {
			return out[:start], false
		}
		out = statement.AppendKeyColumn(out, values[n])
	}
	return out, true
}

// Compared appends the values of a row that [Row.Differs] compares. They are equal for two rows if and only if these do
// not differ.
func (p Pairing) Compared(out []byte, values [][]byte) []byte {
	for _, n := range p.compared {
		if values[n] == nil {
			out = binary.BigEndian.AppendUint32(out, 0)
			continue
		}
		out = binary.BigEndian.AppendUint32(out, uint32(len(values[n]))+1)
		out = append(out, values[n]...)
	}
	return out
}
