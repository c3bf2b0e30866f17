package cql

import (
	"strings"
	"sync"
)

// Parse reads one statement; semicolons may follow it. The error is a [SyntaxError], or an [InvalidError].
func Parse(text string) (Statement, error) {
	room := rooms.Get().(*[roomSize]token)
	defer func() {
		clear(room[:]) // or it would keep texts
		rooms.Put(room)
	}()
	tokens, err := scan(text, room[:0])
	if err != nil {
		return nil, err
	}
	p := &parser{text: text, tokens: tokens}
	s := p.statement()
	for p.sign(";") {
	}
	if p.token().kind != end {
		p.syntax("mismatched input " + p.input() + " expecting EOF")
	}
	if p.err != nil {
		return nil, p.err
	}
	return s, nil
}

// rooms have space for the tokens of most statements: those are needed until the statement is read.
var rooms = sync.Pool{New: func() any { return new([roomSize]token) }}

const roomSize = 128

// parser reads tokens by recursive descent. The first error is kept, and puts the parser at the end of the text: what it reads
// after that fails too, and nothing repeats for ever.
type parser struct {
	text   string
	tokens []token // the last is the end
	at     int
	marks  int
	depth  int
	err    error
}

// maxDepth bounds what a text makes of the stack.
const maxDepth = 100

// nested counts a level of nesting; the caller calls p.leave if it is true.
func (p *parser) nested() bool {
	if p.depth == maxDepth {
		p.invalid("nested too deep")
		return false
	}
	p.depth++
	return true
}

func (p *parser) leave() { p.depth-- }

func (p *parser) token() *token { return &p.tokens[p.at] }

// ahead is the token that comes some tokens later.
func (p *parser) ahead(n int) *token { return &p.tokens[min(p.at+n, len(p.tokens)-1)] }

// skip passes over tokens, but not over the end.
func (p *parser) skip(n int) { p.at = min(p.at+n, len(p.tokens)-1) }

func (p *parser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.at = len(p.tokens) - 1
}

// syntax fails at the token.
func (p *parser) syntax(message string) {
	if t := p.token(); t.kind == end {
		p.fail(&SyntaxError{Line: 0, Column: -1, Text: message})
	} else {
		p.fail(errorAt(p.text, int(t.start), message))
	}
}

// refuse fails because of an option.
func (p *parser) refuse(text string) { p.fail(&SyntaxError{Text: text}) }

func (p *parser) invalid(text string) { p.fail(&InvalidError{Text: text}) }

// unsupported fails because of something that is CQL.
func (p *parser) unsupported(what string) { p.invalid(Unsupported + what) }

// unexpected fails because the token can not stand here.
func (p *parser) unexpected() { p.syntax("no viable alternative at input " + p.input()) }

// maxInput bounds what a message shows of the text.
const maxInput = 60

// input is the token for a message; what a string holds is nobody's business.
func (p *parser) input() string {
	switch t := p.token(); t.kind {
	case end:
		return "'<EOF>'"
	case literalString:
		return "a string"
	default:
		return "'" + p.text[t.start:min(t.end, t.start+maxInput)] + "'"
	}
}

// isWord says whether the token n later is this keyword.
func (p *parser) isWord(n int, keyword string) bool {
	t := p.ahead(n)
	return t.kind == word && t.text == keyword
}

// isSign says whether the token n later is this sign.
func (p *parser) isSign(n int, s string) bool {
	t := p.ahead(n)
	return t.kind == sign && t.text == s
}

// word takes a keyword, if it comes next.
func (p *parser) word(keyword string) bool {
	if !p.isWord(0, keyword) {
		return false
	}
	p.skip(1)
	return true
}

// sign takes a sign, if it comes next.
func (p *parser) sign(s string) bool {
	if !p.isSign(0, s) {
		return false
	}
	p.skip(1)
	return true
}

// words takes all these keywords, which must come next.
func (p *parser) words(keywords ...string) {
	for _, k := range keywords {
		if !p.word(k) {
			p.syntax("mismatched input " + p.input() + " expecting K_" + strings.ToUpper(k))
		}
	}
}

// expect takes a sign, which must come next.
func (p *parser) expect(s string) {
	if !p.sign(s) {
		p.syntax("mismatched input " + p.input() + " expecting '" + s + "'")
	}
}

// ifExists takes IF EXISTS.
func (p *parser) ifExists() bool {
	if !p.word("if") {
		return false
	}
	p.words("exists")
	return true
}

// ifNotExists takes IF NOT EXISTS.
func (p *parser) ifNotExists() bool {
	if !p.word("if") {
		return false
	}
	p.words("not", "exists")
	return true
}

func (p *parser) statement() Statement {
	switch {
	case p.word("select"):
		return p.selectStatement()
	case p.isWord(0, "insert"), p.isWord(0, "update"), p.isWord(0, "delete"):
		return p.modification()
	case p.word("begin"):
		return p.batch()
	case p.word("truncate"):
		p.table()
		return &Truncate{Table: p.name()}
	case p.word("use"):
		return &Use{Keyspace: p.keyspace()}
	case p.word("create"):
		return p.create()
	case p.word("alter"):
		return p.alter()
	case p.word("drop"):
		return p.drop()
	}
	for _, known := range []string{"grant", "revoke", "list", "describe", "desc"} {
		if p.isWord(0, known) {
			p.unsupported(strings.ToUpper(known))
			return nil
		}
	}
	p.unexpected()
	return nil
}
