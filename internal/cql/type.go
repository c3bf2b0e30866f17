package cql

import (
	"strings"

	"github.com/denorm-go/denorm/internal/each"
)

// Type is a type as written in a text. Whether there is such a type only a schema knows. It is immutable.
type Type struct {
	Kind     TypeKind
	Keyspace string // of a user-defined type, empty where none is written
	Name     string // in lower case unless quoted; of a class its name, of a dimension the number
	Frozen   bool
	Args     []*Type // of a collection, a tuple or a vector
	Fields   []Field // of a user-defined type in the text that [ParseDefinition] reads
}

// Field is a field of a user-defined type.
type Field struct {
	Name string
	Type *Type
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
