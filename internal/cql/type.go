package cql

import (
	"fmt"
	"strings"
)

// Type is a type as written in a text. Whether there is such a type only a schema knows. It is immutable.
type Type struct {
	Kind     TypeKind
	Keyspace string // of a user-defined type, empty where none is written
	Name     string // in lower case unless quoted; of a class its name, of a dimension the number
	Frozen   bool
	Args     []*Type            // of a collection, a tuple or a vector
	Fields   []ColumnDefinition // of a user-defined type in the text that [ParseDefinition] reads
}

// TypeKind is what kind of type a [Type] is.
type TypeKind uint8

// The kinds of types.
const (
	Native     TypeKind = iota // int
	Collection                 // list<int>
	TupleType                  // tuple<int, text>
	Vector                     // vector<float, 3>
	Dimension                  // the 3 of a vector
	UserType                   // a user-defined type
	Class                      // 'org.apache.cassandra.db.marshal.BytesType'
)

// natives are the types without arguments, each one in all texts.
var natives = func() map[string]*Type {
	types := make(map[string]*Type)
	for name := range set(`ascii bigint blob boolean counter date decimal double duration float inet int smallint text
		time timestamp timeuuid tinyint uuid varchar varint`) {
		types[name] = &Type{Name: name}
	}
	return types
}()

// reservedTypes are other names that user-defined types can not have.
var reservedTypes = set("byte complex enum interval macaddr bitstring cast count distinct json maxwritetime ttl writetime")

// generics are the types with arguments, how many these are, where 0 is any number from one, and an example.
var generics = map[string]struct {
	kind    TypeKind
	arity   int
	example string
}{
	"list": {Collection, 1, "list<text>"}, "set": {Collection, 1, "set<text>"}, "map": {Collection, 2, "map<text, int>"},
	"frozen": {Native, 1, "frozen<list<text>>"}, "tuple": {TupleType, 0, "tuple<text, int>"},
	"vector": {Vector, 2, "vector<float, 3>"},
}

// ParseType reads a type.
func ParseType(text string) (*Type, error) { return alone(text, (*parser).typeName) }

// ParseDefinition reads a type in which the fields of user-defined types follow their names, as in
// frozen<place{city text, zip int}>.
func ParseDefinition(text string) (*Type, error) {
	return alone(text, func(p *parser) *Type {
		p.defines = true
		return p.typeName()
	})
}

func (p *parser) nativeType() string {
	if t := p.token(); t.kind != word || natives[t.text] == nil {
		p.unexpected("a type without parts")
	}
	return p.identifier()
}

// typeName takes a type.
func (p *parser) typeName() *Type {
	p.enter()
	defer p.leave()
	t := p.token()
	generic, ok := generics[t.text]
	ok = ok && t.kind == word
	switch {
	case t.literal == String:
		p.skip(1)
		return &Type{Kind: Class, Name: t.text}
	case ok && p.isSign(1, "<"):
		p.skip(1)
		args := p.typeArguments(t.text, generic.arity)
		if t.text != "frozen" {
			return &Type{Kind: generic.kind, Name: t.text, Args: args}
		}
		frozen := *args[0]
		frozen.Frozen = true
		return &frozen
	case ok && p.script:
		p.syntax(fmt.Sprintf("%s needs type arguments, as in %s", t.text, generic.example))
	case t.kind == word && natives[t.text] != nil:
		p.skip(1)
		return natives[t.text]
	}
	if !p.isName(0) {
		p.unexpected("a type")
	}
	name := p.userType()
	user := &Type{Kind: UserType, Keyspace: name.Keyspace, Name: name.Name}
	if p.defines && p.sign("{") {
		user.Fields = several(p, ",", p.field)
		p.expect("}")
	}
	return user
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
	if t := p.token(); t.kind == word && (natives[t.text] != nil || reservedTypes[t.text]) {
		p.syntax("Invalid (reserved) user type name " + t.text)
	}
	return p.identifier()
}

// typeArguments takes <type, ...> after a name.
func (p *parser) typeArguments(name string, arity int) []*Type {
	p.expect("<")
	args := []*Type{p.typeName()}
	for p.sign(",") {
		switch {
		case name != "vector":
			args = append(args, p.typeName())
		case p.token().literal == Integer:
			args = append(args, &Type{Kind: Dimension, Name: p.literal().Text})
		default:
			p.unexpected("the dimension of a vector")
		}
	}
	if arity != 0 && len(args) != arity {
		p.either("no viable alternative at input "+p.input(),
			fmt.Sprintf("%s takes %d type arguments, as in %s, not %d", name, arity, generics[name].example, len(args)))
	}
	p.expect(">")
	return args
}

// String is the type as written in CQL.
func (t *Type) String() string {
	name := t.Name
	switch t.Kind {
	case UserType:
		if name = Quote(t.Name); t.Keyspace != "" {
			name = Quote(t.Keyspace) + "." + name
		}
	case Class:
		name = Literal(t.Name)
	default:
	}
	if len(t.Args) > 0 {
		args := make([]string, len(t.Args))
		for i, a := range t.Args {
			args[i] = a.String()
		}
		name += "<" + strings.Join(args, ", ") + ">"
	}
	if t.Frozen {
		name = "frozen<" + name + ">"
	}
	return name
}

// Canonical is the type as system_schema spells it: text instead of varchar, no keyspaces, and frozen all that is in
// something frozen.
func (t *Type) Canonical() *Type { return t.canonical(false) }

func (t *Type) canonical(inside bool) *Type {
	out := &Type{Kind: t.Kind, Name: t.Name, Frozen: t.Frozen}
	switch t.Kind {
	case Native:
		if t.Name == "varchar" {
			out.Name = "text"
		}
	case TupleType:
		out.Frozen = true // always, whatever is written
	case Collection, UserType:
		out.Frozen = t.Frozen || inside
	case Class, Vector: // frozen means nothing of a vector, and is not kept
		out.Frozen = false
	case Dimension:
	}
	for _, a := range t.Args {
		out.Args = append(out.Args, a.canonical(out.Frozen))
	}
	return out
}

// Thawed is the type without frozen.
func (t *Type) Thawed() *Type {
	out := *t
	out.Frozen, out.Args = false, nil
	for _, a := range t.Args {
		out.Args = append(out.Args, a.Thawed())
	}
	return &out
}

// TypeParts takes a type, as text, apart: its outermost name, whether it is frozen, and its arguments, for example map, false,
// [text int] of map<text, int>. The arguments of a vector are the type and the number of its elements.
func TypeParts(text string) (name string, frozen bool, args []string) {
	t, err := ParseType(text)
	if err != nil {
		return text, false, nil
	}
	t = t.Canonical()
	for _, a := range t.Args {
		args = append(args, a.String())
	}
	if t.Kind == Class {
		return t.String(), false, args
	}
	return t.Name, t.Frozen, args
}

// MultiCell is [Type.MultiCell] of a type as text.
func MultiCell(text string) bool {
	t, err := ParseType(text)
	return err == nil && t.MultiCell()
}

// MultiCell says whether a value is stored as many cells, so that overwriting one costs a tombstone: a collection or a
// user-defined type that is not frozen.
func (t *Type) MultiCell() bool { return !t.Frozen && (t.Kind == Collection || t.Kind == UserType) }

// Users are the names of the user-defined types in the type.
func (t *Type) Users() []string {
	var out []string
	if t.Kind == UserType {
		out = append(out, t.Name)
	}
	for _, a := range t.Args {
		out = append(out, a.Users()...)
	}
	return out
}
