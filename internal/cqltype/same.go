package cqltype

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/gocql/gocql"
)

// Same says whether the server takes two encoded values of a type as equal, in a condition or a clustering key: as it does sets and maps
// in another order, 10 and 10.00, and a value of a user-defined type from before it got a field and one in which that field is null.
func (t *Type) Same(a, b []byte) bool {
	return (a == nil) == (b == nil) && t.Compare(t.sorted(a), t.sorted(b)) == 0
}

// Exceeds says whether a value has a field, not null, that a user-defined type does not have here.
func (t *Type) Exceeds(data []byte) bool {
	if !t.Contains(func(t *Type) bool { return t.user != nil }) {
		return false
	}
	types, collection := t.Elems(), t.Collection()
	if collection {
		data = data[min(4, len(data)):]
	}
	for n := 0; len(data) > 0 && (collection || n < len(types)); n++ {
		var value []byte
		if value, data = cutValue(data); types[n%len(types)].Exceeds(value) {
			return true
		}
	}
	return unlessNull(data) != nil
}

// AsDeclared is an encoded value with the fields that its user-defined types have here: those that it lacks are null, and further ones that
// are null are left out. The server takes both as equal in a clustering key. What is no value of the type stays as it is.
func (t *Type) AsDeclared(data []byte) []byte {
	if len(data) == 0 || !t.Contains(func(t *Type) bool { return t.user != nil }) {
		return data
	}
	types, collection := t.Elems(), t.Collection()
	var out []byte
	rest := data
	if collection {
		if len(data) < 4 {
			return data
		}
		out, rest = slices.Clone(data[:4]), data[4:]
	}
	for n := 0; collection && len(rest) > 0 || !collection && n < len(types); n++ {
		var value []byte
		ok := true
		if len(rest) > 0 {
			value, rest, ok = CutValue(rest)
		}
		if !ok {
			return data
		}
		out = AppendValue(out, types[n%len(types)].AsDeclared(value))
	}
	if unlessNull(rest) != nil {
		return data
	}
	return out
}

// sorted is an encoded value with the elements of its sets and maps, and of those inside it, in the order of the server, each once.
func (t *Type) sorted(data []byte) []byte {
	if !t.composite() || len(data) < 4 || !t.Contains((*Type).unordered) {
		return data
	}
	types, collection := t.Elems(), t.Collection()
	var out []byte
	rest, each := data, 1
	if collection {
		out, rest, each = make([]byte, 4), data[4:], len(types)
	}
	var parts [][][]byte // of a map with key and value
	for n := 0; len(rest) > 0; n++ {
		if n%each == 0 {
			parts = append(parts, nil)
		}
		var value []byte
		value, rest = cutValue(rest)
		if collection || n < len(types) { // else a field that is not known here
			value = types[n%len(types)].sorted(value)
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], value)
	}
	if t.unordered() {
		order := func(a, b [][]byte) int { return types[0].Compare(a[0], b[0]) }
		slices.SortStableFunc(parts, order)
		parts = slices.CompactFunc(parts, func(a, b [][]byte) bool { return order(a, b) == 0 })
	}
	if collection {
		binary.BigEndian.PutUint32(out, uint32(len(parts))) // not more than there were
	}
	for _, value := range slices.Concat(parts...) {
		out = AppendValue(out, value)
	}
	return out
}

// unordered says whether the elements of a value may be sent in any order.
func (t *Type) unordered() bool { return t.kind == gocql.TypeSet || t.kind == gocql.TypeMap }

// Ordered is an encoded value with the elements of its sets and maps, and of those inside it, in the order of their bytes.
func (t *Type) Ordered(data []byte) []byte {
	types, each, out, rest := t.Elems(), 1, []byte{}, data // each is how many parts are moved together
	switch {
	case len(types) == 0 || t.Collection() && len(data) < 4:
		return data
	case t.Collection():
		each, out, rest = len(types), append(out, data[:4]...), data[4:]
	}
	var elements [][]byte
	for n := 0; len(rest) > 0; n++ {
		part, after, ok := CutValue(rest)
		if !ok || !t.Collection() && n >= len(types) {
			return data // as a type that encodes itself may make it
		}
		if part != nil {
			part = types[n%len(types)].Ordered(part)
		}
		if n%each == 0 {
			elements = append(elements, nil)
		}
		last := &elements[len(elements)-1]
		*last, rest = AppendValue(*last, part), after
	}
	if t.kind == gocql.TypeSet || t.kind == gocql.TypeMap {
		slices.SortFunc(elements, bytes.Compare)
	}
	return append(out, bytes.Join(elements, nil)...)
}
