package history

import "slices"

// phantoms finds values that nobody wrote to their columns.
func (c *checker[T]) phantoms() {
	c.odd = make(map[*Row][]int)
	c.each(func(p *place, r *Row) {
		var odd []int
		for i, b := range p.base {
			if r.Values[i] != nil && !slices.ContainsFunc(c.images, func(m *image[T]) bool { return same(m.values[b], r.Values[i]) }) {
				odd = append(odd, i)
			}
		}
		if odd != nil {
			c.odd[r] = odd
			c.find(Phantom, p, r, p.show(r, odd), "a value that was written", c.one(r.time()))
		}
	})
}

// strange says whether nobody wrote the value of a column of a row.
func (c *checker[T]) strange(r *Row, column int) bool { return slices.Contains(c.odd[r], column) }

// table holds the rows of a query table against the base row.
func (c *checker[T]) table(t int) {
	p := &c.tables[t]
	confirmed := c.base != nil
	if confirmed {
		for _, k := range p.key {
			if c.strange(c.base, p.base[k]) {
				return // there is no telling which row it should be
			}
			confirmed = confirmed && c.base.Values[p.base[k]] != nil // else the entity has no row here
		}
	}
	found := false
	for _, n := range c.rows[t] {
		r := &p.Rows[n]
		switch {
		case slices.ContainsFunc(p.key, func(k int) bool { return c.strange(r, k) }):
		case confirmed && !slices.ContainsFunc(p.key, func(k int) bool { return !same(r.Values[k], c.base.Values[p.base[k]]) }):
			found = true
			c.differing(p, r)
		default:
			c.apart = true
			c.find(Ghost, p, r, p.show(r, p.rest()), "no row: the base table has "+c.showBase(), c.one(r.time()), c.baseWrite())
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
	return c.tables[0].show(c.base, c.tables[0].rest())
}

// differing compares a row with the base row of the same key.
func (c *checker[T]) differing(p *place, r *Row) {
	var columns, base []int
	for i, b := range p.base {
		if !same(r.Values[i], c.base.Values[b]) && !c.strange(r, i) && !c.strange(c.base, b) && !c.tied(p, r, i) {
			columns, base = append(columns, i), append(base, b)
		}
	}
	if columns == nil {
		return
	}
	c.apart = true
	writes := []*image[T]{c.baseWrite()}
	if r.time() != c.base.time() {
		writes = append(writes, c.one(r.time()))
	}
	c.find(Differing, p, r, p.show(r, columns), c.tables[0].show(c.base, base)+" as the base table", writes...)
}

// tied says whether a column of a row that differs may do so: of two writes at one timestamp each table keeps the greater
// value, and not every table gets both.
func (c *checker[T]) tied(p *place, r *Row, column int) bool {
	if !c.ties || r.time() != c.base.time() {
		return false
	}
	b := p.base[column]
	writes := c.at(r.time())
	wrote := func(value []byte) bool {
		return slices.ContainsFunc(writes, func(i *image[T]) bool { return same(i.values[b], value) })
	}
	return wrote(r.Values[column]) && wrote(c.base.Values[b])
}
