package ast

import "github.com/denorm-go/denorm/internal/cql"

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
	if p.Sign(closing) {
		return nil
	}
	ts := several(p, ",", p.term)
	p.Expect(closing)
	return ts
}

// arithmetic takes a sign of arithmetic, if it comes next.
func (p *parser) arithmetic() bool {
	if !p.IsSign(0, "+", "-", "*", "/", "%") || !p.beyond("arithmetic") {
		return false
	}
	p.Skip(1)
	return true
}

// simpleTerm takes a value after which a sign of arithmetic may come.
func (p *parser) simpleTerm() (t Term) {
	p.Enter()
	defer p.Leave()
	switch {
	case p.isMark():
		t = p.mark()
	case p.isLiteral():
		t = p.literal()
	case p.Word("null"):
		t.Kind = Null
	case p.selects && p.IsWord(0, "count") && p.IsSign(2, "*"):
		return p.selected()
	case p.isFunction():
		t = p.call()
	case p.IsSign(0, "-"):
		if p.arithmetic() {
			return p.simpleTerm()
		}
	case p.IsSign(0, "(", "[", "{"):
		if !p.selects || p.beyond("a selection of tuples, collections and values with their type") {
			t = p.composite()
		}
	case p.selects:
		return p.selected()
	case p.IsWord(0, "cast") && p.IsSign(1, "("):
		if p.beyond("CAST of a value") {
			return p.selected()
		}
	default:
		p.Unexpected("a value")
	}
	if p.selects {
		p.noPath()
	}
	return t
}

// call takes a function.
func (p *parser) call() Term {
	t := Term{Kind: Call, Text: p.function()}
	p.Expect("(")
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
	case p.Sign("["):
		return Term{Kind: List, Elems: p.terms("]")}
	case p.Sign("{"):
		return p.braces()
	case isType():
		p.Skip(1)
		t := Term{Kind: Cast, Text: p.TypeName().String()}
		p.Expect(")")
		t.Elems = []Term{p.simpleTerm()}
		return t
	}
	p.Expect("(")
	t := Term{Kind: Tuple, Elems: p.terms(")")}
	if t.Elems == nil {
		p.Unexpected("a value")
	}
	return t
}

func (p *parser) isLiteral() bool { return p.Token().Literal != Mark }

// literal takes a literal, which comes next.
func (p *parser) literal() Term {
	t := p.Token()
	p.Skip(1)
	return Term{Kind: t.Literal, Text: t.Text}
}

func (p *parser) isMark() bool { return p.IsSign(0, "?", ":") || p.isTemplate() }

// isTemplate says whether a template comes next, in place of a name or a value.
func (p *parser) isTemplate() bool {
	t := p.Token()
	return t.Kind == cql.Quoted && p.Text[t.Start] != '"'
}

func (p *parser) mark() Term {
	t := Term{Kind: Mark, Mark: p.marks}
	p.marks++
	if p.isTemplate() {
		p.Skip(1)
	} else if !p.Sign("?") {
		p.Expect(":")
		t.Text = p.Identifier()
	}
	return t
}

// integer takes an integer or a mark.
func (p *parser) integer() *Term {
	var t Term
	switch {
	case p.isMark():
		t = p.mark()
	case p.Token().Literal == Integer:
		t = p.literal()
	default:
		p.Unexpected("an integer")
	}
	return &t
}

// braces takes a set, a map or a value of a user-defined type, after its brace.
func (p *parser) braces() Term {
	t := Term{Kind: Set}
	if p.Sign("}") {
		return t
	}
	if p.IsName(0) && p.IsSign(1, ":") {
		t.Kind = User
	}
	for more := true; more; more = p.Sign(",") {
		if t.Kind == User {
			t.Fields = append(t.Fields, p.Identifier())
			p.Expect(":")
		}
		t.Elems = append(t.Elems, p.term())
		if t.Kind == Set && len(t.Elems) == 1 && p.IsSign(0, ":") {
			t.Kind = Map
		}
		if t.Kind == Map {
			p.Expect(":")
			t.Elems = append(t.Elems, p.term())
		}
	}
	p.Expect("}")
	return t
}

// isHint says whether (type) comes next, and not a tuple.
func (p *parser) isHint() bool {
	if t := p.Ahead(1); t.Kind != cql.Word && t.Kind != cql.Quoted {
		return false
	}
	return p.IsSign(2, ")", "<") || p.IsSign(2, ".") && p.IsName(3) && p.IsSign(4, ")")
}

// columnFunctions are names that are none of functions of values.
var columnFunctions = cql.WordSet("writetime maxwritetime ttl cast key json distinct")

// isFunction says whether a function comes next, perhaps with its keyspace.
func (p *parser) isFunction() bool {
	n := 0
	if p.IsName(0) && p.IsSign(1, ".") {
		n = 2
	}
	t := p.Ahead(n)
	return p.IsSign(n+1, "(") && (p.IsWord(n, "token") || p.IsName(n) &&
		(t.Kind == cql.Quoted || !columnFunctions[t.Text]))
}

// function takes the name of a function, without the keyspace of those that Cassandra has of itself.
func (p *parser) function() string {
	if p.Word("token") {
		return "token"
	}
	name := p.Identifier()
	if !p.Sign(".") {
		return name
	}
	if name == "system" {
		return p.function()
	}
	return name + "." + p.function()
}
