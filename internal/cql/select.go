package cql

import "strings"

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
	s := p.selector()
	if p.word("as") {
		s.As = p.identifier()
	}
	return s
}

// selector takes a column, a function or a value.
func (p *parser) selector() Selector {
	p.enter()
	defer p.leave()
	s := p.simpleSelector()
	if !p.arithmetic() {
		return s
	}
	all := Selector{Args: []Selector{s, p.simpleSelector()}}
	for p.arithmetic() {
		all.Args = append(all.Args, p.simpleSelector())
	}
	return all
}

func (p *parser) simpleSelector() Selector {
	t := p.token()
	called := t.kind == word && p.isSign(1, "(")
	switch {
	case called && t.text == "count" && p.isSign(2, "*"):
		p.skip(3)
		p.expect(")")
		return Selector{Function: "count", Star: true}
	case called && (t.text == "writetime" || t.text == "maxwritetime" || t.text == "ttl"):
		p.skip(2)
		s := p.path()
		s.Function = t.text
		p.expect(")")
		return s
	case called && t.text == "cast":
		p.skip(2)
		s := Selector{Function: "cast", Args: []Selector{p.selector()}}
		p.words("as")
		s.Type = p.nativeType()
		p.expect(")")
		return s
	case p.isFunction():
		s := p.call()
		p.noPath()
		return s
	case p.isSign(0, "(", "[", "{"):
		if p.beyond("a selection of tuples, collections and values with their type") {
			return p.brackets()
		}
	case p.isSign(0, "-"):
		if p.arithmetic() {
			return Selector{Args: []Selector{p.selector()}}
		}
	case p.isLiteral(), p.isMark(), p.isWord(0, "null"):
		value := p.simpleTerm()
		p.noPath()
		return Selector{Term: &value}
	}
	return p.path()
}

// call takes a function of selectors.
func (p *parser) call() Selector {
	s := Selector{Function: p.function()}
	p.expect("(")
	if p.sign(")") {
		return s
	}
	s.Args = several(p, ",", p.selector)
	p.expect(")")
	// Cassandra counts rows if what is counted is the same in all of them.
	if s.Function == "count" && len(s.Args) == 1 && s.Args[0].Term != nil && s.Args[0].Term.Kind != Null {
		s.Star = s.Args[0].Term.Kind != Mark
	}
	if s.Star {
		s.Args = nil
	}
	return s
}

// path takes a column, column[key] or column.field.
func (p *parser) path() Selector {
	s := Selector{Column: p.identifier()}
	switch {
	case p.sign("["):
		s.Key = p.slice()
	case p.sign("."):
		s.Field = p.identifier()
	}
	p.noPath()
	return s
}

// slice takes key], key..], ..key] or key..key] after its bracket.
func (p *parser) slice() *Term {
	var key Term
	if !p.isSign(0, "..") {
		key = p.term()
	}
	if p.isSign(0, "..") && p.beyond("a slice of a collection") {
		p.skip(1)
		if !p.isSign(0, "]") {
			p.term()
		}
	}
	p.expect("]")
	return &key
}

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

// isCast says whether (type) comes next, and not a column in brackets.
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
	if t := p.ahead(next); t.kind == sign {
		return strings.ContainsAny(t.text, "([{?:")
	}
	return p.isName(next) && !p.isWord(next, "as") || p.ahead(next).kind >= literalString
}

// brackets takes (type) selector, or selectors in brackets.
func (p *parser) brackets() Selector {
	if p.isSign(0, "(") && p.isCast() {
		p.skip(1)
		p.typeName()
		p.expect(")")
		return Selector{Args: []Selector{p.selector()}}
	}
	closing := map[string]string{"(": ")", "[": "]", "{": "}"}[p.token().text]
	user := closing == "}" && p.isName(1) && p.isSign(2, ":")
	p.skip(1)
	var s Selector
	for more := true; more && !p.isSign(0, closing); more = p.sign(",") {
		if user {
			p.identifier()
			p.expect(":")
		}
		s.Args = append(s.Args, p.selector())
		if closing == "}" && !user && p.sign(":") {
			s.Args = append(s.Args, p.selector())
		}
	}
	p.expect(closing)
	p.noPath()
	return s
}

// order takes one column of ORDER BY.
func (p *parser) order() Order {
	o := Order{Column: p.column()}
	if p.isWord(0, "ann") && p.isWord(1, "of") && p.beyond("ORDER BY ... ANN OF") {
		p.skip(2)
		p.term()
	}
	if !p.word("asc") {
		o.Descending = p.word("desc")
	}
	return o
}
