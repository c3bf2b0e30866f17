package declare

import (
	"fmt"
	"slices"

	"github.com/denorm-go/denorm/internal/layout"
	"github.com/gocql/gocql"
)

// This file validates lists that are not frozen, which are read and never written.

func (b *builder) readReadOnly() {
	for _, name := range b.ReadOnly {
		i, ok := b.column("", name, "ReadOnly")
		switch {
		case !ok:
		case b.set.Columns[i].ReadOnly:
			b.fault("", name, "is in ReadOnly twice")
		default:
			b.set.Columns[i].ReadOnly = true
		}
	}
}

// checkList rejects a list that is not frozen and would be written, and another column that would not be.
func (b *builder) checkList(c *layout.Column) {
	list := c.CQL.Kind() == gocql.TypeList && c.CQL.MultiCell()
	switch {
	case list && !c.Key && !c.ReadOnly:
		b.fault("", c.Name, "a list that is not frozen doubles when it is sent twice: for a live column declare "+
			"ReadOnly(%q), for a new one Type(%[1]q, \"frozen<%s>\")%s", c.Name, c.CQL, orSet(c))
	case !list && c.ReadOnly:
		b.fault("", c.Name, "ReadOnly is for lists that are not frozen, and this is %s: leave ReadOnly out", c.CQL)
	}
}

// orSet is the other type of a column that cannot be a list, empty if its elements cannot be in a set.
func orSet(c *layout.Column) string {
	element := c.CQL.Elems()[0]
	if element.Contains(gocql.TypeDuration) {
		return ""
	}
	return fmt.Sprintf(" or \"set<%s>\"", element)
}

// checkReadOnly rejects what would lose the lists of rows, or keep them when the row ends.
func (b *builder) checkReadOnly() {
	if len(b.ReadOnly) == 0 {
		return
	}
	if len(b.Expiries) > 0 {
		b.fault("", b.ReadOnly[0], "ReadOnly with ExpiresAt: the list does not end with its row: leave the field out")
	}
	if b.Transactional {
		b.fault("", b.ReadOnly[0], "ReadOnly in a Transactional set is not supported: leave the field out")
	}
	for _, t := range b.set.Tables {
		for _, i := range t.Read {
			if b.set.Columns[i].ReadOnly && !slices.Contains(t.Columns, i) && (len(t.Follows) > 0 || b.SweepInserts &&
				len(t.Sweeps) > 0) {
				b.fault(t.Name, b.set.Columns[i].Name,
					"is ReadOnly, and rows of this table move in changes that do not know their lists: leave the column "+
						"out of its Columns")
			}
		}
	}
}
