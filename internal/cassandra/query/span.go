package query

import (
	"slices"

	"github.com/denorm-go/denorm/internal/cassandra/replica"
)

// each visits the rows of a partition that the clustering columns restrict it to, in the order of the result, up to the
// first for which visit says no.
func (e *run) each(p *replica.Partition, from *position, visit func(*replica.Row) (bool, error)) error {
	for _, span := range e.spans {
		rows := within(p.Rows, span, e.table.Compare)
		for i := range rows {
			row := rows[i]
			if e.reversed {
				row = rows[len(rows)-1-i]
			}
			if from != nil && e.before(row.Key, from.row) {
				continue
			}
			if more, err := visit(row); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// restricted are the ranges of rows that the clustering columns are restricted to, in the order of the result, without
// those that are empty.
func (e *run) restricted() ([]replica.Range, error) {
	prefixes, err := product(e.env, e.where.equalities())
	if err != nil {
		return nil, err
	}
	var spans []replica.Range
	for _, prefix := range prefixes {
		span, err := e.where.span(e.env, prefix)
		if err != nil {
			return nil, err
		}
		if !span.Empty(e.table.Compare) {
			spans = append(spans, span)
		}
	}
	slices.SortStableFunc(spans, func(a, b replica.Range) int { return e.table.Compare(a.From.Prefix, b.From.Prefix) })
	if e.reversed {
		slices.Reverse(spans)
	}
	return spans, nil
}

// before says whether a row was in a page that ends with last.
func (e *run) before(row, last [][]byte) bool {
	c := e.table.Compare(row, last)
	return c == 0 || (c < 0) != e.reversed
}

// within are the rows of a range.
func within(rows []*replica.Row, span replica.Range, compare replica.Compare) []*replica.Row {
	search := func(b replica.Bound, after bool) int {
		i, _ := slices.BinarySearchFunc(rows, b.Prefix, func(r *replica.Row, prefix [][]byte) int {
			if c := compare(r.Key, prefix); c != 0 || !after {
				if c == 0 {
					return 1
				}
				return c
			}
			return -1
		})
		return i
	}
	first, end := search(span.From, !span.From.Inclusive), search(span.To, span.To.Inclusive)
	return rows[first:max(first, end)]
}
