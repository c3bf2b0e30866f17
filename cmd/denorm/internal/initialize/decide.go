package initialize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
)

// listed are the types of columns whose values may be listed, unless they are ids.
var listed = cql.WordSet("text varchar ascii boolean tinyint smallint")

// decide finds the columns of keys that may change, and what the statements and values say of them.
func (p *Plan) decide(e *Entity) {
	if e.set.Counts || len(e.declaration.Versions) > 0 {
		return
	}
	quiet := -1 // the decision on all columns that nothing is said of
	for i, c := range e.set.Columns {
		if !c.Key || e.set.Identifies(i) || slices.Contains(e.set.Tables[0].Key, i) {
			continue
		}
		d := Decision{Columns: []string{c.Name}}
		for _, t := range e.set.Tables {
			if slices.Contains(t.Key, i) {
				d.Tables = append(d.Tables, t.Name)
			}
		}
		d.Says = append(d.Says, p.moves(e, c.Name)...)
		values := "..."
		if e.Sample != nil && len(e.Sample.Values[c.Name]) > 0 {
			values = strings.Join(e.Sample.Values[c.Name], ", ")
			d.Says = append(d.Says, fmt.Sprintf("%d values in %d rows that were read", len(e.Sample.Values[c.Name]), e.Sample.Rows))
		}
		if text := e.Tables[0].Column(c.Name).Type; listed[text] && (text == "boolean" || !strings.HasSuffix(c.Name, "id")) {
			d.Options = []Option{
				{fmt.Sprintf("tables.OneOf(%q, %s)", c.Name, values), "if these are all its values; the last write wins; a tombstone for each other value"},
				{"tables.UnstampedRows()", "with OneOf, until the rows are adopted"},
			}
		}
		if e.Expires == "" && e.Tables[0].TTL() == 0 { // else Versioned is rejected
			d.Options = append(d.Options,
				Option{`tables.Versioned("version")`, "a field Version gocql.UUID in place of the stamp; a lightweight transaction a write"})
		}
		d.Options = append(d.Options,
			Option{fmt.Sprintf("tables.SingleWriter(%q)", c.Name), "if changes of an entity never overlap; else a stale row stays"})
		if len(d.Says) == 0 && quiet >= 0 {
			q := &e.Decisions[quiet]
			q.Columns, q.Tables = append(q.Columns, c.Name), each.Once(append(q.Tables, d.Tables...))
			q.Options = each.Once(append(q.Options, d.Options...))
			slices.SortFunc(q.Options, func(a, b Option) int { return strings.Compare(a.Go, b.Go) })
			continue
		} else if len(d.Says) == 0 {
			quiet = len(e.Decisions)
		}
		e.Decisions = append(e.Decisions, d)
	}
}

// moves says which statements change a column that is in the key of a query table.
func (p *Plan) moves(e *Entity, column string) (says []string) {
	for _, q := range p.schema.Queries {
		i := e.index(q.Table)
		update, ok := q.Statement.(*ast.Update)
		switch {
		case i < 0:
		case ok && slices.ContainsFunc(update.Set, func(a ast.Assignment) bool { return a.Target.Column == column }):
			says = append(says, "an UPDATE of "+q.Table.Name+" sets it"+at(q.At))
		case q.Verb == "INSERT" && q.Batch > 0 && inKey(e.Tables[i].Table, column) && slices.ContainsFunc(p.schema.Queries,
			func(d schema.Query) bool { return d.Verb == "DELETE" && d.Batch == q.Batch && d.Table == q.Table }):
			says = append(says, "a batch deletes and inserts a row of "+q.Table.Name+at(q.At))
		}
	}
	return says
}

// index is which of the tables of the entity one is, or -1.
func (e *Entity) index(id schema.ID) int {
	return slices.IndexFunc(e.Tables, func(t Table) bool { return t.ID == id })
}

// shown are the rules of lint about statements that somebody who adopts the tables has to know of.
var shown = strings.Fields("DN302 DN501 DN502 DN504 DN506 DN507 DN508 DN509 DN510 DN511 DN603")

// findings finds what statements say of the tables.
func (p *Plan) findings() {
	for _, f := range lint.Check(p.schema) {
		statement := f.Query != "" || f.Code == "DN508" // of one that cannot be read there is no more than its place
		if !slices.Contains(shown, f.Code) || f.Suppressed != "" || !statement {
			continue
		}
		if slices.Contains([]string{"DN501", "DN502", "DN504"}, f.Code) {
			f.Fix = p.serves(f)
		}
		p.Findings = append(p.Findings, f)
	}
	for _, e := range p.Entities {
		p.oneOfSeveral(e)
	}
}

// serves says which table would serve a query.
func (p *Plan) serves(f lint.Finding) string {
	i := slices.IndexFunc(p.schema.Queries, func(q schema.Query) bool { return q.Text == f.Query && q.At == f.At })
	if i < 0 {
		return f.Fix
	}
	q, of := p.schema.Queries[i], p.schema.Table(f.Table)
	ordered := each.Of(q.Order, func(o ast.Order) string { return o.Column })
	var equal, listed, ranged []string
	for _, w := range q.Where {
		switch {
		case !slices.Contains(strings.Fields("= IN < <= > >="), w.Operator): // no key serves it
			return f.Fix
		case w.Is("=") && !w.Tuple && !slices.ContainsFunc(w.Columns, func(name string) bool { return slices.Contains(ordered, name) }):
			equal = append(equal, w.Columns...)
		case w.Is("IN"):
			listed = append(listed, w.Columns...)
		default:
			ranged = append(ranged, w.Columns...)
		}
	}
	if of == nil || len(equal) == 0 {
		return f.Fix
	}
	unknown := func(c schema.Column) bool { return !slices.Contains(equal, c.Name) }
	for _, t := range p.schema.Tables {
		part := t.Of(schema.PartitionKey)
		if t.ID != of.ID && t.Keyspace == of.Keyspace && len(part) > 0 && !slices.ContainsFunc(part, unknown) && p.runs(q, t) {
			return "read it from " + t.String()
		}
	}
	t := *of
	t.Columns = nil
	for _, name := range each.Once(slices.Concat(equal, listed, ordered, ranged, namesOf(keyOf(of)))) {
		c := of.Column(name)
		if c == nil || leaves[c.Type].real == nil && !strings.HasPrefix(c.Type, "frozen<") || c.Type == "counter" || c.Type == "duration" {
			return f.Fix
		}
		t.Columns = append(t.Columns, schema.Column{Name: name, Type: c.Type, Kind: schema.Clustering})
		if !unknown(*c) {
			t.Columns[len(t.Columns)-1].Kind = schema.PartitionKey
		}
	}
	for _, c := range of.Columns {
		if t.Column(c.Name) == nil {
			t.Columns = append(t.Columns, c)
		}
	}
	if !p.runs(q, t) {
		return f.Fix
	}
	return "a query table with PRIMARY KEY " + t.Key()
}

// mostRun bounds the tables that are tried for queries: lint reviews each anew.
const mostRun = 1000

// runs says whether lint accepts a query, if it is of a table like this one.
func (p *Plan) runs(q schema.Query, t schema.Table) bool {
	if p.run++; p.run > mostRun {
		return false
	}
	t.ID, q.AllowFiltering = q.Table, false
	found := lint.Check(&schema.Schema{Types: p.schema.Types, Tables: []schema.Table{t}, Queries: []schema.Query{q}})
	return !slices.ContainsFunc(found, func(f lint.Finding) bool { return f.Query != "" && slices.Contains(shown, f.Code) })
}

// oneOfSeveral finds statements that do something in one table of an entity, and no statement does it in another one.
func (p *Plan) oneOfSeveral(e *Entity) {
	for _, verb := range []string{"INSERT", "UPDATE", "DELETE"} {
		all := slices.DeleteFunc(slices.Clone(p.schema.Queries), func(q schema.Query) bool { return q.Verb != verb || e.index(q.Table) < 0 })
		var without []string
		for _, t := range e.Tables {
			done := slices.ContainsFunc(all, func(q schema.Query) bool { return q.Table == t.ID })
			if len(all) > 0 && !done && (verb != "UPDATE" || t.changes(&all[0])) {
				without = append(without, t.Name)
			}
		}
		if len(without) == 0 {
			continue
		}
		q := &all[0]
		p.Findings = append(p.Findings, lint.Finding{
			Rule: "one-table-of-several", Severity: lint.Warning, Table: q.Table, Query: q.Text, At: q.At,
			Reason: fmt.Sprintf("no %s is of %s, which is of entity %s too", verb, strings.Join(without, ", "), e.Name), Fix: "one write of the set for all tables",
		})
	}
}

// changes says whether a table has a column that an UPDATE of another one sets.
func (t *Table) changes(q *schema.Query) bool {
	update, ok := q.Statement.(*ast.Update)
	return ok && slices.ContainsFunc(update.Set, func(a ast.Assignment) bool { return t.Column(a.Target.Column) != nil })
}
