package ast

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/denorm-go/denorm/internal/cql"
)

// reader reads tokens by recursive descent. The first error is kept, and puts the parser at the end of the text: what it reads
// after that fails too, and nothing repeats forever.
type reader struct {
	Text   string
	Tokens []token // the last is the end
	At     int
	Depth  int
	Err    error
	// script says that this reads a [Script], or a piece of a statement. Otherwise everything is as Cassandra has it.
	Script bool
	lines  []int // where they end, once one was asked for
}

// Enter counts a level of nesting; the caller calls p.Leave at its end.
func (p *reader) Enter() {
	if p.Depth++; p.Depth > cql.MaxDepth {
		p.Invalid(fmt.Sprintf("nested deeper than %d", cql.MaxDepth))
	}
}

// Leave ends what Enter began.
func (p *reader) Leave() { p.Depth-- }

// Token is the one that comes next.
func (p *reader) Token() *token { return &p.Tokens[p.At] }

// later is the token that comes some tokens later.
func (p *reader) later(n int) *token { return &p.Tokens[min(p.At+n, len(p.Tokens)-1)] }

// Ahead is what of that token matters to types.
func (p *reader) Ahead(n int) cql.Token { return p.later(n).Token }

// Skip passes over tokens, but not over the end.
func (p *reader) Skip(n int) { p.At = min(p.At+n, len(p.Tokens)-1) }

// fail keeps the first error, and ends the text.
func (p *reader) fail(err error) {
	if p.Err == nil {
		p.Err = err
	}
	p.At = len(p.Tokens) - 1
}

// Syntax fails at the token.
func (p *reader) Syntax(message string) {
	if t := p.Token(); t.Kind == cql.End && !p.Script {
		p.fail(&SyntaxError{Line: 0, Column: -1, Text: message})
	} else {
		if t.Kind == cql.Broken {
			message = t.Text
		}
		p.fail(p.errorAt(int(t.Start), message))
	}
}

// errorAt is a [SyntaxError] at an offset of the text. Of a script, which may have many, nobody asks for the column.
func (p *reader) errorAt(offset int, message string) *SyntaxError {
	if p.Script {
		return &SyntaxError{Line: p.Line(offset), Text: message}
	}
	return errorAt(p.Text, offset, message)
}

// Line is the line, from 1, of an offset of the text.
func (p *reader) Line(offset int) int {
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
func (p *reader) Invalid(text string) { p.Reject(&InvalidError{Text: text}) }

// Reject fails without a place, but not in a script.
func (p *reader) Reject(err error) {
	if p.Script {
		p.Syntax(err.Error())
	} else {
		p.fail(err)
	}
}

// Either fails at the token with Cassandra's message, or in a script with one in plain words.
func (p *reader) Either(message, plain string) {
	if p.Script {
		message = plain
	}
	p.Syntax(message)
}

// Unexpected fails because something else is expected here.
func (p *reader) Unexpected(want string) { p.Refuse(p.Token().Wanted(p.Text, want)) }

// Refuse fails because of what is here, for a reason in plain words.
func (p *reader) Refuse(reason string) { p.Either("no viable alternative at input "+p.input(), reason) }

// Mismatched is [reader.Unexpected] where Cassandra says what it should be, in its own way.
func (p *reader) Mismatched(want, plain string) {
	p.Either("mismatched input "+p.input()+" expecting "+want, p.Token().Wanted(p.Text, plain))
}

// input is what is at the token as Cassandra has it.
func (p *reader) input() string {
	if p.Token().Kind == cql.End {
		return "'<EOF>'"
	}
	return p.Token().Found(p.Text, func(s string) string { return "'" + s + "'" })
}

// IsWord says whether the token n later is this keyword.
func (p *reader) IsWord(n int, keyword string) bool {
	t := p.Ahead(n)
	return t.Kind == cql.Word && t.Text == keyword
}

// IsSign says whether the token n later is one of these signs.
func (p *reader) IsSign(n int, signs ...string) bool {
	t := p.Ahead(n)
	return t.Kind == cql.Sign && slices.Contains(signs, t.Text)
}

// Word takes a keyword, if it comes next.
func (p *reader) Word(keyword string) bool { return p.take(p.IsWord(0, keyword)) }

// Sign takes a sign, if it comes next.
func (p *reader) Sign(s string) bool { return p.take(p.IsSign(0, s)) }

// take takes the token, if it is the one that is meant.
func (p *reader) take(meant bool) bool {
	if meant {
		p.Skip(1)
	}
	return meant
}

// Expect takes a sign, which must come next.
func (p *reader) Expect(s string) {
	if !p.Sign(s) {
		p.Mismatched("'"+s+"'", strconv.Quote(s))
	}
}

// several takes one thing or more, with a sign or a keyword between them.
func several[T any](p *reader, between string, one func() T) []T {
	all := []T{one()}
	for p.Sign(between) || p.Word(between) {
		all = append(all, one())
	}
	return all
}

// Ended fails if anything is left.
func (p *reader) Ended() {
	if p.Token().Kind != cql.End {
		p.Either("mismatched input "+p.input()+" expecting EOF", "unexpected "+p.Token().Found(p.Text, strconv.Quote))
	}
}

// with reads the tokens of a text, and gives read a parser of them, which it must not keep.
func with(text string, script bool, read func(*reader)) error {
	room := rooms.Get().(*[]token)
	defer giveBack(room)
	if err := (&lexer{Lexer: cql.Lexer{Text: text}, script: script}).scan(room); err != nil {
		return err
	}
	p := &reader{Text: text, Tokens: *room, Script: script}
	read(p)
	return p.Err
}

// newReader reads the tokens and the comments of a script.
func newReader(script string) (*reader, []cql.Comment, error) {
	l := lexer{Lexer: cql.Lexer{Text: script}, script: true}
	var tokens []token
	if err := l.scan(&tokens); err != nil {
		return nil, nil, err
	}
	return &reader{Text: script, Tokens: tokens, Script: true}, l.Comments, nil
}

// alone reads a piece of a statement, as in a script.
func alone[T any](text string, take func(*reader) T) (out T, err error) {
	err = with(text, true, func(p *reader) {
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

// Plain says whether a word that needs arguments is no type without them. Cassandra looks for a user-defined one.
func (p *reader) Plain() bool { return p.Script }

// IsName says whether the token n later is a name.
func (p *reader) IsName(n int) bool { return p.Ahead(n).IsName() }

// Identifier takes a name.
func (p *reader) Identifier() string { return cql.ReadName(p) }

// Keyspace takes the name of a keyspace.
func (p *reader) Keyspace() string {
	p.NoMark("keyspace")
	return p.Identifier()
}

// NoMark fails at a mark, which cannot stand for a name.
func (p *reader) NoMark(what string) {
	if p.IsSign(0, "?") {
		p.Syntax("Bind variables cannot be used for " + what + " names")
	}
}

// NativeType takes a type without parts.
func (p *reader) NativeType() string {
	if !p.Ahead(0).IsNative() {
		p.Unexpected("a type without parts")
	}
	return p.Identifier()
}

// TypeName takes a type.
func (p *reader) TypeName() *cql.Type { return cql.ReadType(p) }

// UserType takes the name of a user-defined type.
func (p *reader) UserType() cql.Name {
	if p.IsSign(1, ".") {
		p.NoMark("keyspace")
	}
	return cql.ReadUserType(p)
}

// Field takes a field of a type.
func (p *reader) Field() ColumnDefinition {
	return ColumnDefinition{Name: p.Identifier(), Type: p.TypeName()}
}
