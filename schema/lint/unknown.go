package lint

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cqlname"
	"github.com/denorm-go/denorm/schema"
)

// table gives the table that a query names, and what a query of it may name: the columns of the table, or of the one that a materialized
// view is of. The table is nil for a view, and one of several that rotate stands for all of them.
func (r *review) table(id schema.ID) (t *schema.Table, columns []schema.Column, known bool) {
	if t := r.byID[id]; t != nil {
		return t, t.Columns, true
	}
	for i := range r.schema.Views {
		if v := &r.schema.Views[i]; v.ID == id {
			if base := r.byID[schema.ID{Keyspace: v.Keyspace, Name: v.Base}]; base != nil {
				columns = base.Columns
			}
			return nil, columns, true
		}
	}
	for _, t := range r.rotating {
		if _, of := t.Rotation.Of(id.Name); of && t.Keyspace == id.Keyspace {
			return t, t.Columns, true
		}
	}
	return nil, nil, false
}

// own says whether a keyspace is Cassandra's own.
func own(keyspace string) bool {
	return keyspace == "system" || keyspace == "dse_system" || strings.HasPrefix(keyspace, "system_")
}

// described says whether the schema has anything of a keyspace. That of the session, whose name is empty, it has to have.
func (r *review) described(keyspace string) bool {
	s := r.schema
	return keyspace == "" || s.Keyspace(keyspace) != nil ||
		slices.ContainsFunc(s.Tables, func(t schema.Table) bool { return t.Keyspace == keyspace }) ||
		slices.ContainsFunc(s.Views, func(v schema.View) bool { return v.Keyspace == keyspace })
}

func unknownTable(r *review) {
	for i := range r.schema.Queries {
		q := &r.schema.Queries[i]
		if _, _, known := r.table(q.Table); known || own(q.Table.Keyspace) {
			continue
		}
		t := &schema.Table{ID: q.Table}
		meant := r.meant(q.Table)
		if r.described(q.Table.Keyspace) {
			r.finding(t, "correct the name, or review the query with the file that creates the table",
				"a query of a table that the schema does not have%s", meant).of(q)
			continue
		}
		r.finding(t, "review the query with the file that creates the table",
			"no rule looks at a query of it, as the schema has nothing of keyspace %s%s", q.Table.Keyspace, meant).Severity = Note
		r.found[len(r.found)-1].of(q)
	}
}

// meant says which table may be meant by a name that none has: one of this name in another keyspace, or of a similar one in the same.
func (r *review) meant(id schema.ID) string {
	var ids []schema.ID
	for _, t := range r.schema.Tables {
		ids = append(ids, t.ID)
	}
	for _, v := range r.schema.Views {
		ids = append(ids, v.ID)
	}
	var names []string
	for _, other := range ids {
		if other.Name == id.Name {
			return ": did you mean " + other.String() + "?"
		}
		if other.Keyspace == id.Keyspace {
			names = append(names, other.Name)
		}
	}
	return cqlname.Meant(id.Name, names)
}

func unknownColumn(r *review) {
	for i := range r.schema.Queries {
		q := &r.schema.Queries[i]
		t, columns, _ := r.table(q.Table)
		if len(columns) == 0 {
			continue
		}
		if t == nil {
			t = &schema.Table{ID: q.Table}
		}
		var has []string
		for _, c := range columns {
			has = append(has, c.Name)
		}
		for _, name := range q.Columns {
			if !slices.Contains(has, name) {
				f := r.finding(t, "correct the name, or add the column to the table", "a query names a column %s, which the table does not have%s",
					name, cqlname.Meant(name, has))
				f.Column = name
				f.of(q)
			}
		}
	}
}
