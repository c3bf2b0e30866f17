package cql

// term takes a value.
func (p *parser) term() Term {
	t := p.simpleTerm()
	for p.arithmetic() {
		p.simpleTerm()
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
func (p *parser) simpleTerm() Term {
	p.enter()
	defer p.leave()
	switch {
	case p.isMark():
		return p.mark()
	case p.isLiteral():
		return p.literal()
	case p.word("null"):
		return Term{Kind: Null}
	case p.sign("["):
		return Term{Kind: List, Elems: p.terms("]")}
	case p.sign("{"):
		return p.braces()
	case p.isSign(0, "(") && p.isHint():
		p.skip(1)
		t := Term{Kind: Cast, Text: p.typeName().String()}
		p.expect(")")
		t.Elems = []Term{p.simpleTerm()}
		return t
	case p.sign("("):
		t := Term{Kind: Tuple, Elems: p.terms(")")}
		if t.Elems == nil {
			p.unexpected("a value")
		}
		return t
	case p.isFunction():
		t := Term{Kind: Call, Text: p.function()}
		p.expect("(")
		t.Elems = p.terms(")")
		return t
	case p.isWord(0, "cast") && p.isSign(1, "("):
		if p.beyond("CAST of a value") {
			p.skip(2)
			t := p.term()
			p.words("as")
			p.nativeType()
			p.expect(")")
			return t
		}
	case p.isSign(0, "-"):
		if p.arithmetic() {
			return p.simpleTerm()
		}
	default:
		p.unexpected("a value")
	}
	return Term{}
}

func (p *parser) isLiteral() bool { return p.token().kind >= literalString }

// literal takes a literal, which comes next. The kinds of their tokens and terms are in the same order.
func (p *parser) literal() Term {
	t := p.token()
	p.skip(1)
	return Term{Kind: String + TermKind(t.kind-literalString), Text: t.text}
}

func (p *parser) isMark() bool { return p.isSign(0, "?", ":") }

func (p *parser) mark() Term {
	t := Term{Kind: Mark, Mark: p.marks}
	p.marks++
	if !p.sign("?") {
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
	case p.token().kind == literalInteger:
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
