package cql

import (
	"slices"
	"strings"
)

// natives are the types without arguments.
var natives = strings.Fields(`ascii bigint blob boolean counter date decimal double duration float inet int smallint text time
	timestamp timeuuid tinyint uuid varchar varint`)

// reservedTypes are names that user-defined types can not have.
var reservedTypes = append(strings.Fields(`byte complex enum interval macaddr bitstring cast count distinct json maxwritetime ttl
	writetime`), natives...)

func (p *parser) nativeType() string {
	if t := p.token(); t.kind != word || !slices.Contains(natives, t.text) {
		p.unexpected()
	}
	return p.identifier()
}

// arguments are how many arguments generic types have; 0 is any number from one.
var arguments = map[string]int{"map": 2, "list": 1, "set": 1, "frozen": 1, "tuple": 0, "vector": 2}

// typeName takes a type.
func (p *parser) typeName() string {
	if !p.nested() {
		return ""
	}
	defer p.leave()
	t := p.token()
	if t.kind == literalString {
		p.skip(1)
		return p.text[t.start:t.end]
	}
	if n, ok := arguments[t.text]; ok && t.kind == word && p.isSign(1, "<") {
		p.skip(1)
		return t.text + p.typeArguments(n, t.text == "vector")
	}
	if t.kind == word && slices.Contains(natives, t.text) {
		p.skip(1)
		return t.text
	}
	from := p.at
	p.userType()
	return p.spelled(from)
}

// userType takes the name of a user-defined type.
func (p *parser) userType() Name {
	if p.isSign(1, ".") {
		keyspace := p.keyspace()
		p.expect(".")
		return Name{Keyspace: keyspace, Name: p.typeIdentifier()}
	}
	return Name{Name: p.typeIdentifier()}
}

// typeIdentifier takes a name that a user-defined type can have.
func (p *parser) typeIdentifier() string {
	if t := p.token(); t.kind == word && slices.Contains(reservedTypes, t.text) {
		p.syntax("Invalid (reserved) user type name " + t.text)
	}
	return p.identifier()
}

// spelled is the text from a token to the last one taken: unquoted names in lower case, others with their quotes.
func (p *parser) spelled(from int) string {
	var text strings.Builder
	for _, t := range p.tokens[from:p.at] {
		if t.kind == word {
			text.WriteString(t.text)
		} else {
			text.WriteString(p.text[t.start:t.end])
		}
	}
	return text.String()
}

// typeArguments takes <type, ...>.
func (p *parser) typeArguments(n int, vector bool) string {
	p.expect("<")
	args := []string{p.typeName()}
	for p.sign(",") {
		switch {
		case !vector:
			args = append(args, p.typeName())
		case p.token().kind == literalInteger:
			args = append(args, p.literal().Text)
		default:
			p.unexpected()
		}
	}
	if n != 0 && len(args) != n {
		p.unexpected()
	}
	p.expect(">")
	return "<" + strings.Join(args, ", ") + ">"
}
