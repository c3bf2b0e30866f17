package cqltype

import (
	"fmt"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/gocql/gocql"
)

// Parse reads a CQL type name. Case does not matter, nor do spaces between words. What is inside a frozen collection is
// frozen, as in Cassandra, and so are tuples. User-defined types and vectors are not known.
func Parse(name string) (*Type, error) { return (*Types)(nil).Parse(name) }

// Parse is [Parse] with the user-defined types ts.
func (ts *Types) Parse(name string) (*Type, error) {
	t, err := cql.ParseType(name)
	return resolve(name, t, err, ts)
}

// ParseDefinition reads what [Type.Definition] writes.
func ParseDefinition(text string) (*Type, error) {
	t, err := cql.ParseDefinition(text)
	return resolve(text, t, err, nil)
}

func resolve(text string, t *cql.Type, err error, ts *Types) (*Type, error) {
	var out *Type
	if err == nil {
		out, err = ts.Resolve(t)
	}
	if err != nil {
		return nil, fmt.Errorf("CQL type %.100q: %w", text, err) // somebody else may have written it
	}
	return out, nil
}

// Resolve gives the type that t names, with the user-defined types ts.
func (ts *Types) Resolve(t *cql.Type) (*Type, error) { return ts.resolve(t, false) }

// resolve does so for a type that with frozen is inside something frozen.
func (ts *Types) resolve(t *cql.Type, frozen bool) (*Type, error) {
	frozen = frozen || t.Frozen
	switch t.Kind {
	case cql.Native:
		if t.Frozen {
			return nil, fmt.Errorf("frozen applies to collections and user-defined types, not to %s", t.Name)
		}
		return natives[kinds[t.Name]], nil
	case cql.TupleType, cql.Collection:
		return ts.composed(t, frozen || t.Kind == cql.TupleType)
	case cql.UserType:
		user := ts.Named(t.Name)
		if len(t.Fields) > 0 && t.Keyspace == "" {
			var err error
			if user, err = ts.define(t); err != nil {
				return nil, err
			}
		}
		if user != nil && (t.Keyspace == "" || t.Keyspace == ts.Keyspace) {
			return &Type{kind: gocql.TypeUDT, user: user, frozen: frozen}, nil
		}
	default:
	}
	outer := *t
	outer.Frozen = false
	return nil, fmt.Errorf("unknown or unsupported type %.100q", &outer)
}

func (ts *Types) composed(t *cql.Type, frozen bool) (*Type, error) {
	kind := kinds[t.Name]
	elems := make([]*Type, len(t.Args))
	for i, a := range t.Args {
		e, err := ts.resolve(a, frozen)
		if err != nil {
			return nil, err
		}
		if e.MultiCell() {
			return nil, fmt.Errorf("a collection or user-defined type inside %s must be frozen", t.Name)
		}
		ordered := kind == gocql.TypeSet || kind == gocql.TypeMap && i == 0
		if e.kind == gocql.TypeCounter || ordered && e.Contains(gocql.TypeDuration) {
			return nil, fmt.Errorf("%s cannot hold %.100s", t.Name, e)
		}
		elems[i] = e
	}
	return composed(kind, elems, frozen), nil
}

// define makes the user-defined type that t defines.
func (ts *Types) define(t *cql.Type) (*UserType, error) {
	if !cql.IsTable(t.Name) {
		return nil, fmt.Errorf("the name of a user-defined type must be %s", cql.TableRule)
	}
	u, seen := &UserType{Name: t.Name}, make(map[string]bool)
	for _, f := range t.Fields {
		if !cql.IsColumn(f.Name) || seen[f.Name] {
			return nil, fmt.Errorf("the fields of a user-defined type must be %s, and different", cql.ColumnRule)
		}
		typ, err := ts.resolve(f.Type, true)
		if err != nil {
			return nil, err
		}
		seen[f.Name] = true
		u.Add(f.Name, typ, 0)
	}
	return u, nil
}
