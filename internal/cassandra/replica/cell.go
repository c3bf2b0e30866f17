package replica

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/denorm-go/denorm/internal/cassandra/merge"
)

// Cell is what was written to one column of a row, or to one element of it.
type Cell struct {
	Column string
	// Path is that of an element of a collection or a user-defined type that is not frozen: the element of a set, the key
	// of a map, a time UUID in a list, the number of a field. It is nil for a column with one cell.
	Path []byte
	// All is whether this is the tombstone of all elements of the column, up to its timestamp.
	All bool
	merge.Cell
	Shards []Shard // of a counter, ordered by node; Value is not nil then
}

// Shard is what one node has counted.
type Shard struct {
	Node         int
	Clock, Count int64
}

// Count is the value of a counter.
func (c Cell) Count() (n int64) {
	for _, s := range c.Shards {
		n += s.Count
	}
	return n
}

func (c Cell) compare(other Cell) int {
	if c.All != other.All && c.Column == other.Column {
		if c.All {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(c.Column, other.Column), bytes.Compare(c.Path, other.Path))
}

// resolve gives what remains of two cells of one column and path.
func resolve(a, b Cell) Cell {
	switch {
	case a.Shards != nil && b.Shards != nil:
		a.Timestamp = max(a.Timestamp, b.Timestamp)
		a.Shards = mergeShards(a.Shards, b.Shards)
		return a
	case a.Shards != nil && b.Value == nil:
		return b
	case b.Shards != nil && a.Value == nil:
		return a
	}
	if won := merge.Resolve(a.Cell, b.Cell); won.Timestamp != a.Timestamp || won.Expires != a.Expires ||
		!bytes.Equal(won.Value, a.Value) ||
		(won.Value == nil) != (a.Value == nil) {
		return b
	}
	return a
}

func mergeShards(a, b []Shard) []Shard {
	out := make([]Shard, 0, max(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		switch c := cmp.Compare(a[0].Node, b[0].Node); {
		case c < 0:
			out, a = append(out, a[0]), a[1:]
		case c > 0:
			out, b = append(out, b[0]), b[1:]
		default:
			larger := a[0]
			if b[0].Clock > larger.Clock {
				larger = b[0]
			}
			out, a, b = append(out, larger), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// mergeCells merges two lists that are ordered by column and path. Neither is changed.
func mergeCells(a, b []Cell) []Cell {
	out := make([]Cell, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch c := a[0].compare(b[0]); {
		case c < 0:
			out, a = append(out, a[0]), a[1:]
		case c > 0:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, resolve(a[0], b[0])), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// prune drops what a tombstone of that timestamp covers, and the elements that the tombstone of their column does. The
// cells are changed in place.
func prune(cells []Cell, deletion int64) []Cell {
	all := Cell{}
	return slices.DeleteFunc(cells, func(c Cell) bool {
		if c.Timestamp <= deletion {
			return true
		}
		if c.All {
			all = c // it comes before the elements
			return false
		}
		return c.Path != nil && all.All && all.Column == c.Column && c.Timestamp <= all.Timestamp
	})
}
