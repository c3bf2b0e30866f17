package cqltype

import (
	"fmt"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/gocql/gocql"
)

// Parse reads a CQL type name. Case does not matter, nor do spaces between words. What is inside a frozen collection is
// frozen, as in Cassandra, and so are tuples. User-defined types and vectors are not known.
func Parse(name string) (*Type, error) { return (*Types)(nil).Parse(name) }

// Parse is [Parse] with the user-defined types ts.
func (ts *Types) Parse(name string) (*Type, error) { return parse(name, &parser{types: ts}) }

// ParseDefinition reads what [Type.Definition] writes.
func ParseDefinition(text string) (*Type, error) { return parse(text, &parser{defines: true}) }

func parse(name string, p *parser) (*Type, error) {
	p.rest = strings.ToLower(name)
	t, err := p.read(false)
	if err == nil && p.rest != "" {
		err = fmt.Errorf("unexpected %.100q", p.rest)
	}
	if err != nil {
		return nil, fmt.Errorf("CQL type %.100q: %w", name, err) // somebody else may have written it
	}
	return t, nil
}

type parser struct {
	rest    string
	types   *Types
	defines bool // user-defined types stand with their fields
	depth   int
}

// maxParsed bounds what a text that somebody else may have written makes of the stack. It is above what the types have that
// [Infer] gives, spelled out.
const maxParsed = 4 * maxDepth

// word cuts off what comes before the next sign.
func (p *parser) word() string {
	word := p.rest
	if i := strings.IndexAny(p.rest, "<>,{}"); i >= 0 {
		word = p.rest[:i]
	}
	p.rest = p.rest[len(word):]
	return strings.TrimSpace(word)
}

// sign cuts off a sign, if it comes next.
func (p *parser) sign(sign string) bool {
	rest, ok := strings.CutPrefix(p.rest, sign)
	if ok {
		p.rest = strings.TrimLeft(rest, " ")
	}
	return ok
}

// read reads one type. With frozen it stands inside something frozen.
func (p *parser) read(frozen bool) (*Type, error) {
	if p.depth++; p.depth > maxParsed {
		return nil, fmt.Errorf("nested deeper than %d", maxParsed)
	}
	defer func() { p.depth-- }()
	word := p.word()
	if kind, ok := natives[word]; ok {
		return native(kind), nil
	}
	switch word {
	case "frozen":
		elems, err := p.arguments(word, 1, true)
		if err != nil {
			return nil, err
		}
		if !elems[0].composite() {
			return nil, fmt.Errorf("frozen applies to collections and user-defined types, not to %.100s", elems[0])
		}
		return elems[0], nil
	case "tuple":
		return p.tuple()
	}
	if collection, ok := collections[word]; ok {
		return p.collection(word, collection.kind, collection.arity, frozen)
	}
	if p.defines && strings.HasPrefix(p.rest, "{") {
		user, err := p.user(word)
		if err != nil {
			return nil, err
		}
		return &Type{kind: gocql.TypeUDT, user: user, frozen: frozen}, nil
	}
	if user := p.types.Named(word); user != nil {
		return &Type{kind: gocql.TypeUDT, user: user, frozen: frozen}, nil
	}
	return nil, fmt.Errorf("unknown or unsupported type %.100q", word)
}

func (p *parser) collection(word string, kind gocql.Type, arity int, frozen bool) (*Type, error) {
	elems, err := p.arguments(word, arity, frozen)
	if err != nil {
		return nil, err
	}
	for i, e := range elems {
		if e.MultiCell() {
			return nil, fmt.Errorf("a collection or user-defined type inside %s must be frozen", word)
		}
		ordered := kind == gocql.TypeSet || kind == gocql.TypeMap && i == 0
		if e.kind == gocql.TypeCounter || ordered && e.Contains(func(t *Type) bool { return t.kind == gocql.TypeDuration }) {
			return nil, fmt.Errorf("%s cannot hold %.100s", word, e)
		}
	}
	return composed(kind, elems, frozen), nil
}

func (p *parser) tuple() (*Type, error) {
	elems, err := p.arguments("tuple", 0, true)
	if err != nil {
		return nil, err
	}
	for _, e := range elems {
		if e.kind == gocql.TypeCounter {
			return nil, fmt.Errorf("tuple cannot hold %.100s", e)
		}
	}
	return composed(gocql.TypeTuple, elems, true), nil
}

// arguments reads the types in angle brackets; arity 0 stands for any number.
func (p *parser) arguments(word string, arity int, frozen bool) ([]*Type, error) {
	var elems []*Type
	for open := "<"; ; open = "," {
		if !p.sign(open) {
			break
		}
		e, err := p.read(frozen)
		if err != nil {
			return nil, err
		}
		elems = append(elems, e)
	}
	switch {
	case len(elems) > 0 && (arity == 0 || len(elems) == arity) && p.sign(">"):
		return elems, nil
	case arity == 0:
		return nil, fmt.Errorf("%s needs type arguments", word)
	}
	return nil, fmt.Errorf("%s needs %d type arguments", word, arity)
}

// user reads the fields in braces of the user-defined type called name.
func (p *parser) user(name string) (*UserType, error) {
	if !cql.IsTable(name) {
		return nil, fmt.Errorf("the name of a user-defined type must be %s", cql.TableRule)
	}
	u := &UserType{Name: name}
	seen := make(map[string]bool)
	for open := "{"; p.sign(open); open = "," {
		field, rest, _ := strings.Cut(p.rest, " ")
		if !cql.IsColumn(field) || seen[field] {
			return nil, fmt.Errorf("the fields of a user-defined type must be %s, and different", cql.ColumnRule)
		}
		seen[field], p.rest = true, rest
		t, err := p.read(true)
		if err != nil {
			return nil, err
		}
		u.Add(field, t, 0)
	}
	if len(u.Fields) == 0 || !p.sign("}") {
		return nil, fmt.Errorf("user-defined type %s lacks its fields", name)
	}
	return u, nil
}
