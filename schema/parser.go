package schema

import (
	"fmt"
	"strings"
)

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("line %d: %w", p.peek().line, fmt.Errorf(format, args...))
	}
}

func (p *parser) peek() token { return p.tokens[min(p.at, len(p.tokens)-1)] }

func (p *parser) next() token {
	t := p.peek()
	if t.kind == end {
		p.fail("the text ends too early")
	}
	p.at++
	return t
}

func (p *parser) isWord(words ...string) bool {
	for i, w := range words {
		t := p.tokens[min(p.at+i, len(p.tokens)-1)]
		if t.kind != word || t.text != w {
			return false
		}
	}
	return true
}

// takeWords goes on if the next tokens are these words.
func (p *parser) takeWords(words ...string) bool {
	if !p.isWord(words...) {
		return false
	}
	p.at += len(words)
	return true
}

func (p *parser) words(words ...string) {
	if !p.takeWords(words...) {
		p.fail("want %s, not %q", strings.ToUpper(strings.Join(words, " ")), p.peek().text)
	}
}

func (p *parser) isSign(s string) bool { t := p.peek(); return t.kind == sign && t.text == s }

func (p *parser) takeSign(s string) bool {
	if !p.isSign(s) {
		return false
	}
	p.at++
	return true
}

func (p *parser) sign(s string) {
	if !p.takeSign(s) {
		p.fail("want %q, not %q", s, p.peek().text)
	}
}

func (p *parser) position() Position { return Position{p.file, p.peek().line} }

// ident reads a name.
func (p *parser) ident() string {
	t := p.next()
	if t.kind != word && t.kind != name {
		p.fail("want a name, not %q", t.text)
	}
	return t.text
}

// id reads a name with or without keyspace.
func (p *parser) id() ID {
	first := p.ident()
	if p.takeSign(".") {
		return ID{first, p.ident()}
	}
	return ID{p.keyspace, first}
}

func (p *parser) ifNotExists() { p.takeWords("if", "not", "exists") }
