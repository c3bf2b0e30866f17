package cql

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Parser reads tokens by recursive descent. The first error is kept, and puts the parser at the end of the text: what it reads
// after that fails too, and nothing repeats forever.
type Parser struct {
	Text   string
	Tokens []Token // the last is the end
	At     int
	Depth  int
	Err    error
	// script says that this reads a [Script], or a piece of a statement. Otherwise everything is as Cassandra has it.
	Script  bool
	defines bool  // user-defined types are written with their fields
	lines   []int // where they end, once one was asked for
}

// MaxDepth bounds what a text makes of the stack.
const MaxDepth = 100

// Enter counts a level of nesting; the caller calls p.Leave at its end.
func (p *Parser) Enter() {
	if p.Depth++; p.Depth > MaxDepth {
		p.Invalid(fmt.Sprintf("nested deeper than %d", MaxDepth))
	}
}

// Leave ends what Enter began.
func (p *Parser) Leave() { p.Depth-- }

// Token is the one that comes next.
func (p *Parser) Token() *Token { return &p.Tokens[p.At] }

// Ahead is the token that comes some tokens later.
func (p *Parser) Ahead(n int) *Token { return &p.Tokens[min(p.At+n, len(p.Tokens)-1)] }

// Skip passes over tokens, but not over the end.
func (p *Parser) Skip(n int) { p.At = min(p.At+n, len(p.Tokens)-1) }

// fail keeps the first error, and ends the text.
func (p *Parser) fail(err error) {
	if p.Err == nil {
		p.Err = err
	}
	p.At = len(p.Tokens) - 1
}

// Syntax fails at the token.
func (p *Parser) Syntax(message string) {
	if t := p.Token(); t.Kind == End && !p.Script {
		p.fail(&SyntaxError{Line: 0, Column: -1, Text: message})
	} else {
		if t.Kind == Broken {
			message = t.Text
		}
		p.fail(p.errorAt(int(t.Start), message))
	}
}

// errorAt is a [SyntaxError] at an offset of the text. Of a script, which may have many, nobody asks for the column.
func (p *Parser) errorAt(offset int, message string) *SyntaxError {
	if p.Script {
		return &SyntaxError{Line: p.Line(offset), Text: message}
	}
	return errorAt(p.Text, offset, message)
}

// Line is the line, from 1, of an offset of the text.
func (p *Parser) Line(offset int) int {
	if p.lines == nil {
		p.lines = []int{}
		for i, c := range []byte(p.Text) {
			if c == '\n' {
				p.lines = append(p.lines, i)
			}
		}
	}
	n, _ := slices.BinarySearch(p.lines, offset)
	return n + 1
}

// Invalid fails because Cassandra rejects what is CQL.
func (p *Parser) Invalid(text string) { p.Reject(&InvalidError{Text: text}) }

// Reject fails without a place, but not in a script.
func (p *Parser) Reject(err error) {
	if p.Script {
		p.Syntax(err.Error())
	} else {
		p.fail(err)
	}
}

// Either fails at the token with Cassandra's message, or in a script with one in plain words.
func (p *Parser) Either(message, plain string) {
	if p.Script {
		message = plain
	}
	p.Syntax(message)
}

// Unexpected fails because something else is expected here.
func (p *Parser) Unexpected(want string) {
	p.Either("no viable alternative at input "+p.input(), p.wanted(want))
}

// Mismatched is [Parser.Unexpected] where Cassandra says what it should be, in its own way.
func (p *Parser) Mismatched(want, plain string) {
	p.Either("mismatched input "+p.input()+" expecting "+want, p.wanted(plain))
}

// wanted says in plain words that something else is expected here.
func (p *Parser) wanted(want string) string {
	if p.Token().Kind == End {
		return "want " + want + " before the end of the text"
	}
	return "want " + want + ", not " + p.found(strconv.Quote)
}

// maxInput bounds what a message shows of the text.
const maxInput = 60

// found is what is at the token, for a message; what a string holds is nobody's business.
func (p *Parser) found(quote func(string) string) string {
	t := p.Token()
	if t.Literal == String {
		return "a string"
	}
	return quote(p.Text[t.Start:min(t.End, t.Start+maxInput)])
}

// input is what is at the token as Cassandra has it.
func (p *Parser) input() string {
	if p.Token().Kind == End {
		return "'<EOF>'"
	}
	return p.found(func(s string) string { return "'" + s + "'" })
}

// IsWord says whether the token n later is this keyword.
func (p *Parser) IsWord(n int, keyword string) bool {
	t := p.Ahead(n)
	return t.Kind == Word && t.Text == keyword
}

// IsSign says whether the token n later is one of these signs.
func (p *Parser) IsSign(n int, signs ...string) bool {
	t := p.Ahead(n)
	return t.Kind == Sign && slices.Contains(signs, t.Text)
}

// Word takes a keyword, if it comes next.
func (p *Parser) Word(keyword string) bool { return p.take(p.IsWord(0, keyword)) }

// Sign takes a sign, if it comes next.
func (p *Parser) Sign(s string) bool { return p.take(p.IsSign(0, s)) }

// take takes the token, if it is the one that is meant.
func (p *Parser) take(meant bool) bool {
	if meant {
		p.Skip(1)
	}
	return meant
}

// Expect takes a sign, which must come next.
func (p *Parser) Expect(s string) {
	if !p.Sign(s) {
		p.Mismatched("'"+s+"'", strconv.Quote(s))
	}
}

// Several takes one thing or more, with a sign or a keyword between them.
func Several[T any](p *Parser, between string, one func() T) []T {
	all := []T{one()}
	for p.Sign(between) || p.Word(between) {
		all = append(all, one())
	}
	return all
}

// Ended fails if anything is left.
func (p *Parser) Ended() {
	if p.Token().Kind != End {
		p.Either("mismatched input "+p.input()+" expecting EOF", "unexpected "+p.found(strconv.Quote))
	}
}

// With reads the tokens of a text, and gives read a parser of them, which it must not keep.
func With(text string, script bool, read func(*Parser)) error {
	room := rooms.Get().(*[]Token)
	defer giveBack(room)
	if err := (&lexer{text: text, script: script}).scan(room); err != nil {
		return err
	}
	p := &Parser{Text: text, Tokens: *room, Script: script}
	read(p)
	return p.Err
}

// NewParser reads the tokens and the comments of a script.
func NewParser(script string) (*Parser, []Comment, error) {
	l := lexer{text: script, script: true}
	var tokens []Token
	if err := l.scan(&tokens); err != nil {
		return nil, nil, err
	}
	return &Parser{Text: script, Tokens: tokens, Script: true}, l.comments, nil
}

// Alone reads a piece of a statement, as in a script.
func Alone[T any](text string, take func(*Parser) T) (out T, err error) {
	err = With(text, true, func(p *Parser) {
		out = take(p)
		p.Ended()
	})
	if err == nil {
		return out, nil
	}
	var none T
	if syntax := new(*SyntaxError); errors.As(err, syntax) {
		err = errors.New((*syntax).Text)
	}
	return none, err
}
