package lint

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/schema"
)

// table gives the table or the view that a query names, nil for a view without columns. One of several tables that
// rotate stands for all of them.
func (r *review) table(id schema.ID) (t *schema.Table, known bool) {
	if t, known := r.byID[id]; known {
		return t, true
	}
	for _, t := range r.rotating {
		if t.Keyspace == id.Keyspace && t.Rotates(id.Name) {
			return t, true
		}
	}
	return nil, false
}

// own says whether a keyspace is Cassandra's own.
func own(keyspace string) bool {
	return keyspace == "system" || keyspace == "dse_system" || strings.HasPrefix(keyspace, "system_")
}

// described says whether the schema has anything of a keyspace. That of the session, whose name is empty, it has to
// have.
func (r *review) described(keyspace string) bool {
	_, known := r.names[keyspace]
	return known || keyspace == ""
}

// creates matches a statement that creates a table or a view, with the keyspace and the name.
var creates = regexp.MustCompile(
	`(?i)^CREATE (?:TABLE|COLUMNFAMILY|MATERIALIZED VIEW) (?:IF NOT EXISTS )?(?:"?(\w+)"? ?\. ?)?"?(\w+)"?`)

// createUnread says whether the statement that creates a table or a view of this name was not understood: the server
// may well have the table.
func (r *review) createUnread(id schema.ID) bool {
	keyspace, name := strings.ToLower(id.Keyspace), strings.ToLower(id.Name)
	return r.unread[schema.ID{Keyspace: keyspace, Name: name}] || r.unread[schema.ID{Name: name}]
}

// index takes down what the schema has by name.
func (r *review) index() {
	for _, k := range r.schema.Keyspaces {
		r.names[k.Name] = nil
	}
	add := func(id schema.ID) {
		r.names[id.Keyspace] = append(r.names[id.Keyspace], id.Name)
		if _, known := r.called[id.Name]; !known {
			r.called[id.Name] = id
		}
	}
	for _, t := range r.tables() {
		add(t.ID)
		if t.At.Line == 0 { // no text has one that rotates
			r.rotating = append(r.rotating, t)
		}
	}
	for _, v := range r.schema.Views {
		add(v.ID)
	}
	for i := range r.schema.Indexes {
		x := &r.schema.Indexes[i]
		id := schema.ID{Keyspace: x.Keyspace, Name: x.Table}
		r.indexesOf[id] = append(r.indexesOf[id], x)
	}
	for _, u := range r.schema.Unread {
		if m := creates.FindStringSubmatch(u.Text); m != nil {
			r.unread[schema.ID{Keyspace: strings.ToLower(m[1]), Name: strings.ToLower(m[2])}] = true
		}
	}
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
		if _, known := r.table(q.Table); known || own(q.Table.Keyspace) {
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
	if _, known := r.table(id); known || at.Line == 0 { // what Go declares is checked there
		return
	}
	r.finding(&schema.Table{ID: id}, "correct the name, or review the note with the file that creates the table",
		"%s names a table that the schema does not have, and is ignored%s", note, r.meant(id)).
		at(at).as(Warning).when(!r.described(id.Keyspace), Note)
}

// unknownIn reports columns of a note that none of some tables has.
func (r *review) unknownIn(tables []schema.ID, note string, at schema.Position, columns ...string) {
	var in []*schema.Table
	has := make(map[string]bool)
	for _, id := range tables {
		t, known := r.table(id)
		if !known || t == nil || at.Line == 0 || len(columns) == 0 {
			return // unknownTable tells of it
		}
		in = append(in, t)
		if len(tables) > 1 {
			maps.Copy(has, r.columnsOf(t))
		} else {
			has = r.columnsOf(t)
		}
	}
	for _, column := range columns {
		if !has[column] {
			f := r.finding(in[0], "correct the name", "%s names a column %s, which the table does not have, and is ignored%s", note, column,
				r.similar(column, in...))
			f.Column, f.At, f.Severity = column, at, Warning
		}
	}
}

// columnsOf has the columns of a table by name.
func (r *review) columnsOf(t *schema.Table) map[string]bool {
	if r.columns[t] == nil {
		r.columns[t] = make(map[string]bool, len(t.Columns))
		for _, c := range t.Columns {
			r.columns[t][c.Name] = true
		}
	}
	return r.columns[t]
}

// mostCompared bounds how many names are compared with unknown ones: a text may have many of both.
const mostCompared = 100_000

// similar says which column of some tables may be meant by a name that is unknown.
func (r *review) similar(name string, in ...*schema.Table) string {
	var all []string
	for _, t := range in {
		if r.compared += len(t.Columns); r.compared > mostCompared {
			return ""
		}
		all = append(all, names(t.Columns)...)
	}
	return cql.Meant(name, all)
}

// meant says which table may be meant by a name that none has: one of this name in another keyspace, or of a similar
// one in the same.
func (r *review) meant(id schema.ID) string {
	if other, known := r.called[id.Name]; known {
		return ": did you mean " + other.String() + "?"
	}
	names := r.names[id.Keyspace]
	if r.compared += len(names); r.compared > mostCompared {
		return ""
	}
	return cql.Meant(id.Name, names)
}

// mostUnknown is how many unknown columns of a query are reported: each shows the query.
const mostUnknown = 20

func unknownColumn(r *review) {
	lacks := func(t *schema.Table, named, column string) *Finding {
		f := r.finding(t, "correct the name, or add the column to the table", "%s a column %s, which the table does not have%s", named, column,
			r.similar(column, t))
		f.Column = column
		return f
	}
	for _, e := range r.schema.Entities {
		r.unknownIn(e.Tables, "denorm:entity "+e.Name, e.At, slices.Concat(e.Moves, e.ID)...)
	}
	for _, v := range r.schema.Volumes {
		for _, columns := range []map[string]float64{v.Width, v.Elements, v.Filled} {
			r.unknownIn([]schema.ID{v.Table}, "denorm:volume", v.At, slices.Sorted(maps.Keys(columns))...)
		}
	}
	for x, t := range r.indexes {
		if name := x.Column(); name != "" && !r.columnsOf(t)[name] {
			lacks(t, "index "+x.Name+" is on", name).at(x.At)
		}
	}
	for _, v := range r.schema.Views {
		if base := r.byID[schema.ID{Keyspace: v.Keyspace, Name: v.Base}]; base != nil {
			for _, c := range v.Columns {
				if !r.columnsOf(base)[c.Name] {
					lacks(base, "materialized view "+v.Name+" has", c.Name).at(v.At)
				}
			}
		}
	}
	for _, d := range r.schema.Domains {
		r.unknownIn([]schema.ID{d.Table}, "denorm:domain", d.At, d.Column)
	}
	for i := range r.schema.Queries {
		q := &r.schema.Queries[i]
		told := 0
		t, _ := r.table(q.Table)
		for _, name := range q.Columns {
			if t != nil && told < mostUnknown && !r.columnsOf(t)[name] {
				told++
				lacks(t, "a query names", name).of(q)
			}
		}
	}
}

var (
	// optionOf matches what has an option that is not read.
	optionOf = regexp.MustCompile(`^(option \S+) of [^:]+`)
	// invalid matches why no server reads a statement either.
	invalid = regexp.MustCompile(`: want |Unmatched column|which is no clustering column|PRIMARY KEY|is declared twice|is not one of the columns`)
	// unclosed matches why all that follows was not read either.
	unclosed = regexp.MustCompile(`without (its )?end$`)
	// repeated matches the reasons of statements that are told once of a file.
	repeated = regexp.MustCompile(`^(option|TRUNCATE|DROP of) |the text does not create it before$`)
)

func unread(r *review) {
	of := make(map[string]int) // the first finding for each fault of a file
	more := make(map[int]int)
	for _, u := range r.schema.Unread {
		verb, _, _ := strings.Cut(strings.ToUpper(u.Text), " ")
		_, why, _ := strings.Cut(u.Reason, ": ")
		fault := u.At.File + "\n" + optionOf.ReplaceAllString(why, "$1")
		if first, told := of[fault]; told && repeated.MatchString(why) {
			more[first]++
			continue
		}
		of[fault] = len(r.found)
		f := r.finding(&schema.Table{}, "correct the statement, or pass the files that create what it changes before this one", "%s", u.Reason)
		f.Query, f.At = u.Text, u.At
		wrong := invalid.MatchString(u.Reason)
		switch {
		case strings.HasPrefix(why, "DROP of "):
			f.Fix = "leave it out of what is run on a cluster with rows"
		case strings.HasPrefix(why, "TRUNCATE "):
			f.Fix, f.Severity = "another table for each load; or accept it, in tests", Note
		case strings.HasPrefix(why, "option ") && strings.HasSuffix(why, " in 5.0"): // and has it in 4.1
			f.Fix = "leave it out, or write it as Cassandra has it"
		case strings.HasPrefix(why, "option "):
			f.Fix, f.Severity = "leave it out, or write it as Cassandra has it", Error
		case strings.HasPrefix(u.Text, "--"):
			f.Fix, f.Severity = "correct the note", Error // what it says is not known, so the review is another than is wanted
		case unclosed.MatchString(why):
			f.Fix, f.Severity = "close it: the rest of the file was not read", Error
		case wrong && slices.Contains(strings.Fields("CREATE ALTER DROP SELECT INSERT UPDATE DELETE BEGIN TRUNCATE"), verb):
			f.Severity = Error // no server reads it either
		}
	}
	for first, n := range more {
		r.found[first].Reason += fmt.Sprintf(", and %d more like it", n)
	}
}
