package cql

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// ParseType reads a type.
func ParseType(text string) (*Type, error) { return parse(text, false) }

// ParseDefinition reads a type in which the fields of user-defined types follow their names, as in
// frozen<place{city text, zip int}>.
func ParseDefinition(text string) (*Type, error) { return parse(text, true) }

func parse(text string, defines bool) (*Type, error) {
	if len(text) > math.MaxInt32 {
		return nil, errors.New("the type is too long")
	}
	from := &typeText{lexer: Lexer{Text: text}}
	from.Skip(len(from.next))
	out := (&typeReader{from, defines}).read()
	if t := from.Ahead(0); t.Kind != End {
		from.Refuse("unexpected " + t.Found(text, strconv.Quote))
	}
	if from.err != nil {
		return nil, from.err
	}
	return out, nil
}

// typeText is a [Source] of nothing but a type. It keeps no tokens: a text may have many.
type typeText struct {
	lexer Lexer
	next  [2]Token // as far as a reader of types looks ahead
	depth int
	err   error // the first one
}

func (s *typeText) Ahead(n int) Token { return s.next[n] }

func (s *typeText) Skip(n int) {
	for range n {
		s.next = [2]Token{s.next[1], s.lexer.Token(s.lexer.Rest())}
	}
}

func (s *typeText) Enter() {
	if s.depth++; s.depth > MaxDepth {
		s.Refuse(fmt.Sprintf("nested deeper than %d", MaxDepth))
	}
}

func (s *typeText) Leave() { s.depth-- }

func (s *typeText) Expect(sign string) {
	if !s.Ahead(0).IsSign(sign) {
		s.Unexpected(strconv.Quote(sign))
	}
	s.Skip(1)
}

func (s *typeText) Unexpected(want string) { s.Refuse(s.Ahead(0).Wanted(s.lexer.Text, want)) }

func (s *typeText) Refuse(reason string) {
	if t := s.Ahead(0); t.Kind == Broken {
		reason = t.Text
	}
	if s.err == nil {
		s.err = errors.New(reason)
	}
	s.lexer.At = len(s.lexer.Text)
	s.Skip(len(s.next))
}

func (s *typeText) Syntax(message string) { s.Refuse(message) }

func (s *typeText) Plain() bool { return true }
