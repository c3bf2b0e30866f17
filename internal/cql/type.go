package cql

import (
	"fmt"
	"strings"

	"github.com/denorm-go/denorm/internal/each"
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
	for name := range WordSet(`ascii bigint blob boolean counter date decimal double duration float inet int smallint text
		time timestamp timeuuid tinyint uuid varchar varint`) {
		types[name] = &Type{Name: name}
	}
	return types
}()

// reservedTypes are other names that user-defined types can not have.
var reservedTypes = WordSet("byte complex enum interval macaddr bitstring cast count distinct json maxwritetime ttl writetime")

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
func ParseType(text string) (*Type, error) { return Alone(text, (*Parser).TypeName) }

// ParseDefinition reads a type in which the fields of user-defined types follow their names, as in
// frozen<place{city text, zip int}>.
func ParseDefinition(text string) (*Type, error) {
	return Alone(text, func(p *Parser) *Type {
		p.defines = true
		return p.TypeName()
	})
}

// NativeType takes a type without parts.
func (p *Parser) NativeType() string {
	if t := p.Token(); t.Kind != Word || natives[t.Text] == nil {
		p.Unexpected("a type without parts")
	}
	return p.Identifier()
}

// TypeName takes a type.
func (p *Parser) TypeName() *Type {
	p.Enter()
	defer p.Leave()
	t := p.Token()
	generic, ok := generics[t.Text]
	ok = ok && t.Kind == Word
	switch {
	case t.Literal == String:
		p.Skip(1)
		return &Type{Kind: Class, Name: t.Text}
	case ok && p.IsSign(1, "<"):
		p.Skip(1)
		args := p.typeArguments(t.Text, generic.arity)
		if t.Text != "frozen" {
			return &Type{Kind: generic.kind, Name: t.Text, Args: args}
		}
		frozen := *args[0]
		frozen.Frozen = true
		return &frozen
	case ok && p.Script:
		p.Syntax(fmt.Sprintf("%s needs type arguments, as in %s", t.Text, generic.example))
	case t.Kind == Word && natives[t.Text] != nil:
		p.Skip(1)
		return natives[t.Text]
	}
	if !p.IsName(0) {
		p.Unexpected("a type")
	}
	name := p.UserType()
	user := &Type{Kind: UserType, Keyspace: name.Keyspace, Name: name.Name}
	if p.defines && p.Sign("{") {
		user.Fields = Several(p, ",", p.Field)
		p.Expect("}")
	}
	return user
}

// UserType takes the name of a user-defined type.
func (p *Parser) UserType() Name {
	if p.IsSign(1, ".") {
		keyspace := p.Keyspace()
		p.Expect(".")
		return Name{Keyspace: keyspace, Name: p.typeIdentifier()}
	}
	return Name{Name: p.typeIdentifier()}
}

// typeIdentifier takes a name that a user-defined type can have.
func (p *Parser) typeIdentifier() string {
	if t := p.Token(); t.Kind == Word && (natives[t.Text] != nil || reservedTypes[t.Text]) {
		p.Syntax("Invalid (reserved) user type name " + t.Text)
	}
	return p.Identifier()
}

// typeArguments takes <type, ...> after a name.
func (p *Parser) typeArguments(name string, arity int) []*Type {
	p.Expect("<")
	args := []*Type{p.TypeName()}
	for p.Sign(",") {
		switch {
		case name != "vector":
			args = append(args, p.TypeName())
		case p.Token().Literal == Integer:
			args = append(args, &Type{Kind: Dimension, Name: p.number()})
		default:
			p.Unexpected("the dimension of a vector")
		}
	}
	if arity != 0 && len(args) != arity {
		p.Either("no viable alternative at input "+p.input(),
			fmt.Sprintf("%s takes %d type arguments, as in %s, not %d", name, arity, generics[name].example, len(args)))
	}
	p.Expect(">")
	return args
}

// String is the type as written in CQL.
func (t *Type) String() string {
	name := t.Name
	switch t.Kind {
	case UserType:
		name = Name{t.Keyspace, t.Name}.String()
	case Class:
		name = Literal(t.Name)
	default:
	}
	if len(t.Args) > 0 {
		name += "<" + strings.Join(each.Of(t.Args, (*Type).String), ", ") + ">"
	}
	if t.Frozen {
		name = "frozen<" + name + ">"
	}
	return name
}

// ColumnDefinition is a column of CREATE TABLE or ALTER TABLE.
type ColumnDefinition struct {
	Name   string
	Type   *Type
	Static bool
	Mask   string // MASKED WITH in a [Script], as text; empty without
}

// Field takes a field of a type.
func (p *Parser) Field() ColumnDefinition {
	return ColumnDefinition{Name: p.Identifier(), Type: p.TypeName()}
}

// number takes an integer.
func (p *Parser) number() string {
	text := p.Token().Text
	p.Skip(1)
	return text
}
