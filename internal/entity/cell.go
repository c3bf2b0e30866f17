package entity

import "slices"

// Cell renders what a patch of one column puts into a table for the entity of the row, which is of a set that takes [Patch]. from has the
// value; without it the column alone becomes null. Neither this nor a value that expires writes a row marker. A collection that is not
// frozen cannot be put so.
func (r TableRow) Cell(name string, from *TableRow, to Layout, as Written, keyspace func(string) string) (Mutation, error) {
	x, err := r.renderer(Patch, as.At, keyspace)
	if err != nil {
		return Mutation{}, err
	}
	s, t := r.layout.set, to.table
	c := slices.IndexFunc(s.columns, func(c column) bool { return c.name == name })
	switch {
	case from == nil:
		return x.mergeOne(t, name, &Value{typ: s.columns[c].cql}, 0), nil
	case as.Ends != 0:
		return x.mergeOne(t, name, &from.values[c], as.last()), nil
	}
	p, key := x.place(t), t.keyOf(x.before)
	m := x.mutation(p, Put, key)
	m.Statement, m.Names = putText(qualified(p.keyspace, p.name), append(slices.Clone(t.keyNames), name), false)
	m.Args = append(appendValues(nil, key), &from.values[c], x.at)
	return m, nil
}

// KeyRow renders the row of the entity in a table, with its key alone: what an Insert leaves there of an entity whose other columns in that table
// are absent, or of a table that has no others. as is when it was written.
func (r TableRow) KeyRow(to Layout, as Written, keyspace func(string) string) (Mutation, error) {
	x, err := r.renderer(Patch, as.At, keyspace)
	if err != nil {
		return Mutation{}, err
	}
	p, key := x.place(to.table), to.table.keyOf(x.before)
	m := x.mutation(p, Put, key)
	m.Statement, m.Names = putText(qualified(p.keyspace, p.name), to.table.keyNames, as.Ends != 0)
	m.Args, m.expiresAt = appendValues(nil, key), as.last()
	if as.Ends != 0 {
		m.Args = append(m.Args, encodeInt(maxTTL))
	}
	m.Args = append(m.Args, x.at)
	return m, nil
}

// mergeOne is a Merge that puts one column of the row at hand into t.
func (r *renderer) mergeOne(t *table, name string, v *Value, expiresAt int64) Mutation {
	r.merge(r.place(t), t.keyOf(r.before), []mergeColumn{{name, PutColumn, v}}, expiresAt)
	return r.out[len(r.out)-1]
}
