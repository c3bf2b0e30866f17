package tablerow

import (
	"slices"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
)

// Cell renders what a patch of one column puts into a table for the entity of the row, which is of a set that takes [entity.Patch]. from has the
// value; without it the column alone becomes null. Neither this nor a value that expires writes a row marker. A collection that is not
// frozen cannot be put so.
func (r Row) Cell(name string, from *Row, to Layout, as statement.Written, keyspace func(string) string) (statement.Mutation, error) {
	x, err := r.renderer(entity.Patch, as.At, keyspace)
	if err != nil {
		return statement.Mutation{}, err
	}
	s, t := r.layout.Set, to.Table
	c := slices.IndexFunc(s.Columns, func(c layout.Column) bool { return c.Name == name })
	switch {
	case from == nil:
		return mergeOne(x, t, name, &cqltype.Value{Type: s.Columns[c].CQL}, 0), nil
	case as.Ends != 0:
		return mergeOne(x, t, name, &from.values[c], as.Last()), nil
	}
	p, key := x.Place(t), t.KeyOf(x.Before)
	m := x.Mutation(p, statement.Put, key)
	m.Statement, m.Names = statement.PutText(statement.Qualified(p.Keyspace, p.Name), append(slices.Clone(t.KeyNames), name), false)
	m.Args = append(statement.AppendArgs(nil, key), &from.values[c], x.At)
	return m, nil
}

// mergeOne is a Merge that puts one column of the row at hand into t.
func mergeOne(x *entity.Renderer, t *layout.Table, name string, v *cqltype.Value, expiresAt int64) statement.Mutation {
	key := t.KeyOf(x.Before)
	m := x.Mutation(x.Place(t), statement.Merge, key)
	m.SetMerge(t.KeyNames, key, x.At, []statement.MergeColumn{{Name: name, Kind: statement.PutColumn, Value: v}}, expiresAt)
	return m
}

// KeyRow renders the row of the entity in a table, with its key alone: what an Insert leaves there of an entity whose other columns in that table
// are absent, or of a table that has no others. as is when it was written.
func (r Row) KeyRow(to Layout, as statement.Written, keyspace func(string) string) (statement.Mutation, error) {
	x, err := r.renderer(entity.Patch, as.At, keyspace)
	if err != nil {
		return statement.Mutation{}, err
	}
	p, key := x.Place(to.Table), to.Table.KeyOf(x.Before)
	m := x.Mutation(p, statement.Put, key)
	m.Statement, m.Names = statement.PutText(statement.Qualified(p.Keyspace, p.Name), to.Table.KeyNames, as.Ends != 0)
	m.Args, m.Expires = statement.AppendArgs(nil, key), as.Last()
	if as.Ends != 0 {
		m.Args = append(m.Args, cqltype.Int(statement.MaxTTL))
	}
	m.Args = append(m.Args, x.At)
	return m, nil
}
