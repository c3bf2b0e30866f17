package history

import "slices"

// phantoms finds values that nobody wrote to their columns.
func (c *checker[T]) phantoms() {
	c.odd = make(map[*Row][]string)
	c.each(func(p *place, r *Row) {
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
	p := &c.tables[t]
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
	for _, n := range c.rows[t] {
		r := &p.Rows[n]
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
	return c.tables[0].show(c.base, c.tables[0].rest)
}

// differing compares a row with the base row of the same key.
func (c *checker[T]) differing(p *place, r *Row) {
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
	c.find(Differing, p, r, p.show(r, columns), c.tables[0].show(c.base, columns)+" as the base table", writes...)
}

// tied says whether a column of a row that differs may do so: of two writes at one timestamp each table keeps the greater
// value, and not every table gets both.
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
