package cql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Parse reads one statement; semicolons may follow it. The error is a [SyntaxError], or an [InvalidError].
func Parse(text string) (Statement, error) {
	room := rooms.Get().(*[]token)
	defer giveBack(room)
	if err := (&lexer{text: text}).scan(room); err != nil {
		return nil, err
	}
	p := &parser{text: text, tokens: *room}
	s := p.statement()
	for p.sign(";") {
	}
	p.ended()
	if p.err != nil {
		return nil, p.err
	}
	return s, nil
}

// parser reads tokens by recursive descent. The first error is kept, and puts the parser at the end of the text: what it reads
// after that fails too, and nothing repeats forever.
type parser struct {
	text   string
	tokens []token // the last is the end
	at     int
	marks  int
	depth  int
	err    error
	// script says that this reads a [Script], or a piece of a statement. Otherwise everything is as Cassandra has it.
	script  bool
	defines bool  // user-defined types are written with their fields
	selects bool  // there may be columns in a term
	lines   []int // where they end, once one was asked for
	// outer is the transaction whose statements are read, nil outside of one. Without Lets any name may be that of a LET.
	outer *Transaction
}

// maxDepth bounds what a text makes of the stack.
const maxDepth = 100

// enter counts a level of nesting; the caller calls p.leave at its end.
func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.invalid(fmt.Sprintf("nested deeper than %d", maxDepth))
	}
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
	if t := p.token(); t.kind == end && !p.script {
		p.fail(&SyntaxError{Line: 0, Column: -1, Text: message})
	} else {
		if t.kind == broken {
			message = t.text
		}
		p.fail(p.errorAt(int(t.start), message))
	}
}

// errorAt is a [SyntaxError] at an offset of the text. Of a script, which may have many, nobody asks for the column.
func (p *parser) errorAt(offset int, message string) *SyntaxError {
	if p.script {
		return &SyntaxError{Line: p.line(offset), Text: message}
	}
	return errorAt(p.text, offset, message)
}

// line is the line, from 1, of an offset of the text.
func (p *parser) line(offset int) int {
	if p.lines == nil {
		p.lines = []int{}
		for i, c := range []byte(p.text) {
			if c == '\n' {
				p.lines = append(p.lines, i)
			}
		}
	}
	n, _ := slices.BinarySearch(p.lines, offset)
	return n + 1
}

// refuse fails because of an option.
func (p *parser) refuse(text string) { p.notSyntax(&SyntaxError{Text: text}) }

func (p *parser) invalid(text string) { p.notSyntax(&InvalidError{Text: text}) }

// notSyntax fails without a place, but not in a script.
func (p *parser) notSyntax(err error) {
	if p.script {
		p.syntax(err.Error())
	} else {
		p.fail(err)
	}
}

// either fails at the token with Cassandra's message, or in a script with one in plain words.
func (p *parser) either(message, plain string) {
	if p.script {
		message = plain
	}
	p.syntax(message)
}

// unsupported fails because of something that is CQL.
func (p *parser) unsupported(what string) {
	if p.script {
		p.invalid(what + " is not understood here")
	} else {
		p.invalid(Unsupported + what)
	}
}

// beyond says whether something that is CQL is read, which is so in scripts only, and fails if not.
func (p *parser) beyond(what string) bool {
	if !p.script {
		p.unsupported(what)
	}
	return p.script
}

// unexpected fails because something else is expected here.
func (p *parser) unexpected(want string) {
	p.either("no viable alternative at input "+p.input(), p.wanted(want))
}

// mismatched is unexpected where Cassandra says what it should be, in its own way.
func (p *parser) mismatched(want, plain string) {
	p.either("mismatched input "+p.input()+" expecting "+want, p.wanted(plain))
}

// wanted says in plain words that something else is expected here.
func (p *parser) wanted(want string) string {
	if p.token().kind == end {
		return "want " + want + " before the end of the text"
	}
	return "want " + want + ", not " + p.found(strconv.Quote)
}

// maxInput bounds what a message shows of the text.
const maxInput = 60

// found is what is at the token, for a message; what a string holds is nobody's business.
func (p *parser) found(quote func(string) string) string {
	t := p.token()
	if t.literal == String {
		return "a string"
	}
	return quote(p.text[t.start:min(t.end, t.start+maxInput)])
}

// input is what is at the token as Cassandra has it.
func (p *parser) input() string {
	if p.token().kind == end {
		return "'<EOF>'"
	}
	return p.found(func(s string) string { return "'" + s + "'" })
}

// isWord says whether the token n later is this keyword.
func (p *parser) isWord(n int, keyword string) bool {
	t := p.ahead(n)
	return t.kind == word && t.text == keyword
}

// isSign says whether the token n later is one of these signs.
func (p *parser) isSign(n int, signs ...string) bool {
	t := p.ahead(n)
	return t.kind == sign && slices.Contains(signs, t.text)
}

// word takes a keyword, if it comes next.
func (p *parser) word(keyword string) bool {
	taken := p.isWord(0, keyword)
	if taken {
		p.skip(1)
	}
	return taken
}

// sign takes a sign, if it comes next.
func (p *parser) sign(s string) bool {
	taken := p.isSign(0, s)
	if taken {
		p.skip(1)
	}
	return taken
}

// words takes all these keywords, which must come next.
func (p *parser) words(keywords ...string) {
	for i, k := range keywords {
		if !p.word(k) {
			p.mismatched("K_"+strings.ToUpper(k), strings.ToUpper(strings.Join(keywords[i:], " ")))
		}
	}
}

// clause takes all these keywords, if the first one comes next.
func (p *parser) clause(first string, more ...string) bool {
	taken := p.word(first)
	if taken {
		p.words(more...)
	}
	return taken
}

// ifExists takes IF EXISTS, if it comes next.
func (p *parser) ifExists() bool { return p.clause("if", "exists") }

// ifNotExists takes IF NOT EXISTS, if it comes next.
func (p *parser) ifNotExists() bool { return p.clause("if", "not", "exists") }

// expect takes a sign, which must come next.
func (p *parser) expect(s string) {
	if !p.sign(s) {
		p.mismatched("'"+s+"'", strconv.Quote(s))
	}
}

// several takes one thing or more, with a sign or a keyword between them.
func several[T any](p *parser, between string, one func() T) []T {
	all := []T{one()}
	for p.sign(between) || p.word(between) {
		all = append(all, one())
	}
	return all
}

// perhapsBracketed takes one thing, or several in brackets.
func perhapsBracketed[T any](p *parser, one func() T) []T {
	if p.isSign(0, "(") {
		return bracketed(p, one)
	}
	return []T{one()}
}

// bracketed takes (one, ...).
func bracketed[T any](p *parser, one func() T) []T {
	p.expect("(")
	all := several(p, ",", one)
	p.expect(")")
	return all
}

// ended fails if anything is left.
func (p *parser) ended() {
	if p.token().kind != end {
		p.either("mismatched input "+p.input()+" expecting EOF", "unexpected "+p.found(strconv.Quote))
	}
}

func (p *parser) statement() Statement {
	switch {
	case p.word("select"):
		return p.selectStatement()
	case p.isModification():
		return p.modification()
	case p.word("begin"):
		if p.word("transaction") && p.beyond("BEGIN TRANSACTION") {
			return p.transaction()
		}
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
	p.others("", "a statement", "grant", "revoke", "list", "describe", "desc")
	return nil
}

// others fails at what is CQL and has no statement here, after a verb, or at what is none.
func (p *parser) others(verb, want string, known ...string) {
	if t := p.token(); t.kind == word && slices.Contains(known, t.text) {
		p.unsupported(verb + strings.ToUpper(t.text))
	}
	p.unexpected(want)
}
