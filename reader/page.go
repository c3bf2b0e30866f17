package reader

import (
	"reflect"
	"slices"

	"github.com/gocql/gocql"
)

// page is some rows of one partition, in order, with the clustering keys they are merged by.
type page[T any] struct {
	rows []T
	keys [][]byte // of row i from i times the number of clustering columns on
	gone int      // how many rows of deleted entities were left out
	last bool     // nothing comes after it
	err  error    // the partition cannot be read on; there are no rows
}

// key is the clustering key of row i.
func (p *page[T]) key(i, columns int) [][]byte {
	return p.keys[i*columns : (i+1)*columns : (i+1)*columns]
}

// reset makes room for n rows. What the rows refer to was given away with them.
func (p *page[T]) reset(n int) {
	clear(p.rows)
	if cap(p.rows) < n {
		p.rows = make([]T, 0, n)
	}
	p.rows, p.keys, p.gone, p.last, p.err = p.rows[:0], p.keys[:0], 0, false, nil
}

// decoder scans answers into pages. It belongs to one goroutine.
type decoder[T any] struct {
	columns int       // clustering columns, which are selected first
	fields  [][]int   // by selected column; nil for one that is no field
	cells   []rawCell // by selected column, of those whose bytes are looked at
	tells   []int     // the selected columns of which one at least is not null in a row; none where every row is one
	dest    []any
}

func newDecoder[T any](p *plan) *decoder[T] {
	d := &decoder[T]{columns: len(p.columns), cells: make([]rawCell, len(p.selected)), dest: make([]any, len(p.selected))}
	tells := p.layout.Tells()
	for i, name := range p.selected {
		d.fields = append(d.fields, p.layout.Field(name))
		if slices.Contains(tells, name) {
			d.tells = append(d.tells, i)
		}
	}
	return d
}

// raw says whether the bytes of a selected column are looked at.
func (d *decoder[T]) raw(i int) bool { return i < d.columns || slices.Contains(d.tells, i) }

// gone says whether the row that was scanned last is that of a deleted entity.
func (d *decoder[T]) gone() bool {
	return len(d.tells) > 0 && !slices.ContainsFunc(d.tells, func(i int) bool { return d.cells[i].data != nil })
}

// decode reads all rows of an answer into the page, but for those of deleted entities. The error is only in the answer.
func (d *decoder[T]) decode(a answer, p *page[T]) {
	n := a.NumRows()
	p.reset(n)
	var arena []byte
	for range n {
		p.rows = append(p.rows, *new(T))
		row := reflect.ValueOf(&p.rows[len(p.rows)-1]).Elem()
		for i, index := range d.fields {
			var field any
			if index != nil {
				field = row.FieldByIndex(index).Addr().Interface()
			}
			if d.raw(i) {
				d.cells[i] = rawCell{field: field}
				field = &d.cells[i]
			}
			d.dest[i] = field
		}
		if !a.Scan(d.dest...) {
			p.rows = p.rows[:len(p.rows)-1]
			return
		}
		if d.gone() {
			p.rows = p.rows[:len(p.rows)-1]
			p.gone++
			continue
		}
		for i := range d.columns {
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

// rawCell keeps the bytes of a column while it is decoded: nil for null.
type rawCell struct {
	data  []byte // of the driver's buffer
	field any    // where the value goes, nil for nowhere
}

var _ gocql.Unmarshaler = (*rawCell)(nil)

// UnmarshalCQL implements [gocql.Unmarshaler].
func (k *rawCell) UnmarshalCQL(info gocql.TypeInfo, data []byte) error {
	k.data = data
	if k.field == nil {
		return nil
	}
	return gocql.Unmarshal(info, data, k.field)
}
