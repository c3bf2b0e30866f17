package cql

import (
	"slices"
	"strings"
)

// where takes the conditions after WHERE.
func (p *parser) where() []Relation { return several(p, "and", p.relation) }

// relation takes one condition of WHERE.
func (p *parser) relation() (r Relation) {
	p.enter()
	defer p.leave()
	switch {
	case p.word("token"):
		r.Token = true
		r.Columns = bracketed(p, p.column)
		p.operator(&r)
	case p.isSign(0, "(") && p.isSign(2, ",", ")"):
		r.Tuple = true
		r.Columns = bracketed(p, p.column)
		p.operator(&r, "in")
		for _, v := range r.Values { // all tuples or all marks
			if v.Kind != Tuple && v.Kind != Mark || v.Kind != r.Values[0].Kind {
				p.syntax("tuples or marks must follow " + r.Operator)
			}
		}
	case p.sign("("):
		r = p.relation()
		p.expect(")")
	case p.isWord(0, "expr") && p.isSign(1, "("):
		if p.beyond("expr(...)") {
			p.skip(2)
			p.identifier()
			p.expect(",")
			p.term()
			p.expect(")")
			r.Operator = "EXPR"
		}
	default:
		r.Columns = []string{p.column()}
		if p.sign("[") {
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
	p.expect("]")
	return &t
}

var comparisons = []string{"=", "<", "<=", ">", ">=", "!="}

// operator takes what a relation has after its columns: a comparison, or one of these words with what follows it.
func (p *parser) operator(r *Relation, words ...string) {
	t := p.token()
	switch {
	case p.isSign(0, comparisons...), t.kind == word && slices.Contains(words, t.text):
		p.skip(1)
	default:
		p.unexpected("a comparison")
		return
	}
	r.Operator = strings.ToUpper(t.text)
	switch t.text {
	case "in":
		p.in(r)
		return
	case "is":
		p.words("not", "null")
		r.Operator = "IS NOT NULL"
		return
	case "contains":
		if p.word("key") {
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
	p.expect("(")
	r.Values = p.terms(")")
}
