package cql

// selectStatement takes what follows SELECT.
func (p *parser) selectStatement() *Select {
	s := &Select{}
	if p.isPrefix("json") && p.beyond("SELECT JSON") {
		p.skip(1)
	}
	if s.Distinct = p.isPrefix("distinct"); s.Distinct {
		p.skip(1)
	}
	s.Columns = p.selectors()
	p.words("from")
	s.From = p.name()
	if p.word("where") {
		s.Where = p.where()
	}
	if p.word("group") && p.beyond("GROUP BY") {
		p.words("by")
		s.GroupBy = several(p, ",", p.selector)
	}
	if p.clause("order", "by") {
		s.OrderBy = several(p, ",", p.order)
	}
	if p.clause("per", "partition", "limit") {
		s.PerLimit = p.integer()
	}
	if p.word("limit") {
		s.Limit = p.integer()
	}
	s.Filtering = p.clause("allow", "filtering")
	return s
}

// isPrefix says whether this word comes before the selectors, and is not the name of a column.
func (p *parser) isPrefix(w string) bool {
	if p.isWord(1, "as") && !p.isWord(2, "from") && !p.isSign(2, ",") {
		return false
	}
	return p.isWord(0, w) && !p.isWord(1, "from") && !p.isSign(1, ",") && !p.isSign(1, ".")
}

// selectors takes * or the selectors.
func (p *parser) selectors() []Selector {
	if p.sign("*") {
		return nil
	}
	return several(p, ",", p.aliased)
}

func (p *parser) aliased() Selector {
	s := Selector{Term: p.selector()}
	if p.word("as") {
		s.As = p.identifier()
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
	t := p.token()
	switch called := t.kind == word && p.isSign(1, "("); {
	case called && t.text == "count" && p.isSign(2, "*"):
		p.skip(3)
		p.expect(")")
		return Term{Kind: Call, Text: t.text, Elems: []Term{{Kind: All}}}
	case called && (t.text == "writetime" || t.text == "maxwritetime" || t.text == "ttl"):
		p.skip(2)
		column := p.path()
		p.expect(")")
		return Term{Kind: ColumnCall, Text: t.text, Elems: []Term{column}}
	case called && t.text == "cast":
		p.skip(2)
		arg := p.term()
		p.words("as")
		typ := p.nativeType()
		p.expect(")")
		return Term{Kind: Cast, Text: typ, Elems: []Term{arg}}
	}
	return p.path()
}

// path takes a column, column[key] or column.field.
func (p *parser) path() Term {
	t := Term{Kind: Column, Text: p.identifier()}
	switch {
	case p.sign("["):
		t.Elems = []Term{p.slice()}
	case p.sign("."):
		t.Fields = []string{p.identifier()}
	}
	p.noPath()
	return t
}

// slice takes key], key..], ..key] or key..key] after its bracket.
func (p *parser) slice() (key Term) {
	if !p.isSign(0, "..") {
		key = p.within(false)
	}
	if p.isSign(0, "..") && p.beyond("a slice of a collection") {
		p.skip(1)
		if !p.isSign(0, "]") {
			p.within(false)
		}
	}
	p.expect("]")
	return key
}

// noPath fails at an element or a field of what is no column, or passes over them.
func (p *parser) noPath() {
	for p.isSign(0, "[", ".") && p.beyond("an element or a field of what is no column") {
		if p.sign(".") {
			p.identifier()
		} else {
			p.skip(1)
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
	case p.isSign(2, "<"):
		return true
	case p.isSign(2, "."):
		next = 5
	}
	return p.isSign(next, "(", "[", "{", "?", ":") || p.isName(next) && !p.isWord(next, "as") || p.ahead(next).kind == literal
}

// order takes one column of ORDER BY.
func (p *parser) order() Order {
	o := Order{Column: p.column()}
	if p.isWord(0, "ann") && p.isWord(1, "of") && p.beyond("ORDER BY ... ANN OF") {
		p.skip(2)
		p.term()
		o.Near = true
	}
	if !p.word("asc") {
		o.Descending = p.word("desc")
	}
	return o
}
