// Package cqltype has the types of CQL that values can be encoded for, and encoded values: how they are checked,
// compared and shown. With it a declaration, the metadata of the driver and the live schema are compared. Package cql
// reads the names of types.
package cqltype

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/gocql/gocql"
)

// Type is a CQL type as written in a CREATE TABLE, for example frozen<list<text>>. The zero value is no type.
// It is immutable.
type Type struct {
	kind   gocql.Type
	frozen bool
	elems  []*Type   // of a collection or a tuple
	user   *UserType // of a user-defined type
	info   gocql.TypeInfo
}

// kinds are the driver's names of types by those of CQL.
var kinds = func() map[string]gocql.Type {
	kinds := make(map[string]gocql.Type)
	for kind := gocql.TypeAscii; kind <= gocql.TypeTuple; kind++ { // there are gaps, whose names are none of CQL
		kinds[driver.TypeName(kind)] = kind
	}
	kinds["text"] = gocql.TypeVarchar
	return kinds
}()

// natives are the types without parts.
var natives = func() (types [gocql.TypeDuration + 1]*Type) {
	for i := range types {
		kind := gocql.Type(i)
		types[i] = &Type{kind: kind, info: driver.NativeType(kind)}
	}
	return types
}()

// composed is a type with parts that have no names.
func composed(kind gocql.Type, elems []*Type, frozen bool) *Type {
	t := &Type{kind: kind, elems: elems, frozen: frozen}
	if !t.Contains(gocql.TypeUDT) { // whose fields may yet be filled in
		t.info = t.Info()
	}
	return t
}

// Kind is the driver's name of the outermost type.
func (t *Type) Kind() gocql.Type { return t.kind }

// Info is what the driver needs to encode a value of the type.
func (t *Type) Info() gocql.TypeInfo {
	if t.info != nil {
		return t.info
	}
	switch t.kind {
	case gocql.TypeMap:
		return driver.CollectionType(t.kind, t.elems[0].Info(), t.elems[1].Info())
	case gocql.TypeList, gocql.TypeSet:
		return driver.CollectionType(t.kind, nil, t.elems[0].Info())
	case gocql.TypeTuple:
		return driver.TupleType(each.Of(t.elems, (*Type).Info))
	}
	field := func(f Field) gocql.UDTField { return gocql.UDTField{Name: f.Name, Type: f.Type.Info()} }
	return driver.UserType(t.user.Name, each.Of(t.user.Fields, field))
}

// Frozen says whether a collection or user-defined type is stored as one cell. A tuple always is.
func (t *Type) Frozen() bool { return t.frozen }

// Elems are the types inside a type: of the elements of a collection, key and value of a map, of the elements of a
// tuple, of the fields of a user-defined type.
func (t *Type) Elems() []*Type {
	if t.user == nil {
		return t.elems
	}
	elems := make([]*Type, len(t.user.Fields))
	for i, f := range t.user.Fields {
		elems[i] = f.Type
	}
	return elems
}

// User is the user-defined type, nil for any other.
func (t *Type) User() *UserType { return t.user }

// composite says whether there are types inside the type.
func (t *Type) composite() bool { return len(t.elems) > 0 || t.user != nil }

// freeze is the type as it is inside another one.
func (t *Type) freeze() *Type {
	if !t.MultiCell() {
		return t
	}
	frozen := *t
	frozen.frozen = true
	return &frozen
}

// MultiCell says whether a value is stored as many cells, so that overwriting it costs a range tombstone.
func (t *Type) MultiCell() bool { return t.composite() && !t.frozen }

// Contains says whether the type or a type inside it is of one of the kinds.
func (t *Type) Contains(kinds ...gocql.Type) bool {
	inside := func(e *Type) bool { return e.Contains(kinds...) }
	return slices.Contains(kinds, t.kind) || slices.ContainsFunc(t.Elems(), inside)
}

// Matches says whether the driver's metadata describes the same type, with fields of the same names in the same order.
// More may follow them: the type has got them since, and a value without them is one of it. The protocol does not carry
// frozen, and in which keyspace a user-defined type was created does not matter.
func (t *Type) Matches(info gocql.TypeInfo) bool {
	kind := info.Type()
	if kind == gocql.TypeText {
		kind = gocql.TypeVarchar
	}
	if kind != t.kind {
		return false
	}
	var live []gocql.TypeInfo
	switch info := info.(type) {
	case gocql.CollectionType:
		if kind == gocql.TypeMap {
			live = append(live, info.Key)
		}
		live = append(live, info.Elem)
	case gocql.TupleTypeInfo:
		live = info.Elems
	case gocql.UDTTypeInfo:
		if info.Name != t.user.Name {
			return false
		}
		for i, f := range info.Elements {
			if i < len(t.user.Fields) && f.Name != t.user.Fields[i].Name {
				return false
			}
			live = append(live, f.Type)
		}
	}
	mine := t.Elems()
	if len(live) < len(mine) || t.user == nil && len(live) > len(mine) {
		return false
	}
	return slices.EqualFunc(mine, live[:len(mine)], (*Type).Matches)
}

// Takes says whether a value of type other is one of t: both are the same type, or user-defined types in t have got
// fields since.
func (t *Type) Takes(other *Type) bool {
	mine, theirs := t.Elems(), other.Elems()
	if t.kind != other.kind || t.frozen != other.frozen || len(theirs) > len(mine) || t.user == nil &&
		len(theirs) < len(mine) {
		return false
	}
	if t.user != nil && t.user.Name != other.user.Name {
		return false
	}
	for i, e := range theirs {
		if t.user != nil && t.user.Fields[i].Name != other.user.Fields[i].Name || !mine[i].Takes(e) {
			return false
		}
	}
	return true
}

// String is the type as system_schema.columns spells it.
func (t *Type) String() string { return t.spell(false) }

// Definition is the type as [ParseDefinition] reads it: what a user-defined type consists of follows its name, as in
// frozen<place{city text, zip int}>.
func (t *Type) Definition() string { return t.spell(true) }

func (t *Type) spell(define bool) string {
	name := driver.TypeName(t.kind)
	switch {
	case t.kind == gocql.TypeVarchar:
		name = "text"
	case t.user != nil && define:
		fields := each.Of(t.user.Fields, func(f Field) string { return f.Name + " " + f.Type.Definition() })
		name = t.user.Name + "{" + strings.Join(fields, ", ") + "}"
	case t.user != nil:
		name = t.user.Name
	case len(t.elems) > 0:
		elems := each.Of(t.elems, func(e *Type) string { return e.spell(define) })
		name += "<" + strings.Join(elems, ", ") + ">"
	}
	if t.frozen {
		name = "frozen<" + name + ">"
	}
	return name
}
