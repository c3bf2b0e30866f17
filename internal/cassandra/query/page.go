package query

import (
	"encoding/binary"
	"slices"

	"github.com/denorm-go/denorm/internal/murmur3"
)

// Page is how much of a result is asked for.
type Page struct {
	Size  int    // rows; 0 for all
	State []byte // of the page before, nil for the first one
}

// position is where a page ends.
type position struct {
	key    string
	row    [][]byte
	inside int // rows of the partition that were given
}

// pageable says that rows of several partitions cannot be sorted page by page, unless the restrictions leave none
// anyway, and they are not counted.
func (e *run) pageable() error {
	if e.count || len(e.spans) > 0 {
		return invalid("Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must either " +
			"remove the ORDER BY or the IN and sort client side, or disable paging for this query")
	}
	return nil
}

// reached says whether a partition is at, or in a scan after, the one where the page before has ended.
func (e *run) reached(key, last string, keys []string) bool {
	if key == last {
		return true
	}
	return e.scan() && !slices.Contains(keys, last) && murmur3.Token([]byte(key)) > murmur3.Token([]byte(last))
}

// state encodes where a page has ended.
func (r *Read) state(e *run) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(e.left))
	b = binary.BigEndian.AppendUint32(b, uint32(e.last.inside))
	return appendParts(b, append([][]byte{[]byte(e.last.key)}, e.last.row...))
}

func (r *Read) parse(state []byte) (*position, int, error) {
	if len(state) < 8 {
		return nil, 0, invalid("Invalid value for the paging state")
	}
	parts, err := split(tupleType, state[8:])
	if err != nil || len(parts) == 0 {
		return nil, 0, invalid("Invalid value for the paging state")
	}
	return &position{string(parts[0]), parts[1:], int(binary.BigEndian.Uint32(state[4:]))},
		int(binary.BigEndian.Uint32(state)), nil
}
