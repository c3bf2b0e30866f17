package catalog

import (
	"slices"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/cqltype"
)

// resolve gives the type that n names in a keyspace.
func (k *Keyspace) resolve(n *cql.Type) (*cqltype.Type, error) {
	if err := k.check(n, n.Frozen); err != nil {
		return nil, err
	}
	t, err := k.Types.Resolve(n)
	if err != nil {
		return nil, unsupported("%v", err)
	}
	return t, nil
}

// check rejects what Cassandra rejects. With frozen the type is within a frozen one.
func (k *Keyspace) check(n *cql.Type, frozen bool) error {
	frozen = frozen || n.Frozen
	switch n.Kind {
	case cql.Native:
		if n.Frozen {
			return syntax("frozen<> is only allowed on collections, tuples, and user-defined types (got %s)", n.Name)
		}
	case cql.UserType:
		if n.Keyspace != "" && n.Keyspace != k.Name {
			return invalid("Statement on keyspace %s cannot refer to a user type in keyspace %s; "+
				"user types can only be used in the keyspace they are defined in", k.Name, n.Keyspace)
		}
		if k.Types.Named(n.Name) == nil {
			return invalid("Unknown type %s.%s", k.Name, n.Name)
		}
		if !cql.IsColumn(n.Name) {
			return unsupported("type %q", n.Name)
		}
	case cql.Collection:
		if err := checkParts(n, frozen); err != nil {
			return err
		}
	case cql.TupleType:
		frozen = true
		for _, a := range n.Args {
			if a.Name == "counter" {
				return invalid("Counters are not allowed inside tuples")
			}
		}
	case cql.Vector, cql.Dimension, cql.Class:
		return unsupported("type %s", n)
	}
	for _, a := range n.Args {
		if err := k.check(a, frozen); err != nil {
			return err
		}
	}
	return nil
}

func checkParts(n *cql.Type, frozen bool) error {
	for i, a := range slices.Backward(n.Args) {
		switch {
		case !frozen && ast.MultiCell(a) && a.Kind == cql.Collection:
			return invalid("Non-frozen collections are not allowed inside collections: %s", n)
		case !frozen && ast.MultiCell(a):
			return invalid("Non-frozen UDTs are not allowed inside collections: %s", n)
		case a.Name == "counter":
			return invalid("Counters are not allowed inside collections: %s", n)
		case a.Name == "duration" && n.Name == "set":
			return invalid("Durations are not allowed inside sets: %s", n)
		case a.Name == "duration" && n.Name == "map" && i == 0:
			return invalid("Durations are not allowed as map keys: %s", n)
		}
	}
	return nil
}
