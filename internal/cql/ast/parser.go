package ast

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/denorm-go/denorm/internal/cql"
)

// Parse reads one statement; semicolons may follow it. The error is a [SyntaxError], or a [InvalidError].
func Parse(text string) (Statement, error) {
	p, _, err := newParser(text, false)
	if err != nil {
		return nil, err
	}
	s := p.statement()
	for p.Sign(";") {
	}
	if p.Ended(); p.Err != nil {
		return nil, p.Err
	}
	return s, nil
}

// parser reads statements from tokens by recursive descent. The first error is kept, and puts the parser at the end of
// the text: what it reads after that fails too, and nothing repeats forever.
type parser struct {
	Text   string
	Tokens []token // the last is the end
	At     int
	Depth  int
	Err    error
	// Script says that this reads a [Script], or a piece of a statement. Otherwise everything is as Cassandra has it.
	Script bool
	lines  []int // where they end, once one was asked for

	marks   int
	selects bool // there may be columns in a term
	// outer is the transaction whose statements are read, nil outside of one. Without Lets any name may name a LET.
	outer *Transaction
}

// Enter counts a level of nesting; the caller calls p.Leave at its end.
func (p *parser) Enter() {
	if p.Depth++; p.Depth > cql.MaxDepth {
		p.Invalid(fmt.Sprintf("nested deeper than %d", cql.MaxDepth))
	}
}

// Leave ends what Enter began.
func (p *parser) Leave() { p.Depth-- }

// Token is the one that comes next.
func (p *parser) Token() *token { return &p.Tokens[p.At] }

// later is the token that comes some tokens later.
func (p *parser) later(n int) *token { return &p.Tokens[min(p.At+n, len(p.Tokens)-1)] }

// Ahead is what of that token matters to types.
func (p *parser) Ahead(n int) cql.Token { return p.later(n).Token }

// Skip passes over tokens, but not over the end.
func (p *parser) Skip(n int) { p.At = min(p.At+n, len(p.Tokens)-1) }

// fail keeps the first error, and ends the text.
func (p *parser) fail(err error) {
	if p.Err == nil {
		p.Err = err
	}
	p.At = len(p.Tokens) - 1
}

// Syntax fails at the token.
func (p *parser) Syntax(message string) {
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
func (p *parser) errorAt(offset int, message string) *SyntaxError {
	if p.Script {
		return &SyntaxError{Line: p.Line(offset), Text: message}
	}
	return errorAt(p.Text, offset, message)
}

// Line is the line, from 1, of an offset of the text.
func (p *parser) Line(offset int) int {
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
func (p *parser) Invalid(text string) { p.Reject(&InvalidError{Text: text}) }

// Reject fails without a place, but not in a script.
func (p *parser) Reject(err error) {
	if p.Script {
		p.Syntax(err.Error())
	} else {
		p.fail(err)
	}
}

// Either fails at the token with Cassandra's message, or in a script with one in plain words.
func (p *parser) Either(message, plain string) {
	if p.Script {
		message = plain
	}
	p.Syntax(message)
}

// Unexpected fails because something else is expected here.
func (p *parser) Unexpected(want string) { p.Refuse(p.Token().Wanted(p.Text, want)) }

// Refuse fails because of what is here, for a reason in plain words.
func (p *parser) Refuse(reason string) { p.Either("no viable alternative at input "+p.input(), reason) }

// Mismatched is [parser.Unexpected] where Cassandra says what it should be, in its own way.
func (p *parser) Mismatched(want, plain string) {
	p.Either("mismatched input "+p.input()+" expecting "+want, p.Token().Wanted(p.Text, plain))
}

// input is what is at the token as Cassandra has it.
func (p *parser) input() string {
	if p.Token().Kind == cql.End {
		return "'<EOF>'"
	}
	return p.Token().Found(p.Text, func(s string) string { return "'" + s + "'" })
}

// IsWord says whether the token n later is this keyword.
func (p *parser) IsWord(n int, keyword string) bool {
	t := p.Ahead(n)
	return t.Kind == cql.Word && t.Text == keyword
}

// IsSign says whether the token n later is one of these signs.
func (p *parser) IsSign(n int, signs ...string) bool {
	t := p.Ahead(n)
	return t.Kind == cql.Sign && slices.Contains(signs, t.Text)
}

// Word takes a keyword, if it comes next.
func (p *parser) Word(keyword string) bool { return p.take(p.IsWord(0, keyword)) }

// Sign takes a sign, if it comes next.
func (p *parser) Sign(s string) bool { return p.take(p.IsSign(0, s)) }

// take takes the token, if it is the one that is meant.
func (p *parser) take(meant bool) bool {
	if meant {
		p.Skip(1)
	}
	return meant
}

// Expect takes a sign, which must come next.
func (p *parser) Expect(s string) {
	if !p.Sign(s) {
		p.Mismatched("'"+s+"'", strconv.Quote(s))
	}
}

// several takes one thing or more, with a sign or a keyword between them.
func several[T any](p *parser, between string, one func() T) []T {
	all := []T{one()}
	for p.Sign(between) || p.Word(between) {
		all = append(all, one())
	}
	return all
}

// Ended fails if anything is left.
func (p *parser) Ended() {
	if p.Token().Kind != cql.End {
		p.Either("mismatched input "+p.input()+" expecting EOF", "unexpected "+p.Token().Found(p.Text, strconv.Quote))
	}
}

// newParser reads the tokens of a text, and its comments.
func newParser(text string, script bool) (*parser, []Comment, error) {
	l := lexer{Lexer: cql.Lexer{Text: text}, script: script}
	tokens, err := l.scan()
	return &parser{Text: text, Tokens: tokens, Script: script}, l.Comments, err
}

// Plain says whether a word that needs arguments is no type without them. Cassandra looks for a user-defined one.
func (p *parser) Plain() bool { return p.Script }

// IsName says whether the token n later is a name.
func (p *parser) IsName(n int) bool { return p.Ahead(n).IsName() }

// Identifier takes a name.
func (p *parser) Identifier() string { return cql.ReadName(p) }

// Keyspace takes the name of a keyspace.
func (p *parser) Keyspace() string {
	p.NoMark("keyspace")
	return p.Identifier()
}

// NoMark fails at a mark, which cannot stand for a name.
func (p *parser) NoMark(what string) {
	if p.IsSign(0, "?") {
		p.Syntax("Bind variables cannot be used for " + what + " names")
	}
}

// NativeType takes a type without parts.
func (p *parser) NativeType() string {
	if !p.Ahead(0).IsNative() {
		p.Unexpected("a type without parts")
	}
	return p.Identifier()
}

// TypeName takes a type.
func (p *parser) TypeName() *cql.Type { return cql.ReadType(p) }

// UserType takes the name of a user-defined type.
func (p *parser) UserType() cql.Name {
	if p.IsSign(1, ".") {
		p.NoMark("keyspace")
	}
	return cql.ReadUserType(p)
}

// Field takes a field of a type.
func (p *parser) Field() ColumnDefinition {
	return ColumnDefinition{Name: p.Identifier(), Type: p.TypeName()}
}

// SyntaxError says where a text is no statement. Its message is like Cassandra's: lines count from 1, columns from 0,
// and the end of the text is at line 0, column -1. Without both it is about an option.
type SyntaxError struct {
	Line, Column int
	Text         string
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 && e.Column == 0 {
		return e.Text
	}
	return fmt.Sprintf("line %d:%d %s", e.Line, e.Column, e.Text)
}

// InvalidError says that a statement is CQL that Cassandra rejects whatever the schema, or that this package
// does not know.
type InvalidError struct {
	Text        string
	Unsupported bool // Cassandra accepts it
}

func (e *InvalidError) Error() string { return e.Text }

// Unsupported begins the message of an error about CQL that Cassandra accepts, and that the one in the process does not
// know.
const Unsupported = "not supported by the in-process Cassandra: "

// errorAt is a [SyntaxError] at an offset of the text.
func errorAt(text string, offset int, message string) *SyntaxError {
	before := text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return &SyntaxError{
		Line: strings.Count(before, "\n") + 1, Column: utf8.RuneCountInString(before[start:]), Text: message,
	}
}

func (p *parser) statement() Statement {
	switch {
	case p.Word("select"):
		return p.selectStatement()
	case p.isModification():
		return p.modification()
	case p.Word("begin"):
		if p.Word("transaction") && p.beyond("BEGIN TRANSACTION") {
			return p.transaction()
		}
		return p.batch()
	case p.Word("truncate"):
		p.table()
		return &Truncate{Table: p.name()}
	case p.Word("use"):
		return &Use{Keyspace: p.Keyspace()}
	case p.Word("create"):
		return p.create()
	case p.Word("alter"):
		return p.alter()
	case p.Word("drop"):
		return p.drop()
	}
	p.others("", "a statement", "grant", "revoke", "list", "describe", "desc")
	return nil
}

// others fails, after a verb: at CQL that has no statement here, and at what is not CQL.
func (p *parser) others(verb, want string, known ...string) {
	if t := p.Token(); t.Kind == cql.Word && slices.Contains(known, t.Text) {
		p.unsupported(verb + strings.ToUpper(t.Text))
	}
	p.Unexpected(want)
}
