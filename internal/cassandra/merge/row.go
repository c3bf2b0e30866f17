package merge

// Row is one row of a replica. It keeps the largest row tombstone, the marker and the cells separately, and what the
// tombstone covers is decided by the reader: a cell or marker with a timestamp not above the tombstone's is gone
// (DeletionTime.deletes; Rows.merge drops it at once, which ends the same way, as the cell that wins has the largest
// timestamp). So at a tie a delete wins against the insert.
type Row struct {
	key      string
	deletion int64 // timestamp of the largest row tombstone
	marker   Liveness
	cells    []Cell
	touched  bool
}

func newRow(key string, columns int) *Row {
	r := &Row{key: key, cells: make([]Cell, columns)}
	r.reset()
	return r
}

func (r *Row) reset() {
	r.deletion, r.marker, r.touched = NoTimestamp, Liveness{Timestamp: NoTimestamp}, false
	for i := range r.cells {
		r.cells[i] = nothing
	}
}

// Key is the primary key under which [Table.Row] was asked for the row.
func (r *Row) Key() string { return r.key }

// Delete is DELETE of the whole row: it covers the marker and all cells up to and including the timestamp.
func (r *Row) Delete(timestamp int64) { r.deletion = max(r.deletion, timestamp) }

// Mark is the row marker of an INSERT.
func (r *Row) Mark(l Liveness) {
	if l.Supersedes(r.marker) {
		r.marker = l
	}
}

// Set is a value, or with a nil value the null, that an INSERT or UPDATE assigns to a column. An unset value assigns
// nothing: there is no call for it.
func (r *Row) Set(column int, c Cell) {
	if c.Value == nil {
		c.Expires = 0 // a null is a tombstone, with or without TTL
	}
	r.cells[column] = Resolve(r.cells[column], c)
}

// Merge takes over what another replica has of the row.
func (r *Row) Merge(other *Row) {
	r.Delete(other.deletion)
	r.Mark(other.marker)
	for i, c := range other.cells {
		r.Set(i, c)
	}
}

// Value is what a read in the second now finds in a column, nil if it is null.
func (r *Row) Value(column int, now int64) []byte {
	if c := &r.cells[column]; c.Timestamp > r.deletion && c.Live(now) {
		return c.Value
	}
	return nil
}

// Visible says whether a read in the second now finds the row: it has its marker, or any value.
func (r *Row) Visible(now int64) bool {
	if r.marker.Timestamp > r.deletion && r.marker.Live(now) {
		return true
	}
	for i := range r.cells {
		if r.Value(i, now) != nil {
			return true
		}
	}
	return false
}

// WriteTime is WRITETIME of a column: the timestamp of its cell.
func (r *Row) WriteTime(column int) int64 { return r.cells[column].Timestamp }
