package replica

import (
	"slices"

	"github.com/denorm-go/denorm/internal/cassandra/merge"
)

// Row is one row, or what is written to it.
type Row struct {
	Key      [][]byte // the clustering columns; nil in a static row
	Deletion int64    // the timestamp of its tombstone, merge.NoTimestamp if there is none
	Marker   merge.Liveness
	Cells    []Cell // ordered by column and path
}

// NewRow is a row that nothing was written to.
func NewRow(key [][]byte) *Row {
	return &Row{Key: key, Deletion: merge.NoTimestamp, Marker: merge.Liveness{Timestamp: merge.NoTimestamp}}
}

// Set adds a cell to a row that is being made.
func (r *Row) Set(c Cell) {
	i, found := slices.BinarySearchFunc(r.Cells, c, Cell.compare)
	if found {
		r.Cells[i] = resolve(r.Cells[i], c)
		return
	}
	r.Cells = slices.Insert(r.Cells, i, c)
}

// merged is what remains of two rows of one key. deletion is the largest tombstone around them. Neither is changed.
func (r *Row) merged(other *Row, deletion int64) *Row {
	out := &Row{Key: r.Key, Deletion: max(r.Deletion, other.Deletion), Marker: r.Marker}
	if other.Marker.Supersedes(out.Marker) {
		out.Marker = other.Marker
	}
	out.Cells = mergeCells(r.Cells, other.Cells)
	out.prune(deletion)
	return out
}

// prune drops what tombstones cover, in place.
func (r *Row) prune(deletion int64) {
	if r.Deletion <= deletion {
		r.Deletion = merge.NoTimestamp
	}
	deletion = max(deletion, r.Deletion)
	if r.Marker.Timestamp <= deletion {
		r.Marker = merge.Liveness{Timestamp: merge.NoTimestamp}
	}
	r.Cells = prune(r.Cells, deletion)
}

// pruned is the row without what a tombstone covers.
func (r *Row) pruned(deletion int64) *Row {
	out := *r
	out.Cells = slices.Clone(r.Cells)
	out.prune(deletion)
	return &out
}

// empty says whether nothing is left of the row, not even a tombstone.
func (r *Row) empty() bool {
	return len(r.Cells) == 0 && r.Deletion == merge.NoTimestamp && r.Marker.Timestamp == merge.NoTimestamp
}

// Cell is the cell of a column, or nil.
func (r *Row) Cell(column string) *Cell {
	for i := range r.Cells {
		if r.Cells[i].Column == column && !r.Cells[i].All {
			return &r.Cells[i]
		}
	}
	return nil
}

// Live says whether a read in the second now finds the row: it has its marker, or any value.
func (r *Row) Live(now int64) bool {
	return r.Marker.Live(now) || slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Live(now) })
}
