package schema

import (
	"errors"
	"fmt"
	"strings"
)

// typeName is a CQL type as a tree. Package cqltype knows what it can encode; this knows how to spell any type.
type typeName struct {
	name   string // quoted if it has to be
	frozen bool
	args   []typeName
}

// canonicalType spells a CQL type as system_schema does.
func canonicalType(cql string) (string, error) {
	tokens, err := lex(cql)
	if err != nil {
		return "", fmt.Errorf("type %q: %w", cql, err)
	}
	p := &parser{source: cql, tokens: tokens}
	t := p.typeName(false)
	if p.err == nil && p.peek().kind != end {
		p.fail("unexpected %q", p.peek().text)
	}
	if p.err != nil {
		return "", fmt.Errorf("type %q: %w", cql, p.err)
	}
	return t.String(), nil
}

// maxDepth bounds how deep types are nested: each level takes a piece of the stack, and a stack that is full ends the process.
const maxDepth = 100

// typeName reads a type. Inside something frozen everything that can be is frozen.
func (p *parser) typeName(frozen bool) typeName {
	if p.depth++; p.depth > maxDepth {
		p.fail("a type is nested deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	t := p.next()
	if p.err != nil {
		return typeName{}
	}
	switch t.kind {
	case name:
		return typeName{name: quoted(t.text), frozen: frozen}
	case number: // the dimension of a vector
		return typeName{name: t.text}
	case text: // a class of Java
		return typeName{name: textLiteral(t.text)}
	case word:
	default:
		p.fail("want a type, not %q", t.text)
		return typeName{}
	}
	if t.text == "frozen" {
		p.sign("<")
		inner := p.typeName(true)
		p.sign(">")
		inner.frozen = true
		return inner
	}
	out := typeName{name: t.text, frozen: frozen}
	if out.name == "varchar" {
		out.name = "text"
	}
	switch {
	case out.name == "tuple":
		out.frozen = true // always, whatever is written
	case out.native() || out.name == "vector":
		out.frozen = false
	}
	if p.takeSign("<") {
		for {
			out.args = append(out.args, p.typeName(out.frozen))
			if p.err != nil || !p.takeSign(",") {
				break
			}
		}
		p.sign(">")
	}
	return out
}

// natives are the types of CQL that have no parts.
var natives = strings.Fields(`ascii bigint blob boolean counter date decimal double duration float inet int smallint text time
	timestamp timeuuid tinyint uuid varint`)

func (t typeName) native() bool {
	for _, n := range natives {
		if t.name == n {
			return true
		}
	}
	return false
}

func (t typeName) collection() bool { return t.name == "list" || t.name == "set" || t.name == "map" }

func (t typeName) String() string {
	out := t.name
	if len(t.args) > 0 {
		args := make([]string, len(t.args))
		for i, a := range t.args {
			args[i] = a.String()
		}
		out += "<" + strings.Join(args, ", ") + ">"
	}
	if t.frozen && !strings.HasPrefix(t.name, "'") {
		return "frozen<" + out + ">"
	}
	return out
}

// udts gives the names of the user-defined types in a type, without quotes.
func (t typeName) udts() []string {
	var out []string
	if !t.native() && !t.collection() && t.name != "tuple" && t.name != "vector" && !strings.HasPrefix(t.name, "'") &&
		(t.name[0] < '0' || t.name[0] > '9') {
		out = append(out, strings.ReplaceAll(strings.Trim(t.name, `"`), `""`, `"`))
	}
	for _, a := range t.args {
		out = append(out, a.udts()...)
	}
	return out
}

// udtsOf gives the user-defined types that a type as system_schema spells it is made of.
func udtsOf(cql string) []string {
	tokens, err := lex(cql)
	if err != nil {
		return nil
	}
	p := &parser{source: cql, tokens: tokens}
	t := p.typeName(false)
	if p.err != nil {
		return nil
	}
	return t.udts()
}

// MultiCell says whether values of a CQL type are stored as several cells, so that overwriting one costs a tombstone: a
// collection or a user-defined type that is not frozen. The type is spelled as system_schema does.
func MultiCell(cql string) bool {
	base, _, _ := strings.Cut(cql, "<")
	switch base {
	case "list", "set", "map":
		return true
	case "frozen", "tuple", "vector":
		return false
	}
	return !(typeName{name: base}).native() && !strings.HasPrefix(base, "'")
}

var errNoKey = errors.New("no PRIMARY KEY")

// TypeParts takes a CQL type apart: its outermost name, whether it is frozen, and its arguments, for example map, false,
// [text int] of map<text, int>. The arguments of a vector are the type and the number of its elements.
func TypeParts(cql string) (name string, frozen bool, args []string) {
	tokens, err := lex(cql)
	if err != nil {
		return cql, false, nil
	}
	p := &parser{source: cql, tokens: tokens}
	t := p.typeName(false)
	if p.err != nil {
		return cql, false, nil
	}
	for _, a := range t.args {
		args = append(args, a.String())
	}
	return strings.ReplaceAll(strings.Trim(t.name, `"`), `""`, `"`), t.frozen, args
}
