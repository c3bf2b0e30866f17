package cql

import "fmt"

// Source is what types are read from: a text that is a type, or a statement. A failure puts it at the end: what is read after that fails too.
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
