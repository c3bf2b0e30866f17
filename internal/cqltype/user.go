package cqltype

import (
	"reflect"
	"slices"

	"github.com/gocql/gocql"
)

// UserType is a user-defined type, as CREATE TYPE makes it in a keyspace.
type UserType struct {
	Name   string
	Fields []Field      // in order
	Go     reflect.Type // the struct that holds its values, nil where that is not known
}

// Field is a field of a [UserType]. What has parts is frozen in it.
type Field struct {
	Name  string
	Type  *Type
	Index int // of the field in the struct, if that is known
}

// Add appends a field, which is field index of the struct.
func (u *UserType) Add(name string, t *Type, index int) {
	u.Fields = append(u.Fields, Field{name, t.freeze(), index})
}

// Field is the position of the field called name, or -1.
func (u *UserType) Field(name string) int {
	return slices.IndexFunc(u.Fields, func(f Field) bool { return f.Name == name })
}

// Uses are the user-defined types in the fields of u, each after those that it uses itself, without repeats.
// With cyclic, one of them is u.
func (u *UserType) Uses() (uses []*UserType, cyclic bool) {
	seen := make(map[*UserType]bool)
	var visit func(*Type)
	visit = func(t *Type) {
		cyclic = cyclic || t.user == u
		if t.user == u || seen[t.user] {
			return
		}
		if t.user != nil {
			seen[t.user] = true
		}
		for _, e := range t.Elems() {
			visit(e)
		}
		if t.user != nil {
			uses = append(uses, t.user)
		}
	}
	for _, f := range u.Fields {
		visit(f.Type)
	}
	return uses, cyclic
}

// Users are the user-defined types that the type is made of, each after those that it uses itself, without repeats.
func (t *Type) Users() []*UserType {
	outer := UserType{Fields: []Field{{Type: t}}}
	uses, _ := outer.Uses()
	return uses
}

// Types are the user-defined types that a declaration knows. Nil knows none. The fields of a type may be filled in
// after others refer to it.
type Types struct {
	Keyspace string // in which they are; empty if it is not known
	list     []*UserType
}

// Add makes u known.
func (ts *Types) Add(u *UserType) { ts.list = append(ts.list, u) }

// Named gives the type called name, nil if there is none.
func (ts *Types) Named(name string) *UserType {
	return ts.find(func(u *UserType) bool { return u.Name == name })
}

// Of gives the type whose values a Go type holds, nil if there is none.
func (ts *Types) Of(t reflect.Type) *UserType {
	return ts.find(func(u *UserType) bool { return u.Go == t })
}

func (ts *Types) find(is func(*UserType) bool) *UserType {
	if ts != nil {
		if i := slices.IndexFunc(ts.list, is); i >= 0 {
			return ts.list[i]
		}
	}
	return nil
}

// SetOf is the type of a bound set of elements, as m - ? takes it.
func SetOf(elem *Type) *Type { return composed(gocql.TypeSet, []*Type{elem}, false) }

// ListOf is the type of a bound list of values, as IN ? takes it.
func ListOf(elem *Type) *Type { return composed(gocql.TypeList, []*Type{elem.freeze()}, false) }
