package ast

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
)

// where takes the conditions after WHERE.
func (p *parser) where() []Relation { return several(p, "and", p.relation) }

// relation takes one condition of WHERE.
func (p *parser) relation() (r Relation) {
	p.Enter()
	defer p.Leave()
	switch {
	case p.Word("token"):
		r.Token = true
		r.Columns = bracketed(p, p.column)
		p.operator(&r)
	case p.IsSign(0, "(") && p.IsSign(2, ",", ")"):
		r.Tuple = true
		r.Columns = bracketed(p, p.column)
		p.operator(&r, "in")
		for _, v := range r.Values { // all tuples or all marks
			if v.Kind != Tuple && v.Kind != Mark || v.Kind != r.Values[0].Kind {
				p.Syntax("tuples or marks must follow " + r.Operator)
			}
		}
	case p.Sign("("):
		r = p.relation()
		p.Expect(")")
	case p.IsWord(0, "expr") && p.IsSign(1, "("):
		if p.beyond("expr(...)") {
			p.Skip(2)
			p.Identifier()
			p.Expect(",")
			p.term()
			p.Expect(")")
			r.Operator = "EXPR"
		}
	default:
		r.Columns = []string{p.column()}
		if p.Sign("[") {
			r.Key = p.key()
			p.operator(&r)
		} else {
			p.operator(&r, "in", "contains", "like", "is")
		}
	}
	return r
}

// condition takes one condition of IF.
func (p *parser) condition() Relation {
	t := p.target()
	r := Relation{Columns: []string{t.Column}, Key: t.Key, Field: t.Field}
	if t.Key == nil && t.Field == "" {
		p.operator(&r, "in", "contains")
	} else {
		p.operator(&r, "in")
	}
	return r
}

// key takes what is in column[...], after its bracket.
func (p *parser) key() *Term {
	t := p.term()
	p.Expect("]")
	return &t
}

var comparisons = []string{"=", "<", "<=", ">", ">=", "!="}

// operator takes what a relation has after its columns: a comparison, or one of these words with what follows it.
func (p *parser) operator(r *Relation, words ...string) {
	t := p.Token()
	switch {
	case p.IsSign(0, comparisons...), t.Kind == cql.Word && slices.Contains(words, t.Text):
		p.Skip(1)
	default:
		p.Unexpected("a comparison")
		return
	}
	r.Operator = strings.ToUpper(t.Text)
	switch t.Text {
	case "in":
		p.in(r)
		return
	case "is":
		p.words("not", "null")
		r.Operator = "IS NOT NULL"
		return
	case "contains":
		if p.Word("key") {
			r.Operator = "CONTAINS KEY"
		}
	}
	r.Values = []Term{p.term()}
}

// in takes (v, ...) or a mark, after IN.
func (p *parser) in(r *Relation) {
	if r.Marked = p.isMark(); r.Marked {
		r.Values = []Term{p.mark()}
		return
	}
	p.Expect("(")
	r.Values = p.terms(")")
}
