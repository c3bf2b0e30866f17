package history

import (
	"fmt"

	"github.com/denorm-go/denorm/writer"
)

// newest finds which write the base row is of, and holds the WRITETIME of all its copies against its timestamp.
func (c *checker[T]) newest() {
	if c.base == nil || c.ties {
		return
	}
	base := &c.tables[0]
	var of *image[T]
	for _, i := range c.images {
		if !i.puts() || !base.matches(c.base, i.values, c.odd[c.base]) {
			continue
		}
		if of == nil || i.timestamp == c.base.time() || of.timestamp != c.base.time() && i.timestamp > of.timestamp {
			of = i
		}
	}
	if of == nil {
		if !c.apart && len(c.odd) == 0 { // otherwise what has been found says it already
			c.find(Phantom, base, c.base, base.show(c.base, base.rest), "the whole row of one write", c.baseWrite())
		}
		return
	}
	c.each(func(p *place, r *Row) {
		if !p.matches(r, of.values, c.odd[r]) {
			return // another write's, which has been found
		}
		var unequal []string
		for column, at := range r.Times {
			if at != of.timestamp && !c.strange(r, column) {
				unequal = append(unequal, column)
			}
		}
		if unequal != nil {
			c.find(Unequal, p, r, p.show(r, unequal), fmt.Sprintf("WRITETIME %d", of.timestamp), of)
		}
	})
}

// lost looks for the last acknowledged write.
func (c *checker[T]) lost() {
	var last *image[T]
	for _, i := range c.images {
		if i.write.Outcome == writer.Applied && (last == nil || i.timestamp > last.timestamp) {
			last = i
		}
	}
	if last == nil {
		return
	}
	base := &c.tables[0]
	if !last.puts() {
		if c.base != nil && c.base.time() < last.timestamp {
			c.find(Lost, base, nil, c.showBase(), "no row", last, c.baseWrite())
		}
		return
	}
	rows, visible := 0, false
	c.each(func(p *place, r *Row) {
		rows++
		visible = visible || r.time() >= last.timestamp || r.time() == 0 && p.matches(r, last.values, nil)
	})
	if visible {
		return
	}
	for _, i := range c.images { // or has a later delete removed it?
		if i.puts() || i.timestamp != 0 && i.timestamp <= last.timestamp || c.base != nil {
			continue
		}
		if i.possible() {
			return
		}
		if rows == 0 && i.timestamp != 0 {
			c.find(Unsound, base, nil, "no row", "the row: the delete was not applied", last, i)
			return
		}
	}
	c.find(Lost, base, nil, c.showBase(), "this write or a later one", last, c.baseWrite())
}
