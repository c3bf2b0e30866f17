package ast

import "github.com/denorm-go/denorm/internal/cql"

// selectStatement takes what follows SELECT.
func (p *parser) selectStatement() *Select {
	s := &Select{}
	if p.isPrefix("json") && p.beyond("SELECT JSON") {
		p.Skip(1)
	}
	if s.Distinct = p.isPrefix("distinct"); s.Distinct {
		p.Skip(1)
	}
	s.Columns = p.selectors()
	p.words("from")
	s.From = p.name()
	if p.Word("where") {
		s.Where = p.where()
	}
	if p.Word("group") && p.beyond("GROUP BY") {
		p.words("by")
		s.GroupBy = several(p, ",", p.selector)
	}
	if p.clause("order", "by") {
		s.OrderBy = several(p, ",", p.order)
	}
	if p.clause("per", "partition", "limit") {
		s.PerLimit = p.integer()
	}
	if p.Word("limit") {
		s.Limit = p.integer()
	}
	s.Filtering = p.clause("allow", "filtering")
	return s
}

// isPrefix says whether this word comes before the selectors, and is not the name of a column.
func (p *parser) isPrefix(w string) bool {
	if p.IsWord(1, "as") && !p.IsWord(2, "from") && !p.IsSign(2, ",") {
		return false
	}
	return p.IsWord(0, w) && !p.IsWord(1, "from") && !p.IsSign(1, ",") && !p.IsSign(1, ".")
}

// selectors takes * or the selectors.
func (p *parser) selectors() []Selector {
	if p.Sign("*") {
		return nil
	}
	return several(p, ",", p.aliased)
}

func (p *parser) aliased() Selector {
	s := Selector{Term: p.selector()}
	if p.Word("as") {
		s.As = p.Identifier()
	}
	return s
}

// selector takes a value with columns in it.
func (p *parser) selector() Term { return p.within(true) }

// within takes a term of a selection, or of something else in it.
func (p *parser) within(selection bool) Term {
	outer := p.selects
	p.selects = selection
	t := p.term()
	p.selects = outer
	return t
}

// selected takes a function of selections alone, or a column.
func (p *parser) selected() Term {
	t := p.Token()
	switch called := t.Kind == cql.Word && p.IsSign(1, "("); {
	case called && t.Text == "count" && p.IsSign(2, "*"):
		p.Skip(3)
		p.Expect(")")
		return Term{Kind: Call, Text: t.Text, Elems: []Term{{Kind: All}}}
	case called && (t.Text == "writetime" || t.Text == "maxwritetime" || t.Text == "ttl"):
		p.Skip(2)
		column := p.path()
		p.Expect(")")
		return Term{Kind: ColumnCall, Text: t.Text, Elems: []Term{column}}
	case called && t.Text == "cast":
		p.Skip(2)
		arg := p.term()
		p.words("as")
		typ := p.NativeType()
		p.Expect(")")
		return Term{Kind: Cast, Text: typ, Elems: []Term{arg}}
	}
	return p.path()
}

// path takes a column, column[key] or column.field.
func (p *parser) path() Term {
	t := Term{Kind: Column, Text: p.Identifier()}
	switch {
	case p.Sign("["):
		t.Elems = []Term{p.slice()}
	case p.Sign("."):
		t.Fields = []string{p.Identifier()}
	}
	p.noPath()
	return t
}

// slice takes key], key..], ..key] or key..key] after its bracket.
func (p *parser) slice() (key Term) {
	if !p.IsSign(0, "..") {
		key = p.within(false)
	}
	if p.IsSign(0, "..") && p.beyond("a slice of a collection") {
		p.Skip(1)
		if !p.IsSign(0, "]") {
			p.within(false)
		}
	}
	p.Expect("]")
	return key
}

// noPath fails at an element or a field of what is no column, or passes over them.
func (p *parser) noPath() {
	for p.IsSign(0, "[", ".") && p.beyond("an element or a field of what is no column") {
		if p.Sign(".") {
			p.Identifier()
		} else {
			p.Skip(1)
			p.slice()
		}
	}
}

// isCast says whether (type) comes next in a selection, and not a column in brackets.
func (p *parser) isCast() bool {
	next := 3 // after the closing bracket
	switch {
	case !p.isHint():
		return false
	case p.IsSign(2, "<"):
		return true
	case p.IsSign(2, "."):
		next = 5
	}
	return p.IsSign(next, "(", "[", "{", "?", ":") || p.IsName(next) && !p.IsWord(next, "as") ||
		p.later(next).Literal != Mark
}

// order takes one column of ORDER BY.
func (p *parser) order() Order {
	o := Order{Column: p.column()}
	if p.IsWord(0, "ann") && p.IsWord(1, "of") && p.beyond("ORDER BY ... ANN OF") {
		p.Skip(2)
		p.term()
		o.Near = true
	}
	if !p.Word("asc") {
		o.Descending = p.Word("desc")
	}
	return o
}
