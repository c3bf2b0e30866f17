package cql

import "slices"

// where takes the conditions after WHERE.
func (p *parser) where() []Relation {
	rs := []Relation{p.relation()}
	for p.word("and") {
		rs = append(rs, p.relation())
	}
	return rs
}

// comparators are the operators that are signs.
var comparators = []string{"=", "<", "<=", ">", ">=", "!="}

// comparator takes one of them, if it comes next.
func (p *parser) comparator() (string, bool) {
	t := p.token()
	if t.kind != sign || !slices.Contains(comparators, t.text) {
		return "", false
	}
	p.skip(1)
	return t.text, true
}

// relation takes one condition of WHERE.
func (p *parser) relation() Relation {
	if !p.nested() {
		return Relation{}
	}
	defer p.leave()
	var r Relation
	switch {
	case p.word("token"):
		r.Token = true
		r.Columns = p.columns()
		p.compare(&r)
		return r
	case p.isSign(0, "("):
		if !p.isSign(2, ",") && !p.isSign(2, ")") {
			p.skip(1)
			r = p.relation()
			p.expect(")")
			return r
		}
		r.Tuple = true
		r.Columns = p.columns()
		if p.word("in") {
			p.in(&r)
		} else {
			p.compare(&r)
		}
		p.tuples(&r)
		return r
	case p.isWord(0, "expr") && p.isSign(1, "("):
		if p.beyond("expr(...)") {
			p.skip(2)
			p.identifier()
			p.expect(",")
			p.term()
			p.expect(")")
			r.Operator = "EXPR"
		}
		return r
	}
	r.Columns = []string{p.column()}
	switch {
	case p.sign("["):
		r.Key = p.key()
		p.compare(&r)
	case p.word("in"):
		p.in(&r)
	case p.word("contains"):
		r.Operator = "CONTAINS"
		if p.word("key") {
			r.Operator = "CONTAINS KEY"
		}
		r.Values = []Term{p.term()}
	case p.word("like"):
		r.Operator = "LIKE"
		r.Values = []Term{p.term()}
	case p.word("is"):
		p.words("not", "null")
		r.Operator = "IS NOT NULL"
	default:
		p.compare(&r)
	}
	return r
}

// condition takes one condition of IF.
func (p *parser) condition() Relation {
	r := Relation{Columns: []string{p.column()}}
	switch {
	case p.sign("["):
		r.Key = p.key()
	case p.sign("."):
		r.Field = p.identifier()
	case p.word("contains"):
		r.Operator = "CONTAINS"
		if p.word("key") {
			r.Operator = "CONTAINS KEY"
		}
		r.Values = []Term{p.term()}
		return r
	}
	if p.word("in") {
		p.in(&r)
	} else {
		p.compare(&r)
	}
	return r
}

// key takes what is in column[...], after its bracket.
func (p *parser) key() *Term {
	t := p.term()
	p.expect("]")
	return &t
}

// compare takes = v and the like.
func (p *parser) compare(r *Relation) {
	operator, ok := p.comparator()
	if !ok {
		p.unexpected("a comparison")
		return
	}
	r.Operator = operator
	r.Values = []Term{p.term()}
}

// in takes (v, ...) or a mark, after IN.
func (p *parser) in(r *Relation) {
	r.Operator = "IN"
	if p.isMark() {
		r.Marked = true
		r.Values = []Term{p.mark()}
		return
	}
	p.expect("(")
	r.Values = p.terms(")", 1)
}

// tuples holds the values of (a, b) against the grammar: all tuples or all marks.
func (p *parser) tuples(r *Relation) {
	for _, v := range r.Values {
		if v.Kind != Tuple && v.Kind != Mark || v.Kind != r.Values[0].Kind {
			p.syntax("tuples or marks must follow " + r.Operator)
		}
	}
}
