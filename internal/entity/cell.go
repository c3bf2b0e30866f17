package entity

import (
	"slices"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
)

// Cell renders what a patch of one column puts into a table for the entity of the row, which is of a set that takes [Patch]. from has the
// value; without it the column alone becomes null. Neither this nor a value that expires writes a row marker. A collection that is not
// frozen cannot be put so.
func (r TableRow) Cell(name string, from *TableRow, to Layout, as statement.Written, keyspace func(string) string) (statement.Mutation, error) {
	x, err := r.renderer(Patch, as.At, keyspace)
	if err != nil {
		return statement.Mutation{}, err
	}
	s, t := r.layout.Set, to.Table
	c := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == name })
	switch {
	case from == nil:
		return x.mergeOne(t, name, &cqltype.Value{Type: s.Columns[c].CQL}, 0), nil
	case as.Ends != 0:
		return x.mergeOne(t, name, &from.values[c], as.Last()), nil
	}
	p, key := x.place(t), t.KeyOf(x.before)
	m := x.mutation(p, statement.Put, key)
	m.Statement, m.Names = statement.PutText(statement.Qualified(p.keyspace, p.name), append(slices.Clone(t.KeyNames), name), false)
	m.Args = append(statement.AppendArgs(nil, key), &from.values[c], x.at)
	return m, nil
}

// KeyRow renders the row of the entity in a table, with its key alone: what an Insert leaves there of an entity whose other columns in that table
// are absent, or of a table that has no others. as is when it was written.
func (r TableRow) KeyRow(to Layout, as statement.Written, keyspace func(string) string) (statement.Mutation, error) {
	x, err := r.renderer(Patch, as.At, keyspace)
	if err != nil {
		return statement.Mutation{}, err
	}
	p, key := x.place(to.Table), to.Table.KeyOf(x.before)
	m := x.mutation(p, statement.Put, key)
	m.Statement, m.Names = statement.PutText(statement.Qualified(p.keyspace, p.name), to.Table.KeyNames, as.Ends != 0)
	m.Args, m.Expires = statement.AppendArgs(nil, key), as.Last()
	if as.Ends != 0 {
		m.Args = append(m.Args, cqltype.Int(statement.MaxTTL))
	}
	m.Args = append(m.Args, x.at)
	return m, nil
}

// mergeOne is a Merge that puts one column of the row at hand into t.
func (r *renderer) mergeOne(t *Table, name string, v *cqltype.Value, expiresAt int64) statement.Mutation {
	r.merge(r.place(t), t.KeyOf(r.before), []statement.MergeColumn{{Name: name, Kind: statement.PutColumn, Value: v}}, expiresAt)
	return r.out[len(r.out)-1]
}
