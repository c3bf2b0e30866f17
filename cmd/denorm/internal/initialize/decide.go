package initialize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/schema/lint"
)

// listed are the types of columns whose values may be listed.
var listed = cql.WordSet("text varchar ascii boolean tinyint smallint int bigint")

// decide finds the columns of keys that may change, and what the statements and values say of them.
func (p *Plan) decide(e *Entity) {
	if e.set.Counts {
		return
	}
	for i, c := range e.set.Columns {
		if !c.Key || e.set.Identifies(i) || slices.Contains(e.set.Tables[0].Key, i) {
			continue
		}
		d := Decision{Column: c.Name}
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
		if text := e.Tables[0].Column(c.Name).Type; listed[text] {
			d.Options = []Option{{
				fmt.Sprintf("tables.OneOf(%q, %s)", c.Name, values), "if these are all its values; the last write wins; a tombstone for each other value",
			}}
		}
		d.Options = append(d.Options,
			Option{`tables.Versioned("version")`, "a field Version gocql.UUID in place of the stamp; a lightweight transaction a write"},
			Option{fmt.Sprintf("tables.SingleWriter(%q)", c.Name), "if one process at a time moves an entity; else a stale row stays"})
		e.Decisions = append(e.Decisions, d)
	}
}

// moves says which statements change a column that is in the key of a query table.
func (p *Plan) moves(e *Entity, column string) (says []string) {
	deleted := make(map[int]schema.ID) // by batch: the table with the column in its key of which a row is deleted
	keyed := func(id schema.ID) bool {
		i := e.index(id)
		return i >= 0 && inKey(e.Tables[i].Table, column)
	}
	for _, q := range p.schema.Queries {
		if _, ok := q.Statement.(*ast.Delete); ok && q.Batch > 0 && keyed(q.Table) {
			deleted[q.Batch] = q.Table
		}
	}
	for _, q := range p.schema.Queries {
		update, ok := q.Statement.(*ast.Update)
		switch {
		case e.index(q.Table) < 0:
		case ok && slices.ContainsFunc(update.Set, func(a ast.Assignment) bool { return a.Target.Column == column }):
			says = append(says, "an UPDATE of "+q.Table.Name+" sets it"+at(q.At.File, q.At.Line))
		case q.Verb == "INSERT" && q.Batch > 0 && deleted[q.Batch] == q.Table:
			says = append(says, "a batch deletes and inserts a row of "+q.Table.Name+at(q.At.File, q.At.Line))
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
		if f.Code == "DN504" || f.Code == "DN502" || f.Code == "DN501" {
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
	q, of := &p.schema.Queries[i], p.schema.Table(f.Table)
	var equal []string
	for _, w := range q.Where {
		if w.Is("=") {
			equal = append(equal, w.Columns...)
		}
	}
	if of == nil || len(equal) == 0 {
		return f.Fix
	}
	for _, t := range p.schema.Tables {
		serves := t.ID != of.ID && t.Keyspace == of.Keyspace && len(t.Of(schema.PartitionKey)) > 0
		for _, c := range t.Of(schema.PartitionKey) {
			serves = serves && slices.Contains(equal, c.Name)
		}
		if serves && !slices.ContainsFunc(q.Columns, func(name string) bool { return t.Column(name) == nil }) {
			return "read it from " + t.String()
		}
	}
	key := []string{"(" + strings.Join(equal, ", ") + ")"}
	for _, c := range keyOf(of) {
		if !slices.Contains(equal, c.Name) {
			key = append(key, c.Name)
		}
	}
	return "a query table with PRIMARY KEY (" + strings.Join(key, ", ") + ")"
}

// oneOfSeveral finds statements that do something in one table of an entity, and no statement does it in another one.
func (p *Plan) oneOfSeveral(e *Entity) {
	for _, verb := range []string{"INSERT", "UPDATE", "DELETE"} {
		first, done := -1, make(map[schema.ID]bool)
		for i, q := range p.schema.Queries {
			if q.Verb == verb && e.index(q.Table) >= 0 {
				done[q.Table] = true
				if first < 0 {
					first = i
				}
			}
		}
		var without []string
		for _, t := range e.Tables {
			if !done[t.ID] && (verb != "UPDATE" || first >= 0 && t.changes(&p.schema.Queries[first])) {
				without = append(without, t.Name)
			}
		}
		if first < 0 || len(without) == 0 {
			continue
		}
		q := p.schema.Queries[first]
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
