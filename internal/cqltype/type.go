// Package cqltype reads CQL type names and compares them, so that a declaration, the driver's metadata and the live
// schema can be held against each other.
package cqltype

import (
	"fmt"
	"strings"

	"github.com/gocql/gocql"
)

// protocol is the native protocol version the types are encoded for. The writer pins it: gocql 1.7 cannot speak 5.
const protocol = 4

// Type is a CQL type as it stands in a CREATE TABLE, for example frozen<list<text>>. The zero value is no type.
// It is immutable.
type Type struct {
	kind   gocql.Type
	frozen bool
	elems  []*Type
	info   gocql.TypeInfo
}

var natives = map[string]gocql.Type{
	"ascii": gocql.TypeAscii, "bigint": gocql.TypeBigInt, "blob": gocql.TypeBlob, "boolean": gocql.TypeBoolean,
	"counter": gocql.TypeCounter, "date": gocql.TypeDate, "decimal": gocql.TypeDecimal, "double": gocql.TypeDouble,
	"duration": gocql.TypeDuration, "float": gocql.TypeFloat, "inet": gocql.TypeInet, "int": gocql.TypeInt,
	"smallint": gocql.TypeSmallInt, "text": gocql.TypeVarchar, "varchar": gocql.TypeVarchar, "time": gocql.TypeTime,
	"timestamp": gocql.TypeTimestamp, "timeuuid": gocql.TypeTimeUUID, "tinyint": gocql.TypeTinyInt,
	"uuid": gocql.TypeUUID, "varint": gocql.TypeVarint,
}

var collections = map[string]struct {
	kind  gocql.Type
	arity int
}{
	"list": {gocql.TypeList, 1}, "set": {gocql.TypeSet, 1}, "map": {gocql.TypeMap, 2},
}

// Parse reads a CQL type name. Case does not matter, nor do spaces between words. What is inside a frozen collection is
// frozen, as in Cassandra. User-defined types, tuples and vectors are not known.
func Parse(name string) (*Type, error) {
	p := parser{rest: strings.ToLower(name)}
	t, err := p.read(false)
	if err == nil && p.rest != "" {
		err = fmt.Errorf("unexpected %q", p.rest)
	}
	if err != nil {
		return nil, fmt.Errorf("CQL type %q: %w", name, err)
	}
	return t, nil
}

type parser struct{ rest string }

// read reads one type. With frozen it stands inside a frozen collection.
func (p *parser) read(frozen bool) (*Type, error) {
	word := p.rest
	if i := strings.IndexAny(p.rest, "<>,"); i >= 0 {
		word = p.rest[:i]
	}
	p.rest = p.rest[len(word):]
	word = strings.TrimSpace(word)
	if kind, ok := natives[word]; ok {
		return native(kind), nil
	}
	if word == "frozen" {
		elems, err := p.arguments(word, 1, true)
		if err != nil {
			return nil, err
		}
		if len(elems[0].elems) == 0 {
			return nil, fmt.Errorf("frozen applies to collections, not to %s", elems[0])
		}
		return elems[0], nil
	}
	collection, ok := collections[word]
	if !ok {
		return nil, fmt.Errorf("unknown or unsupported type %q", word)
	}
	elems, err := p.arguments(word, collection.arity, frozen)
	if err != nil {
		return nil, err
	}
	for i, e := range elems {
		if len(e.elems) > 0 && !e.frozen {
			return nil, fmt.Errorf("a collection inside %s must be frozen", word)
		}
		if e.kind == gocql.TypeCounter || e.kind == gocql.TypeDuration && (word == "set" || word == "map" && i == 0) {
			return nil, fmt.Errorf("%s cannot hold %s", word, e)
		}
	}
	t := newCollection(collection.kind, elems)
	t.frozen = frozen
	return t, nil
}

func (p *parser) arguments(word string, arity int, frozen bool) ([]*Type, error) {
	var elems []*Type
	for open := "<"; ; open = "," {
		if !strings.HasPrefix(p.rest, open) {
			return nil, fmt.Errorf("%s needs %d type arguments", word, arity)
		}
		p.rest = p.rest[1:]
		e, err := p.read(frozen)
		if err != nil {
			return nil, err
		}
		if elems = append(elems, e); len(elems) == arity {
			break
		}
	}
	if !strings.HasPrefix(p.rest, ">") {
		return nil, fmt.Errorf("%s needs %d type arguments", word, arity)
	}
	p.rest = strings.TrimLeft(p.rest[1:], " ")
	return elems, nil
}

func native(kind gocql.Type) *Type {
	return &Type{kind: kind, info: gocql.NewNativeType(protocol, kind, "")}
}

func newCollection(kind gocql.Type, elems []*Type) *Type {
	info := gocql.CollectionType{NativeType: gocql.NewNativeType(protocol, kind, ""), Elem: elems[len(elems)-1].info}
	if kind == gocql.TypeMap {
		info.Key = elems[0].info
	}
	return &Type{kind: kind, elems: elems, info: info}
}

// Kind is the driver's name of the outermost type.
func (t *Type) Kind() gocql.Type { return t.kind }

// Info is what the driver needs to encode a value of the type.
func (t *Type) Info() gocql.TypeInfo { return t.info }

// Frozen says whether a collection is stored as one cell.
func (t *Type) Frozen() bool { return t.frozen }

// Elems are the element types of a collection: key and value of a map.
func (t *Type) Elems() []*Type { return t.elems }

// Size is the number of bytes of every value of the type, 0 if they differ.
func (t *Type) Size() int {
	switch t.kind {
	case gocql.TypeBoolean, gocql.TypeTinyInt:
		return 1
	case gocql.TypeSmallInt:
		return 2
	case gocql.TypeInt, gocql.TypeFloat, gocql.TypeDate:
		return 4
	case gocql.TypeBigInt, gocql.TypeCounter, gocql.TypeDouble, gocql.TypeTimestamp, gocql.TypeTime:
		return 8
	case gocql.TypeUUID, gocql.TypeTimeUUID:
		return 16
	}
	return 0
}

// MultiCell says whether a value is stored as many cells, so that overwriting it costs a range tombstone.
func (t *Type) MultiCell() bool { return len(t.elems) > 0 && !t.frozen }

// Contains says whether the type or a type inside it satisfies is.
func (t *Type) Contains(is func(*Type) bool) bool {
	if is(t) {
		return true
	}
	for _, e := range t.elems {
		if e.Contains(is) {
			return true
		}
	}
	return false
}

// Matches says whether the driver's metadata describes the same type. The protocol does not carry frozen.
func (t *Type) Matches(info gocql.TypeInfo) bool {
	kind := info.Type()
	if kind == gocql.TypeText {
		kind = gocql.TypeVarchar
	}
	if kind != t.kind {
		return false
	}
	if len(t.elems) == 0 {
		return true
	}
	collection, ok := info.(gocql.CollectionType)
	if !ok || !t.elems[len(t.elems)-1].Matches(collection.Elem) {
		return false
	}
	return kind != gocql.TypeMap || t.elems[0].Matches(collection.Key)
}

// Equal says whether both are the same type, frozen included.
func (t *Type) Equal(other *Type) bool { return t.String() == other.String() }

// String is the type as system_schema.columns spells it.
func (t *Type) String() string {
	name := t.kind.String()
	if t.kind == gocql.TypeVarchar {
		name = "text"
	}
	if len(t.elems) == 0 {
		return name
	}
	elems := make([]string, len(t.elems))
	for i, e := range t.elems {
		elems[i] = e.String()
	}
	name += "<" + strings.Join(elems, ", ") + ">"
	if t.frozen {
		name = "frozen<" + name + ">"
	}
	return name
}
