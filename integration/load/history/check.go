package history

import (
	"fmt"

	"github.com/denorm-go/denorm/tables"
)

// Check holds the contents of the tables of a set against all writes that were attempted. The contents are those of
// a quiet cluster, and the tables hold nothing but what these writes put there. It finds nothing in a set whose key
// columns are immutable or OneOf if every acknowledged write is complete.
//
// One fault is one finding, of the kind that says most: a value that nobody wrote is a phantom and not also a
// difference, and a row that differs is not also of unequal WRITETIME. The error is not nil if the contents are not of
// the set, or the set has columns that are not fields of T: buckets are not supported.
func Check[T any](set *tables.Set[T], contents *Contents, writes []Write[T]) (*Report, error) {
	l, err := newLayout(set, contents)
	if err != nil {
		return nil, err
	}
	report := &Report{Writes: len(writes)}
	entities, order, err := collect(l, writes)
	if err != nil {
		return nil, err
	}
	report.Entities = len(order)
	for _, p := range l.tables {
		report.Rows += len(p.Rows)
	}
	for _, id := range order {
		c := checker[T]{layout: l, report: report}
		for _, n := range entities[id].writes {
			c.images = append(c.images, &image[T]{write: &writes[n]})
		}
		c.rows = entities[id].rows
		if err := c.check(); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// subject is the rows, by table, and the writes of one entity, by their positions.
type subject struct {
	rows   [][]int32
	writes []int32
}

// collect sorts rows and writes by entity. order is that in which they come, so that a report can be compared with
// another.
func collect[T any](l *layout[T], writes []Write[T]) (entities map[string]*subject, order []string, err error) {
	entities = make(map[string]*subject)
	of := func(id string) *subject {
		e, ok := entities[id]
		if !ok {
			e = &subject{rows: make([][]int32, len(l.tables))}
			entities[id] = e
			order = append(order, id)
		}
		return e
	}
	base := &l.tables[0]
	for n := range writes {
		values, err := l.image(writes[n].Row, 0)
		if err != nil {
			return nil, nil, fmt.Errorf("%w, of the write by %s", err, writes[n].By)
		}
		e := of(base.id(values))
		e.writes = append(e.writes, int32(n))
	}
	for t := range l.tables {
		p := &l.tables[t]
		for n := range p.Rows {
			e := of(p.id(p.Rows[n].Values))
			e.rows[t] = append(e.rows[t], int32(n))
		}
	}
	return entities, order, nil
}
