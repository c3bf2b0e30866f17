package merge

import "iter"

// Table holds the rows of one table on one replica, by primary key. Columns are the columns outside of the key, by
// number. It is not safe for concurrent use.
type Table struct {
	columns int
	rows    map[string]*Row
	touched []*Row
}

// NewTable gives an empty table whose rows have this many columns alongside the key.
func NewTable(columns int) *Table {
	return &Table{columns: columns, rows: make(map[string]*Row)}
}

// Row is the row under key, to be written. The key is any injective encoding of the primary key.
func (t *Table) Row(key []byte) *Row {
	r := t.rows[string(key)]
	if r == nil {
		r = newRow(string(key), t.columns)
		t.rows[r.key] = r
	}
	if !r.touched {
		r.touched = true
		t.touched = append(t.touched, r)
	}
	return r
}

// Visible are the rows that a read of the whole table in the second now finds, in no particular order.
func (t *Table) Visible(now int64) iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		for _, r := range t.touched {
			if r.Visible(now) && !yield(r) {
				return
			}
		}
	}
}

// Reset empties the table. It keeps the memory of its rows, so that a table used for many cases over the same keys
// allocates nothing after the first ones; rows got before are not to be used any more.
func (t *Table) Reset() {
	for _, r := range t.touched {
		r.reset()
	}
	t.touched = t.touched[:0]
}
