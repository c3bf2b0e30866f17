package schema

import (
	"strconv"
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/each"
)

// query takes down a statement that a service sends, or those of a batch or a transaction.
func (p *parser) query(s ast.Statement, span ast.Span) {
	switch s := s.(type) {
	case *ast.Batch:
		p.batch++
		for i, one := range s.Statements {
			q := p.queryOf(one, s.Spans[i])
			q.Batch, q.Logged = p.batch, s.Kind == ast.Logged
			q.Timestamped = q.Timestamped || s.Using.Timestamp != nil
			p.add(q)
		}
	case *ast.Transaction:
		p.batch++
		for i, one := range s.Statements {
			q := p.queryOf(one, s.Spans[i])
			q.Batch, q.Transaction = p.batch, true
			if i < len(s.Lets) {
				q.Let = s.Lets[i]
				q.referred(s.References)
			}
			p.add(q)
		}
	default:
		p.add(p.queryOf(s, span))
	}
}

// referred takes down the columns of a LET that references name.
func (q *Query) referred(references []ast.Term) {
	for _, r := range references {
		if r.Text == q.Let {
			q.names(r.Fields...)
		}
	}
}

func (p *parser) queryOf(s ast.Statement, span ast.Span) Query {
	q := Query{At: p.position(span.From), Text: oneLine(p.script.Text(span))}
	switch s := s.(type) {
	case *ast.Select:
		q.Verb, q.Table, q.AllowFiltering = "SELECT", p.id(s.From), s.Filtering
		for _, c := range s.Columns {
			q.terms(c.Term)
		}
		q.Where = q.relations(s.Where)
		q.terms(s.GroupBy...)
		for _, o := range s.OrderBy {
			q.Order = append(q.Order, Order(o))
			q.names(o.Column)
		}
	case *ast.Insert:
		q.Verb, q.Table, q.Conditional = "INSERT", p.id(s.Into), s.IfNotExists
		q.names(s.Columns...)
		q.using(s.Using)
	case *ast.Update:
		q.Verb, q.Table, q.Conditional = "UPDATE", p.id(s.Table), s.IfExists || s.If != nil
		q.using(s.Using)
		for _, a := range s.Set {
			q.names(a.Target.Column)
		}
		q.Where = q.relations(s.Where)
		q.relations(s.If)
	case *ast.Delete:
		q.Verb, q.Table, q.Conditional = "DELETE", p.id(s.From), s.IfExists || s.If != nil
		q.using(s.Using)
		for _, t := range s.Columns {
			q.names(t.Column)
		}
		q.Where = q.relations(s.Where)
		q.relations(s.If)
	}
	return q
}

// add adds a query, each column that it names once.
func (p *parser) add(q Query) {
	q.Columns = each.Once(q.Columns)
	p.out.Queries = append(p.out.Queries, q)
}

// names takes down columns that the query names.
func (q *Query) names(columns ...string) {
	q.Columns = append(q.Columns, columns...)
}

// terms takes down the columns in terms of a selection. Other names in these are of functions, fields, types and aliases.
func (q *Query) terms(terms ...ast.Term) {
	for _, t := range terms {
		if t.Kind == ast.Column {
			q.names(t.Text)
		}
		q.terms(t.Elems...)
	}
}

func (q *Query) using(u ast.Using) {
	q.Timestamped = u.Timestamp != nil
	if u.TTL == nil {
		return
	}
	q.TTL = -1
	if n, err := strconv.ParseInt(u.TTL.Text, 10, 64); err == nil && u.TTL.Kind == ast.Integer {
		q.TTL = n
	}
}

// relations are the restrictions of a WHERE, or the conditions of an IF.
func (q *Query) relations(relations []ast.Relation) []Relation {
	var out []Relation
	for _, r := range relations {
		q.names(r.Columns...)
		one := Relation{Columns: r.Columns, Token: r.Token, Op: r.Operator}
		switch {
		case r.Operator == "IN" && r.Marked:
			one.Values = -1
		case r.Operator == "IN":
			one.Values = len(r.Values)
		case r.Key != nil: // m['key'] = ?
			one.Op = "ENTRY"
		case strings.HasPrefix(r.Operator, "CONTAINS"):
			one.Op = "CONTAINS"
		}
		out = append(out, one)
	}
	return out
}
