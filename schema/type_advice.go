package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/declare"
	"github.com/denorm-go/denorm/internal/layout"
)

// typeAdvice says how to declare a column whose live CQL type is another than the declared one, as a clause after that,
// for example follows from Go type int: declare tables.Type("n", "int"). Where the Go type does not fit the live one it
// names one that does. userType is empty, or names the user-defined type that column is a field of. The advice is empty
// where a Type option has chosen the declared type, and where neither would do: for a collection, or a column that has
// to be of its type, such as a Stamp.
func typeAdvice(s *layout.Set, userType, column, live string) string {
	d, ok := s.Declaration.(declare.Declaration)
	if !ok {
		return ""
	}
	where := ""
	types := &d.Types
	if userType != "" {
		i := slices.IndexFunc(d.UserTypes, func(o declare.UserType) bool { return o.Name == userType })
		if i < 0 {
			return ""
		}
		d.UserTypes = slices.Clone(d.UserTypes)
		types, where = &d.UserTypes[i].Fields.Types, " in UserType"
	}
	if name, frozen, _ := ast.TypeParts(live); name == "list" && !frozen && userType == "" {
		return readOnlyAdvice(s, d, column, live)
	}
	source, free := sourceOf(s, userType, column)
	if source == "" || slices.ContainsFunc(*types, func(o declare.TypeOption) bool { return o.Column == column }) {
		return ""
	}
	option := fmt.Sprintf("tables.Type(%q, %q)%s", column, live, where)
	*types = append(slices.Clip(*types), declare.TypeOption{Column: column, CQL: live})
	if _, err := declare.New(s.Name, s.Go, d); err == nil {
		return "follows from " + source + ": declare " + option
	}
	field := declare.FieldOf[live]
	if field == "" {
		field = structOf(d.UserTypes, live)
	}
	if field == "" || !free {
		return ""
	}
	if strings.HasPrefix(source, "Go type *") {
		field = "*" + field
	}
	if live == "ascii" || live == "timeuuid" || live == "date" {
		field += ", with " + option
	}
	return "follows from " + source + ": declare the field as " + field
}

// readOnlyAdvice is typeAdvice for a live list that is not frozen.
func readOnlyAdvice(s *layout.Set, d declare.Declaration, column, live string) string {
	d.Types = slices.DeleteFunc(slices.Clone(d.Types), func(o declare.TypeOption) bool { return o.Column == column })
	d.Types = append(d.Types, declare.TypeOption{Column: column, CQL: live})
	d.ReadOnly = append(slices.Clip(d.ReadOnly), column)
	if _, err := declare.New(s.Name, s.Go, d); err != nil {
		return ""
	}
	return fmt.Sprintf("does not fit a list that is not frozen: declare tables.Type(%q, %q) and tables.ReadOnly(%[1]q), or another column, and copy the "+
		"lists there (denorm adopt --copy)", column, live)
}

// structOf is the Go type of a field that a live user-defined type wants, and empty if the type is none.
func structOf(types []declare.UserType, live string) string {
	name := strings.TrimSuffix(strings.TrimPrefix(live, "frozen<"), ">")
	if _, err := cqltype.Parse(name); err == nil || !cql.IsTable(name) {
		return ""
	}
	for _, o := range types {
		if o.Name == name {
			return o.Go.String()
		}
	}
	return fmt.Sprintf("S, a struct with the fields of this type, with tables.UserType[S](%q)", name)
}

// sourceOf is what the CQL type of a column, or of a field of a user-defined type, follows from. It is free if the set
// would take another.
func sourceOf(s *layout.Set, userType, column string) (text string, free bool) {
	goType := func(t reflect.Type) string { return fmt.Sprintf("Go type %s", t) }
	for i := range s.Columns {
		c := &s.Columns[i]
		switch {
		case userType == "" && c.Name == column && c.Derived != nil:
			return "its bucket function", false
		case userType == "" && c.Name == column:
			return goType(c.Go), !slices.Contains([]int{s.Stamp, s.Expiry, s.Version, s.Mark}, i)
		}
		for _, u := range c.CQL.Users() {
			if at := u.Field(column); u.Name == userType && at >= 0 {
				return goType(u.Go.Field(u.Fields[at].Index).Type), true
			}
		}
	}
	return "", false
}
