package ast

import (
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/printable"
)

// refuse fails because of an option.
func (p *parser) refuse(text string) { p.Reject(&SyntaxError{Text: text}) }

// unsupported fails because of something that is CQL.
func (p *parser) unsupported(what string) {
	if p.Script {
		p.Invalid(what + " is not understood here")
	} else {
		p.Reject(&InvalidError{Text: Unsupported + what, Unsupported: true})
	}
}

// beyond says whether something that is CQL is read, which is so in scripts only, and fails if not.
func (p *parser) beyond(what string) bool {
	if !p.Script {
		p.unsupported(what)
	}
	return p.Script
}

// words takes all these keywords, which must come next.
func (p *parser) words(keywords ...string) {
	for i, k := range keywords {
		if !p.Word(k) {
			p.Mismatched("K_"+strings.ToUpper(k), strings.ToUpper(strings.Join(keywords[i:], " ")))
		}
	}
}

// clause takes all these keywords, if the first one comes next.
func (p *parser) clause(first string, more ...string) bool {
	taken := p.Word(first)
	if taken {
		p.words(more...)
	}
	return taken
}

// ifExists takes IF EXISTS, if it comes next.
func (p *parser) ifExists() bool { return p.clause("if", "exists") }

// ifNotExists takes IF NOT EXISTS, if it comes next.
func (p *parser) ifNotExists() bool { return p.clause("if", "not", "exists") }

// perhapsBracketed takes one thing, or [several] in brackets.
func perhapsBracketed[T any](p *parser, one func() T) []T {
	if p.IsSign(0, "(") {
		return bracketed(p, one)
	}
	return []T{one()}
}

// bracketed takes (one, ...).
func bracketed[T any](p *parser, one func() T) []T {
	p.Expect("(")
	all := several(p, ",", one)
	p.Expect(")")
	return all
}

// column takes the name of a column that exists: tables of old have one without a name.
func (p *parser) column() string {
	if t := p.Token(); t.Kind == cql.Quoted && t.Text == "" {
		p.Skip(1)
		return ""
	}
	return p.Identifier()
}

// name takes the name of a table, a view or an index.
func (p *parser) name() cql.Name {
	p.NoMark("table")
	n := cql.Name{Name: p.Identifier()}
	if p.Sign(".") {
		p.NoMark("table")
		n = cql.Name{Keyspace: n.Name, Name: p.Identifier()}
	}
	return n
}

// table takes TABLE, if it comes next.
func (p *parser) table() bool { return p.Word("table") || p.Word("columnfamily") }

// Unquote is the name or the text between quotes, each quote within it doubled. It is empty for anything
// else.
func Unquote(s string) string {
	if len(s) < 2 || s[0] != '"' && s[0] != '\'' || s[len(s)-1] != s[0] {
		return ""
	}
	inside, quote := s[1:len(s)-1], s[:1]
	if strings.Contains(strings.ReplaceAll(inside, quote+quote, ""), quote) {
		return ""
	}
	return strings.ReplaceAll(inside, quote+quote, quote)
}

// CommentLine is text as one line of a comment in CQL. Whatever the text, nothing of it leaves the comment: neither by
// a character that some reader of CQL takes for the end of a line, nor by the marks of another kind of comment. cqlsh
// looks for /* and */ before it looks for --: those in one comment would hide the statements after it, and what follows
// those in the next one would be executed.
func CommentLine(text string) string {
	return "-- " + strings.ReplaceAll(strings.ReplaceAll(printable.Line(text), "/*", `/\*`), "*/", `*\/`) + "\n"
}
