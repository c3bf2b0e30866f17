package cql

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Script is a text of statements, for those who look at a schema and what is asked of it, and run nothing. More of CQL
// is read than by [Parse]: transactions, JSON, GROUP BY, arithmetic, slices and the like, of which [Statement] has only the columns.
// Errors name the line, from 1, and say in plain words what is expected there.
type Script struct {
	Comments []Comment // in their order
	p        parser
}

// Comment is a comment of a [Script].
type Comment struct {
	Text  string // between its marks
	Block bool   // within /* */
	At    int    // in the text
}

// Span is a part of the text of a [Script].
type Span struct{ From, To int }

// NewScript reads the tokens of a text, but no statement yet.
func NewScript(text string) (*Script, error) {
	l := lexer{text: text, script: true}
	var tokens []token
	if err := l.scan(&tokens); err != nil {
		return nil, lined(err)
	}
	return &Script{l.comments, parser{text: text, tokens: tokens, script: true}}, nil
}

// lined is an error with its line, but not its column.
func lined(err error) error {
	if syntax := new(*SyntaxError); errors.As(err, syntax) {
		return fmt.Errorf("line %d: %s", (*syntax).Line, (*syntax).Text)
	}
	return err
}

// Next goes to the next statement, and gives the word in lower case that it begins with, and where. The word is empty at
// what is none, and more is false at the end.
func (s *Script) Next() (first string, at int, more bool) {
	for s.p.sign(";") {
	}
	t := s.p.token()
	if t.kind == word {
		first = t.text
	}
	return first, int(t.start), t.kind != end
}

// Statement reads the next statement, and the semicolon behind it. One that cannot be read is passed over, and has a span too.
func (s *Script) Statement() (Statement, Span, error) {
	from := s.p.at
	out := s.p.statement()
	span := s.p.span(from)
	if s.p.err == nil && s.p.token().kind != end && !s.p.sign(";") {
		s.p.unexpected(`";"`)
	}
	if err := s.p.err; err != nil {
		s.p.at, s.p.err, s.p.depth = from, nil, 0
		return nil, s.PassOver(), lined(err)
	}
	return out, span, nil
}

// PassOver passes over the next statement without reading it. A semicolon within a batch or a transaction ends none, unless a word follows that begins
// another statement and is in neither: it has no end.
func (s *Script) PassOver() Span {
	from, within := s.p.at, s.p.isWord(0, "begin")
	for s.p.token().kind != end && (within && !s.p.isStatement(1) || !s.p.isSign(0, ";")) {
		ends := s.p.isWord(0, "apply") || s.p.isWord(0, "commit") && s.p.isWord(1, "transaction")
		within = within && !ends
		s.p.skip(1)
	}
	return s.p.span(from)
}

// isStatement says whether the token n later is the first of a statement that is in no batch or transaction.
func (p *parser) isStatement(n int) bool {
	return p.ahead(n).kind == word && slices.Contains(strings.Fields("begin create alter drop truncate use"), p.ahead(n).text)
}

// SkipLine passes over the rest of the line, or what comes before a semicolon in it, as cqlsh ends its own commands.
func (s *Script) SkipLine() {
	line := s.Line(int(s.p.token().start))
	for s.p.token().kind != end && !s.p.isSign(0, ";") && s.Line(int(s.p.token().start)) == line {
		s.p.skip(1)
	}
}

// Line is the line, from 1, of a place in the text.
func (s *Script) Line(at int) int { return s.p.line(at) }

// Text is a part of the text without its comments, and with one space for all that was between two words.
func (s *Script) Text(span Span) string {
	var b strings.Builder
	at := -1 // where the last one ended
	for _, t := range s.in(span) {
		if at >= 0 && int(t.start) > at {
			b.WriteByte(' ')
		}
		b.WriteString(s.p.text[t.start:t.end])
		at = int(t.end)
	}
	return b.String()
}

// Find is where a name is in a part of the text the n-th time, from 0, or the last time if it is not there so often.
func (s *Script) Find(span Span, name string, n int) int {
	at := span.From
	for _, t := range s.in(span) {
		if (t.kind == word || t.kind == quoted) && t.text == name {
			if at = int(t.start); n == 0 {
				break
			}
			n--
		}
	}
	return at
}

// in are the tokens of a part of the text.
func (s *Script) in(span Span) []token {
	place := func(t token, at int) int { return int(t.start) - at }
	from, _ := slices.BinarySearchFunc(s.p.tokens, span.From, place)
	to, _ := slices.BinarySearchFunc(s.p.tokens, span.To, place)
	return s.p.tokens[from:to]
}

// span is the range of the tokens from one up to the last one taken.
func (p *parser) span(from int) Span {
	return Span{int(p.tokens[from].start), int(p.tokens[max(from, p.at-1)].end)}
}

// Clause is a text without its comments. It is an error if there is a semicolon in it, or what is not CQL, such as a quote without its end.
func Clause(text string) (string, error) {
	s, err := NewScript(text)
	if err != nil {
		return "", err
	}
	for _, t := range s.p.tokens {
		switch {
		case t.kind == sign && t.text == ";":
			return "", errors.New("a semicolon within a clause")
		case t.kind == broken:
			return "", errors.New(t.text)
		}
	}
	return s.Text(Span{0, len(text)}), nil
}

// First reads the first statement of a text, as a [Script] does, or one of a transaction. It is nil if there is none, or one that is not understood.
func First(text string) Statement {
	script, err := NewScript(text)
	if err != nil {
		return nil
	}
	if _, _, more := script.Next(); !more {
		return nil
	}
	script.p.outer = &Transaction{}
	statement, _, err := script.Statement()
	if err != nil {
		return nil
	}
	return statement
}

// ParseOption reads the value of an option of WITH.
func ParseOption(text string) (Option, error) {
	return alone(text, func(p *parser) (o Option) {
		p.optionValue(&o)
		return o
	})
}

// alone reads a piece of a statement.
func alone[T any](text string, take func(*parser) T) (T, error) {
	room := rooms.Get().(*[]token)
	defer giveBack(room)
	err := (&lexer{text: text, script: true}).scan(room)
	if err == nil {
		p := &parser{text: text, tokens: *room, script: true}
		out := take(p)
		if p.ended(); p.err == nil {
			return out, nil
		}
		err = p.err
	}
	var none T
	if syntax := new(*SyntaxError); errors.As(err, syntax) {
		err = errors.New((*syntax).Text)
	}
	return none, err
}
