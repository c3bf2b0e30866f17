package entity

import (
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
)

// This file is about sets that count: their declaration, their one verb, and its mutations.

// count appends the Increment of the row of t. Zeros are left out, and the row if nothing else is left.
func (r *Renderer) count(t *layout.Table) {
	key := t.KeyOf(r.After)
	if !statement.Present(key) {
		return
	}
	start := len(r.args)
	var names []string // of the counters that are not zero
	for _, i := range t.Counters {
		if v := &r.After[i]; !cqltype.IsZero(v.Data) {
			r.args, names = append(r.args, v), append(names, r.Set.Columns[i].Name)
		}
	}
	if names == nil {
		return
	}
	r.args = statement.AppendArgs(r.args, key)
	p := r.Place(t)
	m := r.Mutation(p, statement.Increment, key)
	m.Timestamp, m.Args = 0, r.args[start:len(r.args):len(r.args)]
	if len(names) == len(t.Counters) {
		m.Statement, m.Names = p.text.Increment, p.text.IncrementNames
	} else {
		m.Statement, m.Names = statement.IncrementText(statement.Qualified(p.Keyspace, p.Name), names, t.KeyNames)
	}
	r.Out = append(r.Out, m)
}
