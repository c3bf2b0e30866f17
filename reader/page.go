package reader

import (
	"reflect"
	"slices"

	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/internal/undecoded"
	"github.com/gocql/gocql"
)

// page is some rows of one partition, in order, with the clustering keys they are merged by.
type page[T any] struct {
	rows []T
	// of row i from i times the number of columns on that are kept: the clustering columns, and what else is wanted
	keys [][]byte
	gone int   // how many rows that stand for no entity were left out
	last bool  // nothing comes after it
	err  error // the partition cannot be read on; there are no rows

	// Of a confirmed query:

	unconfirmed []bool // by row; nil in other queries
	dropped     int    // how many of them are true
}

// key is the clustering key of row i, then what else is kept of it. columns is how many are kept.
func (p *page[T]) key(i, columns int) [][]byte {
	return p.keys[i*columns : (i+1)*columns : (i+1)*columns]
}

// good is how many rows are to be given.
func (p *page[T]) good() int { return len(p.rows) - p.dropped }

// drops says whether row i is left out.
func (p *page[T]) drops(i int) bool { return p.unconfirmed != nil && p.unconfirmed[i] }

// reset makes room for n rows. What the rows refer to was given away with them.
func (p *page[T]) reset(n int) {
	clear(p.rows)
	if cap(p.rows) < n {
		p.rows = make([]T, 0, n)
	}
	p.rows, p.keys, p.gone, p.last, p.err = p.rows[:0], p.keys[:0], 0, false, nil
	p.unconfirmed, p.dropped = p.unconfirmed[:0], 0
}

// decoder scans answers into pages. It belongs to one goroutine.
type decoder[T any] struct {
	kept   int     // columns that are selected first, of which the bytes are kept
	fields [][]int // by selected column; nil for one that is no field
	cells  []cell  // by selected column
	tells  []int   // the selected columns of which one at least is not null in a row; none where every row is one
	sorted []int   // the clustering columns
	dest   []any
}

func newDecoder[T any](layout tablerow.Layout, selected []string, kept int) *decoder[T] {
	d := &decoder[T]{kept: kept, cells: make([]cell, len(selected)), dest: make([]any, len(selected))}
	tells, clustering := layout.Tells(), layout.Clustering()
	for i, name := range selected {
		d.fields, d.cells[i].name, d.dest[i] = append(d.fields, layout.Field(name)), name, &d.cells[i]
		if slices.Contains(tells, name) {
			d.tells = append(d.tells, i)
		}
		if slices.Contains(clustering, name) {
			d.sorted = append(d.sorted, i)
		}
	}
	return d
}

// gone says whether the row that was scanned last is that of a deleted entity, or of none: for a partition that has no
// rows, but a value in a static column, Cassandra returns a row whose clustering columns are null. A live table may
// have such a column though the set has not.
func (d *decoder[T]) gone() bool { return d.null(d.tells) || d.null(d.sorted) }

// null says whether there are such selected columns, and all of them are null in the row that was scanned last.
func (d *decoder[T]) null(columns []int) bool {
	return len(columns) > 0 && !slices.ContainsFunc(columns, func(i int) bool { return d.cells[i].data != nil })
}

// into makes the next scan write to row.
func (d *decoder[T]) into(row *T) {
	of := reflect.ValueOf(row).Elem()
	for i, index := range d.fields {
		if index != nil {
			d.cells[i].field = of.FieldByIndex(index).Addr().Interface()
		}
	}
}

// decode reads all rows of an answer into the page, but for those that are gone. The error is only in the answer.
func (d *decoder[T]) decode(a answer, p *page[T]) {
	n := a.NumRows() // what the server says, in a frame that may have fewer
	p.reset(min(n, defaultPageSize))
	var arena []byte
	for range n {
		p.rows = append(p.rows, *new(T))
		d.into(&p.rows[len(p.rows)-1])
		if !a.Scan(d.dest...) {
			p.rows = p.rows[:len(p.rows)-1]
			return
		}
		if d.gone() {
			p.rows = p.rows[:len(p.rows)-1]
			p.gone++
			continue
		}
		for i := range d.kept {
			if d.cells[i].data == nil {
				p.keys = append(p.keys, nil)
				continue
			}
			start := len(arena)
			arena = append(arena, d.cells[i].data...)
			p.keys = append(p.keys, arena[start:len(arena):len(arena)])
		}
		if cap(arena)-len(arena) < 64 {
			arena = make([]byte, 0, arenaSize) // what refers to the former one keeps it
		}
	}
}

// arenaSize is how much room is made for keys at once.
const arenaSize = 16 << 10

// cell decodes a column into a field, and keeps its bytes: nil for null.
type cell struct {
	name  string
	data  []byte // of the driver's buffer
	field any    // where the value goes, nil for nowhere
}

var _ gocql.Unmarshaler = (*cell)(nil)

// UnmarshalCQL implements [gocql.Unmarshaler].
func (c *cell) UnmarshalCQL(info gocql.TypeInfo, data []byte) error {
	c.data = data
	if c.field == nil {
		return nil
	}
	return undecoded.Decode(c.name, info, data, c.field)
}
