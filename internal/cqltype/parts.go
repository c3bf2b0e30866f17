package cqltype

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/gocql/gocql"
)

// Collection says whether values of t have any number of parts, which they begin with.
func (t *Type) Collection() bool {
	return t.kind == gocql.TypeList || t.kind == gocql.TypeSet || t.kind == gocql.TypeMap
}

// Parts are the values inside an encoded value: elements, keys and values one after the other, or fields; nil is null.
// A value may have fewer fields than its type, or more. It is false of bytes that are no value of the type.
func (t *Type) Parts(data []byte) (parts [][]byte, ok bool) {
	count := 0
	if t.Collection() {
		if count, data, ok = cutInt(data); !ok {
			return nil, false
		}
	}
	for len(data) > 0 {
		part, rest, ok := CutValue(data)
		if !ok {
			return nil, false
		}
		parts, data = append(parts, part), rest
	}
	return parts, !t.Collection() || len(parts) == count*len(t.elems)
}

// Known are the parts of a value whose types are known, and the fields after them.
func (t *Type) Known(parts [][]byte) (known, more [][]byte) {
	n := len(parts)
	if !t.Collection() {
		n = min(n, len(t.Elems()))
	}
	return parts[:n], parts[n:]
}

// Join encodes a value with these parts.
func (t *Type) Join(parts [][]byte) []byte {
	out := []byte{}
	if t.Collection() {
		out = binary.BigEndian.AppendUint32(out, uint32(len(parts)/len(t.elems))) // not more than there were
	}
	return appendValues(out, parts)
}

func appendValues(out []byte, values [][]byte) []byte {
	for _, value := range values {
		out = AppendValue(out, value)
	}
	return out
}

// AppendValue appends a value as it is inside another one: with its length before it; null has -1.
func AppendValue(out, value []byte) []byte {
	if value == nil {
		return binary.BigEndian.AppendUint32(out, 1<<32-1)
	}
	// it is in memory, and a request much shorter
	return append(binary.BigEndian.AppendUint32(out, uint32(len(value))), value...)
}

// CutValue cuts off a value that follows its length, and says whether there is one. Null is nil.
func CutValue(data []byte) (value, rest []byte, ok bool) {
	if len(data) < 4 {
		return nil, nil, false
	}
	size, rest := int(int32(binary.BigEndian.Uint32(data))), data[4:]
	switch {
	case size > len(rest):
		return nil, nil, false
	case size < 0:
		return nil, rest, true
	}
	return rest[:size:size], rest[size:], true
}

// cutValue is [CutValue] with null for no value.
func cutValue(data []byte) (value, rest []byte) {
	value, rest, _ = CutValue(data)
	return value, rest
}

// cutInt cuts a CQL int off data.
func cutInt(data []byte) (n int, rest []byte, ok bool) {
	if len(data) < 4 {
		return 0, nil, false
	}
	return int(int32(binary.BigEndian.Uint32(data))), data[4:], true // a CQL int is signed
}

func hasUser(t *Type) bool { return t.user != nil }

func present(part []byte) bool { return part != nil }

// Exceeds says whether a value has a field, not null, that a user-defined type does not have here.
func (t *Type) Exceeds(data []byte) bool {
	if !t.Contains(hasUser) {
		return false
	}
	parts, _ := t.Parts(data)
	known, more := t.Known(parts)
	types := t.Elems()
	for n, part := range known {
		if types[n%len(types)].Exceeds(part) {
			return true
		}
	}
	return slices.ContainsFunc(more, present)
}

// Same says whether the server takes two encoded values of a type as equal, in a condition or a clustering key: as it
// does sets and maps in another order, 10 and 10.00, and a value of a user-defined type from before it got a field and
// one in which that field is null.
func (t *Type) Same(a, b []byte) bool {
	return (a == nil) == (b == nil) && t.Compare(t.sorted(a), t.sorted(b)) == 0
}

// sorted is an encoded value with the elements of its sets and maps, and of those inside it, in the order of the
// server, each once.
func (t *Type) sorted(data []byte) []byte {
	if len(data) < 4 || !t.Contains((*Type).unordered) {
		return data
	}
	parts, ok := t.Parts(data)
	if !ok {
		return data
	}
	types := t.Elems()
	known, _ := t.Known(parts)
	for n, part := range known {
		known[n] = types[n%len(types)].sorted(part)
	}
	if t.unordered() {
		elements := slices.Collect(slices.Chunk(parts, len(types))) // of a map with key and value
		order := func(a, b [][]byte) int { return types[0].Compare(a[0], b[0]) }
		slices.SortStableFunc(elements, order)
		parts = slices.Concat(slices.CompactFunc(elements, func(a, b [][]byte) bool { return order(a, b) == 0 })...)
	}
	return t.Join(parts)
}

// unordered says whether the elements of a value may be sent in any order.
func (t *Type) unordered() bool { return t.kind == gocql.TypeSet || t.kind == gocql.TypeMap }

// Ordered is an encoded value with the elements of its sets and maps, and of those inside it, in the order of their
// bytes.
func (t *Type) Ordered(data []byte) []byte {
	if !t.composite() {
		return data
	}
	types := t.Elems()
	parts, ok := t.Parts(data)
	if _, more := t.Known(parts); !ok || len(more) > 0 {
		return data // as a type that encodes itself may make it
	}
	for n, part := range parts {
		if part != nil {
			parts[n] = types[n%len(types)].Ordered(part)
		}
	}
	if !t.unordered() {
		return t.Join(parts)
	}
	var elements [][]byte
	for element := range slices.Chunk(parts, len(types)) {
		elements = append(elements, appendValues(nil, element))
	}
	slices.SortFunc(elements, bytes.Compare)
	return append(data[:4:4], bytes.Join(elements, nil)...)
}
