package cql

// term takes a value.
func (p *parser) term() Term {
	t := p.simpleTerm()
	for p.arithmetic() {
		p.simpleTerm()
	}
	return t
}

// terms takes values to a closing sign; there may be none. There is room for as many as guessed.
func (p *parser) terms(closing string, guess int) []Term {
	if p.sign(closing) {
		return nil
	}
	ts := append(make([]Term, 0, guess), p.term())
	for p.sign(",") {
		ts = append(ts, p.term())
	}
	p.expect(closing)
	return ts
}

// arithmetic takes a sign of arithmetic, if it comes next.
func (p *parser) arithmetic() bool {
	t := p.token()
	if t.kind != sign {
		return false
	}
	switch t.text {
	case "+", "-", "*", "/", "%":
		if p.beyond("arithmetic") {
			p.skip(1)
			return true
		}
	}
	return false
}

// simpleTerm takes a value after which a sign of arithmetic may come.
func (p *parser) simpleTerm() Term {
	if !p.nested() {
		return Term{}
	}
	defer p.leave()
	switch {
	case p.isMark():
		return p.mark()
	case p.isLiteral():
		return p.literal()
	case p.word("null"):
		return Term{Kind: Null}
	case p.sign("["):
		return Term{Kind: List, Elems: p.terms("]", 1)}
	case p.sign("{"):
		return p.braces()
	case p.isSign(0, "(") && p.isHint():
		p.skip(1)
		t := Term{Kind: Cast, Text: p.typeName().String()}
		p.expect(")")
		t.Elems = []Term{p.simpleTerm()}
		return t
	case p.sign("("):
		t := Term{Kind: Tuple, Elems: p.terms(")", 1)}
		if t.Elems == nil {
			p.unexpected("a value")
		}
		return t
	case p.isFunction():
		t := Term{Kind: Call, Text: p.function()}
		p.expect("(")
		t.Elems = p.terms(")", 1)
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
		if p.beyond("arithmetic") {
			p.skip(1)
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

func (p *parser) isMark() bool { return p.isSign(0, "?") || p.isSign(0, ":") }

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
	if p.isName(0) && p.isSign(1, ":") {
		return p.user()
	}
	if p.sign("}") {
		return Term{Kind: Set}
	}
	first := p.term()
	t := Term{Kind: Set, Elems: []Term{first}}
	if p.sign(":") {
		t.Kind = Map
		t.Elems = append(t.Elems, p.term())
	}
	for p.sign(",") {
		t.Elems = append(t.Elems, p.term())
		if t.Kind == Map {
			p.expect(":")
			t.Elems = append(t.Elems, p.term())
		}
	}
	p.expect("}")
	return t
}

func (p *parser) user() Term {
	t := Term{Kind: User}
	for {
		t.Fields = append(t.Fields, p.identifier())
		p.expect(":")
		t.Elems = append(t.Elems, p.term())
		if !p.sign(",") {
			break
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
	return p.isSign(2, ")") || p.isSign(2, "<") || p.isSign(2, ".") && p.isName(3) && p.isSign(4, ")")
}

// columnFunctions are names that are none of functions of values.
var columnFunctions = map[string]bool{
	"writetime": true, "maxwritetime": true, "ttl": true, "cast": true, "key": true, "json": true, "distinct": true,
}

// isFunction says whether a function comes next, perhaps with its keyspace.
func (p *parser) isFunction() bool {
	n := 0
	if p.isName(0) && p.isSign(1, ".") {
		n = 2
	}
	if !p.isSign(n+1, "(") {
		return false
	}
	t := p.ahead(n)
	return p.isWord(n, "token") || p.isName(n) && (t.kind == quoted || !columnFunctions[t.text])
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
