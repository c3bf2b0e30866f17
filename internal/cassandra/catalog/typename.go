package catalog

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cqltype"
)

// typeName is the name of a type as it stands in a statement.
type typeName struct {
	keyspace, name string
	args           []*typeName
	frozen         bool
}

// natives are the types without parts.
var natives = strings.Fields(`ascii bigint blob boolean counter date decimal double duration float inet int smallint text
	varchar time timestamp timeuuid tinyint uuid varint`)

// readType reads the name of a type.
func readType(text string) (*typeName, error) {
	n, rest, err := cutType(text)
	if err == nil && rest != "" {
		err = syntax("unexpected '%s' after a type", rest)
	}
	return n, err
}

func cutType(text string) (*typeName, string, error) {
	text = strings.TrimSpace(text)
	end := strings.IndexAny(text, "<>,")
	if end < 0 {
		end = len(text)
	}
	n := &typeName{name: strings.TrimSpace(text[:end])}
	rest := text[end:]
	if strings.ContainsAny(n.name, `"'`) {
		return nil, "", unsupported("type %s", n.name)
	}
	n.name = strings.ToLower(n.name)
	if keyspace, name, ok := strings.Cut(n.name, "."); ok {
		n.keyspace, n.name = keyspace, name
	}
	if n.name == "vector" {
		return nil, "", unsupported("type %s", text)
	}
	for strings.HasPrefix(rest, "<") || len(n.args) > 0 && strings.HasPrefix(rest, ",") {
		arg, after, err := cutType(rest[1:])
		if err != nil {
			return nil, "", err
		}
		n.args, rest = append(n.args, arg), strings.TrimSpace(after)
	}
	if len(n.args) > 0 {
		var closed bool
		if rest, closed = strings.CutPrefix(rest, ">"); !closed {
			return nil, "", syntax("a type without its end: %s", text)
		}
		rest = strings.TrimSpace(rest)
	}
	if n.name == "frozen" && len(n.args) == 1 {
		arg := n.args[0]
		if arg.native() {
			return nil, "", syntax("frozen<> is only allowed on collections, tuples, and user-defined types (got %s)", arg)
		}
		arg.frozen = true
		return arg, rest, nil
	}
	return n, rest, nil
}

func (n *typeName) native() bool { return slices.Contains(natives, n.name) && n.keyspace == "" }

func (n *typeName) collection() bool {
	return n.keyspace == "" && (n.name == "list" || n.name == "set" || n.name == "map")
}

func (n *typeName) tuple() bool { return n.name == "tuple" && n.keyspace == "" }

func (n *typeName) user() bool { return !n.native() && !n.collection() && !n.tuple() }

// thawed says whether the type could be frozen and is not.
func (n *typeName) thawed() bool { return !n.frozen && (n.collection() || n.user()) }

func (n *typeName) String() string { return n.spell("") }

// spell writes the type, with user-defined types of a keyspace if there is one.
func (n *typeName) spell(keyspace string) string {
	name := n.name
	if n.user() && keyspace != "" {
		name = keyspace + "." + name
	}
	if len(n.args) > 0 {
		args := make([]string, len(n.args))
		for i, a := range n.args {
			args[i] = a.spell(keyspace)
		}
		name += "<" + strings.Join(args, ", ") + ">"
	}
	if n.frozen {
		name = "frozen<" + name + ">"
	}
	return name
}

// of gives the type in a keyspace.
func (n *typeName) of(k *Keyspace) (*cqltype.Type, error) {
	if err := n.check(k, n.frozen); err != nil {
		return nil, err
	}
	t, err := k.Types.Parse(n.String())
	if err != nil {
		return nil, unsupported("%v", err)
	}
	return t, nil
}

// check refuses what Cassandra refuses. With frozen the type stands in a frozen one.
func (n *typeName) check(k *Keyspace, frozen bool) error {
	frozen = frozen || n.frozen
	switch {
	case n.user():
		if n.keyspace != "" && n.keyspace != k.Name {
			return invalid("Statement on keyspace %s cannot refer to a user type in keyspace %s; "+
				"user types can only be used in the keyspace they are defined in", k.Name, n.keyspace)
		}
		if k.Types.Named(n.name) == nil {
			return invalid("Unknown type %s.%s", k.Name, n.name)
		}
		if !cql.IsColumn(n.name) {
			return unsupported("type %q", n.name)
		}
	case n.collection():
		if err := n.checkParts(frozen); err != nil {
			return err
		}
	case n.tuple():
		frozen = true
		for _, a := range n.args {
			if a.name == "counter" {
				return invalid("Counters are not allowed inside tuples")
			}
		}
	}
	for _, a := range n.args {
		if err := a.check(k, frozen); err != nil {
			return err
		}
	}
	return nil
}

func (n *typeName) checkParts(frozen bool) error {
	for i, a := range slices.Backward(n.args) {
		switch {
		case !frozen && a.thawed() && a.collection():
			return invalid("Non-frozen collections are not allowed inside collections: %s", n)
		case !frozen && a.thawed():
			return invalid("Non-frozen UDTs are not allowed inside collections: %s", n)
		case a.name == "counter":
			return invalid("Counters are not allowed inside collections: %s", n)
		case a.name == "duration" && n.name == "set":
			return invalid("Durations are not allowed inside sets: %s", n)
		case a.name == "duration" && n.name == "map" && i == 0:
			return invalid("Durations are not allowed as map keys: %s", n)
		}
	}
	return nil
}
