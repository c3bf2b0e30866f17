package schema

import (
	"slices"
	"strconv"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/each"
)

// Query is a statement that the service sends, in as much detail as a review of its tables needs.
type Query struct {
	Text  string // in one line
	Verb  string // SELECT, INSERT, UPDATE or DELETE
	Table ID
	// Statement, Where and Order are for this module.
	Statement ast.Statement
	Where     []ast.Relation
	Order     []ast.Order // ORDER BY

	// Columns are the columns that the statement names, each once. It selects, writes, restricts, groups or orders by
	// them, or they are in its IF.
	Columns []string

	AllowFiltering bool
	Conditional    bool // IF
	Timestamped    bool // USING TIMESTAMP
	// TTL is the literal of USING TTL in seconds, 0 if there is none, -1 if it is bound.
	TTL int64
	// Batch is the same number for all queries of one batch or transaction; 0 means in neither.
	Batch int
	// Logged says that the batch is logged.
	Logged bool
	// Transaction says that the query is in a transaction of Cassandra 6. Let is the name of a SELECT in it: LET name =
	// (SELECT ...).
	Transaction bool
	Let         string
	At          Position
}

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
	q := Query{At: p.position(span.From), Text: oneLine(p.script.Text(span)), Statement: s}
	switch s := s.(type) {
	case *ast.Select:
		q.Verb, q.Table, q.AllowFiltering, q.Where, q.Order = "SELECT", p.id(s.From), s.Filtering, s.Where, s.OrderBy
		for _, c := range s.Columns {
			q.terms(c.Term)
		}
		q.relations(s.Where)
		q.terms(s.GroupBy...)
		q.names(each.Of(s.OrderBy, func(o ast.Order) string { return o.Column })...)
	case *ast.Insert:
		q.Verb, q.Table, q.Conditional = "INSERT", p.id(s.Into), s.IfNotExists
		q.names(s.Columns...)
		q.using(s.Using)
	case *ast.Update:
		q.Verb, q.Table, q.Conditional, q.Where = "UPDATE", p.id(s.Table), s.IfExists || s.If != nil, s.Where
		q.using(s.Using)
		for _, a := range s.Set {
			q.names(a.Target.Column)
		}
		q.relations(s.Where, s.If)
	case *ast.Delete:
		q.Verb, q.Table, q.Conditional, q.Where = "DELETE", p.id(s.From), s.IfExists || s.If != nil, s.Where
		q.using(s.Using)
		for _, t := range s.Columns {
			q.names(t.Column)
		}
		q.relations(s.Where, s.If)
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

// terms takes down the columns in terms of a selection. Other names in these are of functions, fields, types and
// aliases.
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

// relations takes down the columns in the restrictions of a WHERE and the conditions of an IF.
func (q *Query) relations(lists ...[]ast.Relation) {
	for _, r := range slices.Concat(lists...) {
		q.names(r.Columns...)
	}
}
