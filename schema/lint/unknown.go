package lint

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/schema"
)

// table gives the table that a query names, and what a query of it may name: the columns of the table, or of the one that a materialized
// view is of. The table is nil for a view, and one of several that rotate stands for all of them.
func (r *review) table(id schema.ID) (t *schema.Table, columns []schema.Column, known bool) {
	if t := r.byID[id]; t != nil {
		return t, t.Columns, true
	}
	for _, v := range r.schema.Views {
		if v.ID == id {
			if base := r.byID[schema.ID{Keyspace: v.Keyspace, Name: v.Base}]; base != nil {
				columns = base.Columns
			}
			return nil, columns, true
		}
	}
	for _, t := range r.tables() {
		if t.Keyspace == id.Keyspace && t.Rotates(id.Name) {
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

// creates matches a statement that creates a table or a view, with the keyspace and the name.
var creates = regexp.MustCompile(
	`(?i)^CREATE (?:TABLE|COLUMNFAMILY|MATERIALIZED VIEW) (?:IF NOT EXISTS )?(?:"?(\w+)"? ?\. ?)?"?(\w+)"?`)

// createUnread says whether the statement that creates a table or a view of this name was not understood: the server may well have the table.
func (r *review) createUnread(id schema.ID) bool {
	return slices.ContainsFunc(r.schema.Unread, func(u schema.Unread) bool {
		m := creates.FindStringSubmatch(u.Text)
		return m != nil && strings.EqualFold(m[2], id.Name) && (m[1] == "" || strings.EqualFold(m[1], id.Keyspace))
	})
}

func unknownTable(r *review) {
	for _, e := range r.schema.Entities {
		for _, id := range e.Tables {
			r.unknownNote(id, "denorm:entity "+e.Name, e.At)
		}
	}
	for _, v := range r.schema.Volumes {
		r.unknownNote(v.Table, "denorm:volume", v.At)
	}
	for _, d := range r.schema.Domains {
		r.unknownNote(d.Table, "denorm:domain", d.At)
	}
	const correct = "correct the name, or pass the file that creates the table as well"
	for _, x := range r.schema.Indexes {
		if id := (schema.ID{Keyspace: x.Keyspace, Name: x.Table}); r.byID[id] == nil && !r.createUnread(id) {
			r.finding(&schema.Table{ID: id}, correct, "index %s is on a table that the schema does not have%s", x.Name, r.meant(id)).at(x.At)
		}
	}
	for _, v := range r.schema.Views {
		if id := (schema.ID{Keyspace: v.Keyspace, Name: v.Base}); r.byID[id] == nil && !r.createUnread(id) {
			r.finding(&schema.Table{ID: v.ID}, correct, "materialized view %s is of a table that the schema does not have%s", v.Name, r.meant(id)).at(v.At)
		}
	}
	for i := range r.schema.Queries {
		q := &r.schema.Queries[i]
		if _, _, known := r.table(q.Table); known || own(q.Table.Keyspace) {
			continue
		}
		t := &schema.Table{ID: q.Table}
		if r.createUnread(q.Table) {
			r.finding(t, "see what DN508 says of the statement that creates the table",
				"no rule looks at a query of it, as the statement that creates the table is not understood").of(q).Severity = Note
			continue
		}
		if r.described(q.Table.Keyspace) {
			r.finding(t, "correct the name, or review the query with the file that creates the table",
				"a query of a table that the schema does not have%s", r.meant(q.Table)).of(q)
			continue
		}
		r.finding(t, "review the query with the file that creates the table",
			"no rule looks at a query of it, as the schema has nothing of keyspace %s%s", q.Table.Keyspace, r.meant(q.Table)).of(q).Severity = Note
	}
}

// unknownNote reports a note of a file that names a table which the schema does not have.
func (r *review) unknownNote(id schema.ID, note string, at schema.Position) {
	if _, _, known := r.table(id); known || at.Line == 0 { // what Go declares is checked there
		return
	}
	f := r.finding(&schema.Table{ID: id}, "correct the name, or review the note with the file that creates the table",
		"%s names a table that the schema does not have, and is ignored%s", note, r.meant(id))
	f.At, f.Severity = at, Warning
	if !r.described(id.Keyspace) {
		f.Severity = Note
	}
}

// unknownIn reports a column of a note that none of some tables has.
func (r *review) unknownIn(tables []schema.ID, note, column string, at schema.Position) {
	var has []string
	var first *schema.Table
	for _, id := range tables {
		t, columns, known := r.table(id)
		if !known || at.Line == 0 {
			return // unknownTable tells of it
		}
		if first == nil {
			first = t
		}
		has = append(has, names(columns)...)
	}
	if first == nil || slices.Contains(has, column) {
		return
	}
	f := r.finding(first, "correct the name", "%s names a column %s, which the table does not have, and is ignored%s", note, column,
		cql.Meant(column, has))
	f.Column, f.At, f.Severity = column, at, Warning
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
	return cql.Meant(id.Name, names)
}

func unknownColumn(r *review) {
	lacks := func(t *schema.Table, named, column string, has []schema.Column) *Finding {
		f := r.finding(t, "correct the name, or add the column to the table", "%s a column %s, which the table does not have%s", named, column,
			cql.Meant(column, names(has)))
		f.Column = column
		return f
	}
	for _, e := range r.schema.Entities {
		for _, name := range e.Moves {
			r.unknownIn(e.Tables, "denorm:entity "+e.Name, name, e.At)
		}
	}
	for _, v := range r.schema.Volumes {
		for _, columns := range []map[string]float64{v.Width, v.Elements, v.Filled} {
			for _, name := range slices.Sorted(maps.Keys(columns)) {
				r.unknownIn([]schema.ID{v.Table}, "denorm:volume", name, v.At)
			}
		}
	}
	for x, t := range r.indexes {
		if name := x.Column(); name != "" && t.Column(name) == nil {
			lacks(t, "index "+x.Name+" is on", name, t.Columns).at(x.At)
		}
	}
	for _, v := range r.schema.Views {
		if base := r.byID[schema.ID{Keyspace: v.Keyspace, Name: v.Base}]; base != nil {
			for _, c := range v.Columns {
				if base.Column(c.Name) == nil {
					lacks(base, "materialized view "+v.Name+" has", c.Name, base.Columns).at(v.At)
				}
			}
		}
	}
	for _, d := range r.schema.Domains {
		r.unknownIn([]schema.ID{d.Table}, "denorm:domain", d.Column, d.At)
	}
	for i := range r.schema.Queries {
		q := &r.schema.Queries[i]
		t, columns, _ := r.table(q.Table)
		if len(columns) == 0 {
			continue
		}
		if t == nil {
			t = &schema.Table{ID: q.Table}
		}
		has := names(columns)
		for _, name := range q.Columns {
			if !slices.Contains(has, name) {
				lacks(t, "a query names", name, columns).of(q)
			}
		}
	}
}

func unread(r *review) {
	for _, u := range r.schema.Unread {
		f := r.finding(&schema.Table{}, "correct the statement, or pass the files that create what it changes before this one", "%s", u.Reason)
		f.Query, f.At = u.Text, u.At
		verb, _, _ := strings.Cut(strings.ToUpper(u.Text), " ")
		_, why, _ := strings.Cut(u.Reason, ": ")
		wrong := strings.Contains(u.Reason, ": want ") || strings.Contains(u.Reason, "Unmatched column")
		switch {
		case strings.HasPrefix(why, "DROP of "):
			f.Fix = "leave it out of what is run on a cluster with rows"
		case strings.HasPrefix(why, "TRUNCATE "):
			f.Fix, f.Severity = "another table for each load; or accept it, in tests", Note
		case strings.HasPrefix(why, "option "):
			f.Fix, f.Severity = "leave it out, or write it as Cassandra has it", Error
		case strings.HasPrefix(u.Text, "--"):
			f.Fix, f.Severity = "correct the note", Error // what it says is not known, so the review is another than is wanted
		case wrong && slices.Contains(strings.Fields("CREATE ALTER DROP SELECT INSERT UPDATE DELETE BEGIN TRUNCATE"), verb):
			f.Severity = Error // no server reads it either
		}
	}
}
