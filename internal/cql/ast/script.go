package ast

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
)

// Script is a text of statements, for those who look at a schema and what is asked of it, and run nothing. More of CQL
// is read than by [Parse]: transactions, JSON, GROUP BY, arithmetic, slices and the like, of which [Statement] has only
// the columns. Errors name the line, from 1, and say in plain words what is expected there.
type Script struct {
	Comments []Comment // in their order
	p        *parser
}

// Span is a part of the text of a [Script].
type Span struct{ From, To int }

// NewScript reads the tokens of a text, but no statement yet.
func NewScript(text string) (*Script, error) {
	p, comments, err := newParser(text, true)
	if err != nil {
		return nil, lined(err)
	}
	return &Script{comments, p}, nil
}

// lined is an error with its line, but not its column.
func lined(err error) error {
	if syntax := new(*SyntaxError); errors.As(err, syntax) {
		return fmt.Errorf("line %d: %s", (*syntax).Line, (*syntax).Text)
	}
	return err
}

// Next goes to the next statement, and gives the word in lower case that it begins with, and where. The word is empty
// at what is none, and more is false at the end.
func (s *Script) Next() (first string, at int, more bool) {
	for s.p.Sign(";") {
	}
	t := s.p.Token()
	if t.Kind == cql.Word {
		first = t.Text
	}
	return first, int(t.Start), t.Kind != cql.End
}

// Statement reads the next statement, and the semicolon behind it. One that cannot be read is passed over, and has a
// span too.
func (s *Script) Statement() (Statement, Span, error) {
	from := s.p.At
	out := s.p.statement()
	span := s.p.span(from)
	if s.p.Err == nil && s.p.Token().Kind != cql.End && !s.p.Sign(";") {
		s.p.Unexpected(`";"`)
	}
	if err := s.p.Err; err != nil {
		s.p.At, s.p.Err, s.p.Depth = from, nil, 0
		return nil, s.PassOver(), lined(err)
	}
	return out, span, nil
}

// PassOver passes over the next statement without reading it. A semicolon within a batch or a transaction ends none,
// unless a word follows that begins another statement and is in neither: it has no end.
func (s *Script) PassOver() Span {
	from, within := s.p.At, s.p.IsWord(0, "begin")
	for s.p.Token().Kind != cql.End && (within && !s.p.isStatement(1) || !s.p.IsSign(0, ";")) {
		ends := s.p.IsWord(0, "apply") || s.p.IsWord(0, "commit") && s.p.IsWord(1, "transaction")
		within = within && !ends
		s.p.Skip(1)
	}
	return s.p.span(from)
}

// isStatement says whether the token n later is the first of a statement that is in no batch or transaction.
func (p *parser) isStatement(n int) bool {
	return p.Ahead(n).Kind == cql.Word && slices.Contains(strings.Fields("begin create alter drop truncate use"),
		p.Ahead(n).Text)
}

// SkipLine passes over the rest of the line, or what comes before a semicolon in it, as cqlsh ends its own commands.
func (s *Script) SkipLine() {
	line := s.Line(int(s.p.Token().Start))
	for s.p.Token().Kind != cql.End && !s.p.IsSign(0, ";") && s.Line(int(s.p.Token().Start)) == line {
		s.p.Skip(1)
	}
}

// Line is the line, from 1, of a place in the text.
func (s *Script) Line(at int) int { return s.p.Line(at) }

// Text is a part of the text without its comments, and with one space for all that was between two words.
func (s *Script) Text(span Span) string {
	var b strings.Builder
	at := -1 // where the last one ended
	for _, t := range s.in(span) {
		if at >= 0 && int(t.Start) > at {
			b.WriteByte(' ')
		}
		b.WriteString(s.p.Text[t.Start:t.End])
		at = int(t.End)
	}
	return b.String()
}

// Find is where a name is in a part of the text the n-th time, from 0, or the last time if it is not there so often.
func (s *Script) Find(span Span, name string, n int) int {
	at := span.From
	for _, t := range s.in(span) {
		if (t.Kind == cql.Word || t.Kind == cql.Quoted) && t.Text == name {
			if at = int(t.Start); n == 0 {
				break
			}
			n--
		}
	}
	return at
}

// in are the tokens of a part of the text.
func (s *Script) in(span Span) []token {
	place := func(t token, at int) int { return int(t.Start) - at }
	from, _ := slices.BinarySearchFunc(s.p.Tokens, span.From, place)
	to, _ := slices.BinarySearchFunc(s.p.Tokens, span.To, place)
	return s.p.Tokens[from:to]
}

// span is the range of the tokens from one up to the last one taken.
func (p *parser) span(from int) Span {
	return Span{int(p.Tokens[from].Start), int(p.Tokens[max(from, p.At-1)].End)}
}

// Clause is a text without its comments. It is an error if there is a semicolon in it, or what is not CQL, such as a
// quote without its end.
func Clause(text string) (string, error) {
	s, err := NewScript(text)
	if err != nil {
		return "", err
	}
	for _, t := range s.p.Tokens {
		switch {
		case t.Kind == cql.Sign && t.Text == ";":
			return "", errors.New("a semicolon within a clause")
		case t.Kind == cql.Broken:
			return "", errors.New(t.Text)
		}
	}
	return s.Text(Span{0, len(text)}), nil
}

// First reads the first statement of a text, as a [Script] does, or one of a transaction. It is nil if there is none,
// or one that is not understood.
func First(text string) Statement {
	_, statement := one(text)
	return statement
}

// one is [First], with the script whose statement it is.
func one(text string) (*Script, Statement) {
	script, err := NewScript(text)
	if err != nil {
		return nil, nil
	}
	script.p.outer = &Transaction{}
	if _, _, more := script.Next(); !more {
		return nil, nil
	}
	statement, _, err := script.Statement()
	if err != nil {
		return nil, nil
	}
	return script, statement
}

// ParseOption reads the value of an option of WITH.
func ParseOption(text string) (Option, error) {
	var o Option
	p, _, err := newParser(text, true)
	if err == nil {
		p.optionValue(&o)
		p.Ended()
		err = p.Err
	}
	if syntax := new(*SyntaxError); errors.As(err, syntax) {
		err = errors.New((*syntax).Text)
	}
	if err != nil {
		return Option{}, err
	}
	return o, nil
}
