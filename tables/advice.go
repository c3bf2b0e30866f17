package tables

import (
	"fmt"
	"reflect"
	"slices"
)

// TypeAdvice says how to declare a column whose live CQL type is another than the declared one, as a clause after that, for example
// follows from Go type int: declare tables.Type("n", "int"). userType is empty, or names the user-defined type that column is a field
// of. The advice is empty where a Type option has chosen the declared type, and where the set could not be declared with the live one.
func (s *Set[T]) TypeAdvice(userType, column, live string) string {
	d, where := s.def.declared, ""
	types := &d.types
	if userType != "" {
		i := slices.IndexFunc(d.userTypes, func(o userTypeOption) bool { return o.name == userType })
		if i < 0 {
			return ""
		}
		d.userTypes = slices.Clone(d.userTypes)
		types, where = &d.userTypes[i].fields.types, " in UserType"
	}
	source := s.def.source(userType, column)
	if source == "" || slices.ContainsFunc(*types, func(o typeOption) bool { return o.column == column }) {
		return ""
	}
	*types = append(slices.Clip(*types), typeOption{column, live})
	if _, err := build(s.def.entity, s.def.typ, d); err != nil {
		return ""
	}
	return fmt.Sprintf("follows from %s: declare tables.Type(%q, %q)%s", source, column, live, where)
}

// source is what the CQL type of a column, or of a field of a user-defined type, follows from.
func (s *set) source(userType, column string) string {
	goType := func(t reflect.Type) string { return fmt.Sprintf("Go type %s", t) }
	for i := range s.columns {
		c := &s.columns[i]
		switch {
		case userType == "" && c.name == column && c.derived != nil:
			return "its bucket function"
		case userType == "" && c.name == column:
			return goType(c.goType)
		}
		for _, u := range c.cql.Users() {
			if at := u.Field(column); u.Name == userType && at >= 0 {
				return goType(u.Go.Field(u.Fields[at].Index).Type)
			}
		}
	}
	return ""
}
