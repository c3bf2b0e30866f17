package tablerow

import (
	"slices"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// AsDeclared is an encoded value with the fields that its user-defined types have in t: those that it lacks are null,
// and further ones that are null are left out. The server takes both as equal in a clustering key. What is no value of
// the type stays as it is.
func AsDeclared(t *cqltype.Type, data []byte) []byte {
	if len(data) == 0 || !t.Contains(gocql.TypeUDT) {
		return data
	}
	parts, ok := t.Parts(data)
	known, more := t.Known(parts)
	if !ok || slices.ContainsFunc(more, func(part []byte) bool { return part != nil }) {
		return data
	}
	types := t.Elems()
	if !t.Collection() {
		known = append(known, make([][]byte, len(types)-len(known))...)
	}
	for n, part := range known {
		known[n] = AsDeclared(types[n%len(types)], part)
	}
	return t.Join(known)
}

// storable says whether the server can have data as a value of type t. It can have what this library rejects in a key,
// such as NaN, an empty text, or an empty number; and a user-defined type has values from before it got a field, and
// some with fields that are not declared yet.
func storable(t *cqltype.Type, data []byte) bool {
	types := t.Elems()
	if len(data) == 0 {
		return t.HasEmpty()
	}
	if len(types) == 0 {
		return t.Malformed(data) == ""
	}
	parts, ok := t.Parts(data)
	known, more := t.Known(parts)
	if !ok || len(more) > 0 && t.User() == nil {
		return false
	}
	for n, part := range known {
		if part == nil && t.Collection() || part != nil && !storable(types[n%len(types)], part) {
			return false
		}
	}
	return true
}
