package catalog

import (
	"encoding/binary"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// Sort brings the elements of sets and maps into the order in which Cassandra keeps them, as it does with bound values,
// also with those inside others: a client sends a Go map in any order. Of two alike the last one stays. The bytes must
// be valid; those of a type without sets and maps are given back.
func Sort(t *cqltype.Type, value []byte) []byte {
	if len(value) < 4 || !t.Contains(gocql.TypeSet, gocql.TypeMap) {
		return value
	}
	parts, rest := t.Elems(), value
	if kind := t.Kind(); kind == gocql.TypeTuple || kind == gocql.TypeUDT {
		out := make([]byte, 0, len(value))
		for i := 0; i < len(parts) && len(rest) > 0; i++ {
			var part []byte
			part, rest, _ = cut(rest)
			out = appendValue(out, Sort(parts[i], part))
		}
		return out
	}
	var elems [][][]byte
	rest = rest[4:]
	for range binary.BigEndian.Uint32(value) {
		elem := make([][]byte, len(parts))
		for i := range elem {
			elem[i], rest, _ = cut(rest)
			elem[i] = Sort(parts[i], elem[i])
		}
		if ordered(t) {
			elems = put(t, elems, elem)
		} else {
			elems = append(elems, elem)
		}
	}
	return collection(elems)
}

func ordered(t *cqltype.Type) bool { return t.Kind() == gocql.TypeSet || t.Kind() == gocql.TypeMap }
