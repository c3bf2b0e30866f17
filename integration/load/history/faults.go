package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/writer"
)

// phantoms finds values that nobody wrote to their columns.
func (c *checker[T]) phantoms() {
	c.odd = make(map[*Row][]string)
	c.each(func(p *Table, r *Row) {
		var odd []string
		for column, value := range r.Values {
			if !slices.ContainsFunc(c.images, func(m *image[T]) bool { return same(m.values[column], value) }) {
				odd = append(odd, column)
			}
		}
		if odd != nil {
			c.odd[r] = odd
			c.find(Phantom, p, r, p.show(r, odd), "a value that was written", c.one(r.time()))
		}
	})
}

// strange says whether nobody wrote the value of a column of a row.
func (c *checker[T]) strange(r *Row, column string) bool { return slices.Contains(c.odd[r], column) }

// table holds the rows of a query table against the base row.
func (c *checker[T]) table(t int) {
	p := &c.Tables[t]
	confirmed := c.base != nil
	if confirmed {
		for _, k := range p.key {
			if c.strange(c.base, k) {
				return // there is no telling which row it should be
			}
			confirmed = confirmed && c.base.Values[k] != nil // else the entity has no row here
		}
	}
	found := false
	for _, r := range c.rows[t] {
		switch {
		case slices.ContainsFunc(p.key, func(k string) bool { return c.strange(r, k) }):
		case confirmed && !slices.ContainsFunc(p.key, func(k string) bool { return !same(r.Values[k], c.base.Values[k]) }):
			found = true
			c.differing(p, r)
		default:
			c.apart = true
			c.find(Ghost, p, r, p.show(r, p.rest), "no row: the base table has "+c.showBase(), c.one(r.time()), c.baseWrite())
		}
	}
	if confirmed && !found {
		c.apart = true
		c.find(Missing, p, nil, "no row", "the row of "+c.showBase(), c.baseWrite())
	}
}

func (c *checker[T]) baseWrite() *image[T] {
	if c.base == nil {
		return nil
	}
	return c.one(c.base.time())
}

func (c *checker[T]) showBase() string {
	if c.base == nil {
		return "no row"
	}
	return c.Tables[0].show(c.base, c.Tables[0].rest)
}

// differing compares a row with the base row of the same key.
func (c *checker[T]) differing(p *Table, r *Row) {
	columns := slices.DeleteFunc(p.differ(r.Values, c.base.Values, slices.Concat(c.odd[r], c.odd[c.base])), func(column string) bool {
		return c.tied(r, column)
	})
	if len(columns) == 0 {
		return
	}
	c.apart = true
	writes := []*image[T]{c.baseWrite()}
	if r.time() != c.base.time() {
		writes = append(writes, c.one(r.time()))
	}
	c.find(Differing, p, r, p.show(r, columns), c.Tables[0].show(c.base, columns)+" as the base table", writes...)
}

// tied says whether a column of a row that differs may do so: of two writes at one timestamp each table keeps the
// greater value, and not every table gets both.
func (c *checker[T]) tied(r *Row, column string) bool {
	if !c.ties || r.time() != c.base.time() {
		return false
	}
	writes := c.at(r.time())
	wrote := func(value []byte) bool {
		return slices.ContainsFunc(writes, func(i *image[T]) bool { return same(i.values[column], value) })
	}
	return wrote(r.Values[column]) && wrote(c.base.Values[column])
}

// newest finds which write the base row is of, and holds the WRITETIME of all its copies against its timestamp.
func (c *checker[T]) newest() {
	if c.base == nil || c.ties {
		return
	}
	base := &c.Tables[0]
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
	c.each(func(p *Table, r *Row) {
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
	base := &c.Tables[0]
	if !last.puts() {
		if c.base != nil && c.base.time() < last.timestamp {
			c.find(Lost, base, nil, c.showBase(), "no row", last, c.baseWrite())
		}
		return
	}
	rows, visible := 0, false
	c.each(func(p *Table, r *Row) {
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

// unsound holds what the clients were told in errors against what the tables show.
func (c *checker[T]) unsound() {
	for _, i := range c.images {
		if i.write.Contradiction != "" {
			c.find(Unsound, &c.Tables[0], nil, i.write.Contradiction, "one truth", i)
		}
		if i.timestamp == 0 {
			continue
		}
		var shown, lacking []string
		for t := range c.Tables {
			p := &c.Tables[t]
			switch i.write.Of(p.Name) {
			case writer.NotApplied:
				if i.puts() && len(c.at(i.timestamp)) == 1 && c.shows(t, i) {
					shown = append(shown, p.Name)
				}
			case writer.Applied:
				if i.write.Tables != nil && c.lacks(t, i) {
					lacking = append(lacking, p.Name)
				}
			case writer.Unknown, writer.Pending, writer.Conflict, writer.Taken, writer.Invalid, writer.NotFound: // the last four are of calls
			}
		}
		if shown != nil {
			c.find(Unsound, &c.Tables[0], nil, "the row in "+strings.Join(shown, ", "), "it nowhere that was told to be without", i)
		}
		if lacking != nil {
			c.find(Unsound, &c.Tables[0], nil, "neither the write nor a later one in "+strings.Join(lacking, ", "),
				"it in each table that was told to have it", i)
		}
	}
}

// shows says whether a table shows the row of a write, and not of another one.
func (c *checker[T]) shows(t int, i *image[T]) bool {
	p := &c.Tables[t]
	return slices.ContainsFunc(c.rows[t], func(r *Row) bool {
		return r.time() == i.timestamp && p.matches(r, i.values, nil)
	})
}

// lacks says whether a table shows neither a write nor a later one.
func (c *checker[T]) lacks(t int, i *image[T]) bool {
	p := &c.Tables[t]
	older, later := false, false
	for _, r := range c.rows[t] {
		if r.time() < i.timestamp {
			older = true
		} else {
			later = true
		}
	}
	if !i.puts() {
		return older
	}
	if !p.holds(i.values) {
		return false
	}
	return !later && !slices.ContainsFunc(c.images, func(d *image[T]) bool {
		if d.timestamp != 0 && d.timestamp <= i.timestamp || !d.possible() {
			return false
		}
		// One that puts the row elsewhere has removed it here, perhaps, though its own row has not arrived.
		of := d.write.Of(p.Name)
		return !d.puts() || !p.holds(d.values) || of == writer.Unknown || of == writer.Pending
	})
}

// holds says whether an entity with these values has a row in the table.
func (p *Table) holds(values map[string][]byte) bool {
	return !slices.ContainsFunc(p.key, func(k string) bool { return values[k] == nil })
}
