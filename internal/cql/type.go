package cql

import (
	"errors"
	"fmt"
	"math"
	"strconv"
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
var reservedTypes = WordSet("byte complex enum interval macaddr bitstring cast count distinct json maxwritetime ttl " +
	"writetime")

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

// Source is what types are read from: a text that is a type, or a statement. A failure puts it at the end: what is read
// after that fails too.
type Source interface {
	Ahead(n int) Token      // the token that comes n tokens later
	Skip(n int)             // passes over tokens, but not over the end
	Enter()                 // counts a level of nesting, of at most MaxDepth
	Leave()                 // ends what Enter began
	Expect(sign string)     // takes a sign, which must come next
	Unexpected(want string) // fails because something else is expected here
	Refuse(reason string)   // fails because of what is here
	Syntax(message string)  // fails with Cassandra's message
	Plain() bool            // a word that needs arguments is no name without them
}

// MaxDepth bounds what a text makes of the stack.
const MaxDepth = 100

// ReadType takes a type.
func ReadType(from Source) *Type { return (&typeReader{Source: from}).read() }

// ReadUserType takes the name of a user-defined type.
func ReadUserType(from Source) Name { return (&typeReader{Source: from}).userType() }

// ReadName takes a name.
func ReadName(from Source) string {
	t := from.Ahead(0)
	switch {
	case t.IsName():
		from.Skip(1)
		return t.Text
	case t.Kind == Word:
		from.Unexpected("a name, and a reserved word only in double quotes")
	default:
		from.Unexpected("a name")
	}
	return ""
}

// IsNative says whether the token is the name of a type without parts.
func (t Token) IsNative() bool { return t.Kind == Word && natives[t.Text] != nil }

type typeReader struct {
	Source
	defines bool // user-defined types are written with their fields
}

// sign takes a sign, if it comes next.
func (r *typeReader) sign(s string) bool {
	is := r.Ahead(0).IsSign(s)
	if is {
		r.Skip(1)
	}
	return is
}

func (r *typeReader) read() *Type {
	r.Enter()
	defer r.Leave()
	t := r.Ahead(0)
	generic, ok := generics[t.Text]
	ok = ok && t.Kind == Word
	switch {
	case t.Kind == String:
		r.Skip(1)
		return &Type{Kind: Class, Name: t.Text}
	case ok && r.Ahead(1).IsSign("<"):
		r.Skip(1)
		args := r.arguments(t.Text, generic.arity)
		if t.Text != "frozen" {
			return &Type{Kind: generic.kind, Name: t.Text, Args: args}
		}
		frozen := *args[0]
		frozen.Frozen = true
		return &frozen
	case ok && r.Plain():
		r.Syntax(fmt.Sprintf("%s needs type arguments, as in %s", t.Text, generic.example))
	case t.IsNative():
		r.Skip(1)
		return natives[t.Text]
	}
	if !r.Ahead(0).IsName() {
		r.Unexpected("a type")
	}
	name := r.userType()
	user := &Type{Kind: UserType, Keyspace: name.Keyspace, Name: name.Name}
	if r.defines && r.sign("{") {
		for more := true; more; more = r.sign(",") {
			user.Fields = append(user.Fields, Field{Name: ReadName(r), Type: r.read()})
		}
		r.Expect("}")
	}
	return user
}

func (r *typeReader) userType() (name Name) {
	if r.Ahead(1).IsSign(".") {
		name.Keyspace = ReadName(r)
		r.Expect(".")
	}
	if t := r.Ahead(0); t.IsNative() || t.Kind == Word && reservedTypes[t.Text] {
		r.Syntax("Invalid (reserved) user type name " + t.Text)
	}
	name.Name = ReadName(r)
	return name
}

// arguments takes <type, ...> after a name.
func (r *typeReader) arguments(name string, arity int) []*Type {
	r.Expect("<")
	args := []*Type{r.read()}
	for r.sign(",") {
		switch t := r.Ahead(0); {
		case name != "vector":
			args = append(args, r.read())
		case t.Kind == Integer:
			args = append(args, &Type{Kind: Dimension, Name: t.Text})
			r.Skip(1)
		default:
			r.Unexpected("the dimension of a vector")
		}
	}
	if arity != 0 && len(args) != arity {
		r.Refuse(fmt.Sprintf("%s takes %d type arguments, as in %s, not %d", name, arity, generics[name].example, len(args)))
	}
	r.Expect(">")
	return args
}

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
