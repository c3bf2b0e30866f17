package history

import "fmt"

// Check holds the contents of the tables of a set against all writes that were attempted. The contents are those of
// a quiet cluster, and the tables hold nothing but what these writes put there. It finds nothing in a set whose key
// columns are immutable or OneOf if every acknowledged write is complete.
//
// One fault is one finding, of the kind that says most: a value that nobody wrote is a phantom and not also a
// difference, and a row that differs is not also of unequal WRITETIME. The error is not nil if a row cannot be encoded.
func Check[T any](contents *Contents[T], writes []Write[T]) (*Report, error) {
	report := &Report{Writes: len(writes)}
	entities, err := collect(contents, writes, report)
	if err != nil {
		return nil, err
	}
	report.Entities = len(entities)
	for _, t := range contents.Tables {
		report.Rows += len(t.Rows)
	}
	for _, c := range entities {
		if err := c.check(); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// collect sorts rows and writes by entity, in the order in which they come, so that a report can be compared with
// another.
func collect[T any](contents *Contents[T], writes []Write[T], report *Report) (entities []*checker[T], err error) {
	byID := make(map[string]*checker[T])
	of := func(values map[string][]byte) *checker[T] {
		id := contents.id(values)
		if byID[id] == nil {
			byID[id] = &checker[T]{Contents: contents, report: report, rows: make([][]*Row, len(contents.Tables))}
			entities = append(entities, byID[id])
		}
		return byID[id]
	}
	for n := range writes {
		w := &writes[n]
		values, err := contents.image(w.Row, w.Timestamp)
		if err != nil {
			return nil, fmt.Errorf("%w, of the write by %s", err, w.By)
		}
		e := of(values)
		e.images = append(e.images, &image[T]{w, values, w.Timestamp})
	}
	for t := range contents.Tables {
		rows := contents.Tables[t].Rows
		for n := range rows {
			e := of(rows[n].Values)
			e.rows[t] = append(e.rows[t], &rows[n])
		}
	}
	return entities, nil
}
