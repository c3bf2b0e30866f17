package catalog

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/cqltype"
)

// userType is a user-defined type as it was created. [Keyspace.Types] are made of them.
type userType struct {
	name   string
	fields []field
}

type field struct{ name, typ string }

func (k *Keyspace) userType(name string) int {
	return slices.IndexFunc(k.types, func(u userType) bool { return u.name == name })
}

// build makes the types, and the tables again that use them: a type never changes, like all that was given out.
func (k *Keyspace) build() error {
	k.Types = &cqltype.Types{Keyspace: k.Name}
	for _, u := range k.types {
		k.Types.Add(&cqltype.UserType{Name: u.name})
	}
	for _, u := range k.types {
		for i, f := range u.fields {
			t, err := k.Types.Parse(f.typ)
			if err != nil {
				return unsupported("%v", err)
			}
			k.Types.Named(u.name).Add(f.name, t, i)
		}
	}
	for _, tables := range []map[string]*Table{k.tables, k.views} {
		for name, t := range tables {
			if !slices.ContainsFunc(t.Columns, func(c *Column) bool { return len(c.Type.Users()) > 0 }) {
				continue
			}
			next := t.clone()
			for _, c := range next.Columns {
				var err error
				if c.Type, err = k.Types.Parse(c.Type.String()); err != nil {
					return unsupported("%v", err)
				}
			}
			tables[name] = next.arrange()
		}
	}
	return nil
}

func (s *Schema) defineType(name cql.Name, stmt *ast.CreateType) (*Change, error) {
	if stmt.Alter {
		return s.alterType(name, stmt)
	}
	old, err := s.existing(name.Keyspace)
	if err != nil {
		return nil, err
	}
	if old.userType(name.Name) >= 0 {
		if stmt.IfNotExists {
			return nil, nil
		}
		return nil, invalid("A user type with name '%s' already exists", name.Name)
	}
	if name.Name != strings.ToLower(name.Name) {
		return nil, unsupported("a type whose name is quoted: %s", name.Name)
	}
	u := userType{name: name.Name}
	for _, f := range stmt.Fields {
		if slices.ContainsFunc(u.fields, func(other field) bool { return other.name == f.Name }) {
			return nil, invalid("Duplicate field name '%s' in type '%s'", f.Name, name.Name)
		}
		typ, err := old.fieldType(f.Type)
		if err != nil {
			return nil, err
		}
		u.fields = append(u.fields, field{f.Name, typ})
	}
	k := old.clone()
	k.types = append(slices.Clone(k.types), u)
	if err := k.build(); err != nil {
		return nil, err
	}
	s.keyspaces[k.Name] = k
	return &Change{Type: created, Target: "TYPE", Keyspace: k.Name, Object: name.Name}, nil
}

// fieldType is the type of a field as system_schema.types spells it.
func (k *Keyspace) fieldType(n *cql.Type) (string, error) {
	switch {
	case n.Name == "counter":
		return "", invalid("A user type cannot contain counters")
	case n.Kind == cql.UserType && !n.Frozen:
		return "", invalid("A user type cannot contain non-frozen UDTs")
	}
	t, err := k.resolve(n)
	if err != nil {
		return "", err
	}
	return t.String(), nil
}

func (s *Schema) alterType(name cql.Name, stmt *ast.CreateType) (*Change, error) {
	at, old := -1, s.keyspaces[name.Keyspace]
	if old != nil {
		at = old.userType(name.Name)
	}
	if at < 0 {
		if stmt.IfExists {
			return nil, nil
		}
		return nil, invalid("Type %s.%s doesn't exist", name.Keyspace, name.Name)
	}
	k := old.clone()
	k.types = slices.Clone(k.types)
	u := &k.types[at]
	u.fields = slices.Clone(u.fields)
	for _, f := range stmt.Fields {
		if slices.ContainsFunc(u.fields, func(other field) bool { return other.name == f.Name }) {
			if stmt.IfNotExists {
				continue
			}
			return nil, invalid("Cannot add field %s to type %s.%s: a field with name %s already exists",
				f.Name, k.Name, name.Name, f.Name)
		}
		typ, err := old.fieldType(f.Type)
		if err != nil {
			return nil, err
		}
		if uses(old, f.Type, name.Name) {
			return nil, invalid("Cannot add new field %s of type %s to user type %s.%s as it would create a circular reference",
				f.Name, k.own(f.Type), k.Name, name.Name)
		}
		if tables := old.partitioned(name.Name); len(tables) > 0 {
			return nil, invalid("Cannot add new field %s of type %s to user type %s.%s as the type is being used in partition "+
				"key by the following tables: %s",
				f.Name, k.own(f.Type), k.Name, name.Name, strings.Join(tables, ", "))
		}
		u.fields = append(u.fields, field{f.Name, typ})
	}
	if err := k.build(); err != nil {
		return nil, err
	}
	s.keyspaces[k.Name] = k
	return &Change{Type: updated, Target: "TYPE", Keyspace: k.Name, Object: name.Name}, nil
}

// own is a type with the keyspace as that of its user-defined types.
func (k *Keyspace) own(t *cql.Type) *cql.Type {
	out := *t
	out.Args = nil
	if t.Kind == cql.UserType {
		out.Keyspace = k.Name
	}
	for _, a := range t.Args {
		out.Args = append(out.Args, k.own(a))
	}
	return &out
}

// partitioned are the tables whose partition key has values of the user-defined type called name: they would have
// others.
func (k *Keyspace) partitioned(name string) []string {
	named := func(u *cqltype.UserType) bool { return u.Name == name }
	var out []string
	for _, t := range sorted(k.tables) {
		if slices.ContainsFunc(t.Partition, func(c *Column) bool { return slices.ContainsFunc(c.Type.Users(), named) }) {
			out = append(out, k.Name+"."+t.Name)
		}
	}
	return out
}

// uses says whether a type is made of the user-defined type called name.
func uses(k *Keyspace, n *cql.Type, name string) bool {
	t, err := k.resolve(n)
	return err == nil && slices.ContainsFunc(t.Users(), func(u *cqltype.UserType) bool { return u.Name == name })
}

func (s *Schema) dropType(name cql.Name, ifExists bool) (*Change, error) {
	at, old := -1, s.keyspaces[name.Keyspace]
	if old != nil {
		at = old.userType(name.Name)
	}
	if at < 0 {
		if ifExists {
			return nil, nil
		}
		return nil, invalid("Type '%s.%s' doesn't exist", name.Keyspace, name.Name)
	}
	named := func(t *cqltype.Type) bool {
		return slices.ContainsFunc(t.Users(), func(u *cqltype.UserType) bool { return u.Name == name.Name })
	}
	var types, tables []string
	for _, u := range old.types {
		if slices.ContainsFunc(old.Types.Named(u.name).Fields, func(f cqltype.Field) bool { return named(f.Type) }) {
			types = append(types, u.name)
		}
	}
	for _, t := range sorted(old.tables) {
		if slices.ContainsFunc(t.Columns, func(c *Column) bool { return named(c.Type) }) {
			tables = append(tables, t.Name)
		}
	}
	if len(types) > 0 {
		return nil, invalid("Cannot drop user type '%s.%s' as it is still used by user types %s",
			name.Keyspace, name.Name, strings.Join(types, ", "))
	}
	if len(tables) > 0 {
		return nil, invalid("Cannot drop user type '%s.%s' as it is still used by tables %s",
			name.Keyspace, name.Name, strings.Join(tables, ", "))
	}
	k := old.clone()
	k.types = slices.Delete(slices.Clone(k.types), at, at+1)
	if err := k.build(); err != nil {
		return nil, err
	}
	s.keyspaces[k.Name] = k
	return &Change{Type: dropped, Target: "TYPE", Keyspace: k.Name, Object: name.Name}, nil
}
