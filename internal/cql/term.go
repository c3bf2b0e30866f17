package cql

// term takes a value.
func (p *parser) term() Term {
	t := p.simpleTerm()
	for p.arithmetic() {
		if t.Kind != Arithmetic {
			t = Term{Kind: Arithmetic, Elems: []Term{t}}
		}
		t.Elems = append(t.Elems, p.simpleTerm())
	}
	return t
}

// terms takes values to a closing sign; there may be none.
func (p *parser) terms(closing string) []Term {
	if p.sign(closing) {
		return nil
	}
	ts := several(p, ",", p.term)
	p.expect(closing)
	return ts
}

// arithmetic takes a sign of arithmetic, if it comes next.
func (p *parser) arithmetic() bool {
	if !p.isSign(0, "+", "-", "*", "/", "%") || !p.beyond("arithmetic") {
		return false
	}
	p.skip(1)
	return true
}

// simpleTerm takes a value after which a sign of arithmetic may come.
func (p *parser) simpleTerm() (t Term) {
	p.enter()
	defer p.leave()
	switch {
	case p.isMark():
		t = p.mark()
	case p.isLiteral():
		t = p.literal()
	case p.word("null"):
		t.Kind = Null
	case p.selects && p.isWord(0, "count") && p.isSign(2, "*"):
		return p.selected()
	case p.isFunction():
		t = p.call()
	case p.isSign(0, "-"):
		if p.arithmetic() {
			return p.simpleTerm()
		}
	case p.isSign(0, "(", "[", "{"):
		if !p.selects || p.beyond("a selection of tuples, collections and values with their type") {
			t = p.composite()
		}
	case p.selects:
		return p.selected()
	case p.isWord(0, "cast") && p.isSign(1, "("):
		if p.beyond("CAST of a value") {
			return p.selected()
		}
	default:
		p.unexpected("a value")
	}
	if p.selects {
		p.noPath()
	}
	return t
}

// call takes a function.
func (p *parser) call() Term {
	t := Term{Kind: Call, Text: p.function()}
	p.expect("(")
	t.Elems = p.terms(")")
	// Cassandra counts rows if what is counted is the same in all of them.
	if p.selects && t.Text == "count" && len(t.Elems) == 1 && t.Elems[0].Kind >= String && t.Elems[0].Kind <= Duration {
		t.Elems[0] = Term{Kind: All}
	}
	return t
}

// composite takes a value in brackets, or one with its type in brackets.
func (p *parser) composite() Term {
	isType := p.isHint
	if p.selects {
		isType = p.isCast
	}
	switch {
	case p.sign("["):
		return Term{Kind: List, Elems: p.terms("]")}
	case p.sign("{"):
		return p.braces()
	case isType():
		p.skip(1)
		t := Term{Kind: Cast, Text: p.typeName().String()}
		p.expect(")")
		t.Elems = []Term{p.simpleTerm()}
		return t
	}
	p.expect("(")
	t := Term{Kind: Tuple, Elems: p.terms(")")}
	if t.Elems == nil {
		p.unexpected("a value")
	}
	return t
}

func (p *parser) isLiteral() bool { return p.token().kind == literal }

// literal takes a literal, which comes next.
func (p *parser) literal() Term {
	t := p.token()
	p.skip(1)
	return Term{Kind: t.literal, Text: t.text}
}

func (p *parser) isMark() bool { return p.isSign(0, "?", ":") || p.isTemplate() }

// isTemplate says whether a template comes next, in place of a name or a value.
func (p *parser) isTemplate() bool {
	t := p.token()
	return t.kind == quoted && p.text[t.start] != '"'
}

func (p *parser) mark() Term {
	t := Term{Kind: Mark, Mark: p.marks}
	p.marks++
	if p.isTemplate() {
		p.skip(1)
	} else if !p.sign("?") {
		p.expect(":")
		t.Text = p.identifier()
	}
	return t
}

// integer takes an integer or a mark.
func (p *parser) integer() *Term {
	var t Term
	switch {
	case p.isMark():
		t = p.mark()
	case p.token().literal == Integer:
		t = p.literal()
	default:
		p.unexpected("an integer")
	}
	return &t
}

// braces takes a set, a map or a value of a user-defined type, after its brace.
func (p *parser) braces() Term {
	t := Term{Kind: Set}
	if p.sign("}") {
		return t
	}
	if p.isName(0) && p.isSign(1, ":") {
		t.Kind = User
	}
	for more := true; more; more = p.sign(",") {
		if t.Kind == User {
			t.Fields = append(t.Fields, p.identifier())
			p.expect(":")
		}
		t.Elems = append(t.Elems, p.term())
		if t.Kind == Set && len(t.Elems) == 1 && p.isSign(0, ":") {
			t.Kind = Map
		}
		if t.Kind == Map {
			p.expect(":")
			t.Elems = append(t.Elems, p.term())
		}
	}
	p.expect("}")
	return t
}

// isHint says whether (type) comes next, and not a tuple.
func (p *parser) isHint() bool {
	if t := p.ahead(1); t.kind != word && t.kind != quoted {
		return false
	}
	return p.isSign(2, ")", "<") || p.isSign(2, ".") && p.isName(3) && p.isSign(4, ")")
}

// columnFunctions are names that are none of functions of values.
var columnFunctions = set("writetime maxwritetime ttl cast key json distinct")

// isFunction says whether a function comes next, perhaps with its keyspace.
func (p *parser) isFunction() bool {
	n := 0
	if p.isName(0) && p.isSign(1, ".") {
		n = 2
	}
	t := p.ahead(n)
	return p.isSign(n+1, "(") && (p.isWord(n, "token") || p.isName(n) && (t.kind == quoted || !columnFunctions[t.text]))
}

// function takes the name of a function, without the keyspace of those that Cassandra has of itself.
func (p *parser) function() string {
	if p.word("token") {
		return "token"
	}
	name := p.identifier()
	if !p.sign(".") {
		return name
	}
	if name == "system" {
		return p.function()
	}
	return name + "." + p.function()
}
