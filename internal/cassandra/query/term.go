package query

import (
	"encoding/binary"
	"slices"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// term is a value of a type.
type term struct {
	name    string // of the column, for messages
	typ     *cqltype.Type
	mark    int // -1 if it is none
	literal []byte
	call    func(*Env) []byte
	elems   []term // of a collection, tuple or user-defined type that has marks or calls inside
}

// term reads a value that is to be of a type.
func (c *compiler) term(t ast.Term, name string, typ *cqltype.Type) (term, error) {
	out := term{name: name, typ: typ, mark: -1}
	var err error
	switch {
	case t.Kind == ast.Mark:
		out.mark = t.Mark
		c.mark(t.Mark, name, typ)
	case t.Kind == ast.Call:
		out.call, err = c.call(t, typ)
	case !slices.ContainsFunc(t.Elems, open):
		out.literal, err = catalog.Encode(typ, t, name)
	default:
		err = c.parts(&out, t)
	}
	return out, err
}

// open says whether there is a mark or a call in a value.
func open(t ast.Term) bool {
	return t.Kind == ast.Mark || t.Kind == ast.Call || slices.ContainsFunc(t.Elems, open)
}

// parts reads a collection that has marks or calls inside.
func (c *compiler) parts(out *term, t ast.Term) error {
	elems := out.typ.Elems()
	kind := out.typ.Kind()
	ok := t.Kind == ast.List && kind == gocql.TypeList || t.Kind == ast.Set && kind == gocql.TypeSet ||
		t.Kind == ast.Map && kind == gocql.TypeMap || t.Kind == ast.Tuple && kind == gocql.TypeTuple &&
		len(t.Elems) <= len(elems)
	if !ok {
		return unsupported("marks inside of a value of type %s", out.typ)
	}
	for i, e := range t.Elems {
		typ := elems[0]
		if kind == gocql.TypeMap || kind == gocql.TypeTuple {
			typ = elems[i%len(elems)]
		}
		part, err := c.term(e, out.name, typ)
		if err != nil {
			return err
		}
		out.elems = append(out.elems, part)
	}
	return nil
}

// eval gives the bytes of the value, nil for null.
func (t *term) eval(env *Env) (b []byte, unset bool, err error) {
	switch {
	case t.mark >= 0:
		v := env.Values[t.mark]
		return v.Bytes, v.Unset, nil
	case t.call != nil:
		return t.call(env), false, nil
	case t.elems == nil:
		return t.literal, false, nil
	}
	parts := make([][]byte, len(t.elems))
	for i := range t.elems {
		if parts[i], unset, err = t.elems[i].eval(env); err != nil || unset || parts[i] == nil &&
			t.typ.Kind() != gocql.TypeTuple {
			return nil, false, invalid("Invalid null or unset value inside of a collection of %s", t.name)
		}
	}
	return join(t.typ, parts), false, nil
}

// join encodes a collection or tuple of its parts, sorting and deduplicating sets and maps.
func join(t *cqltype.Type, parts [][]byte) []byte {
	step := 1
	switch t.Kind() {
	case gocql.TypeMap:
		step = 2
	case gocql.TypeTuple, gocql.TypeUDT:
		return appendParts(nil, parts)
	}
	if t.Kind() != gocql.TypeList {
		parts = sorted(t.Elems()[0], parts, step)
	}
	return appendParts(binary.BigEndian.AppendUint32(nil, uint32(len(parts)/step)), parts)
}

// sorted orders entries of step parts by their first one, of which the last of several equal ones is left.
func sorted(t *cqltype.Type, parts [][]byte, step int) [][]byte {
	var entries [][][]byte
	for e := range slices.Chunk(parts, step) {
		i, found := slices.BinarySearchFunc(entries, e, func(a, b [][]byte) int { return t.Compare(a[0], b[0]) })
		if found {
			entries[i] = e
			continue
		}
		entries = slices.Insert(entries, i, e)
	}
	return slices.Concat(entries...)
}

func appendParts(b []byte, parts [][]byte) []byte {
	for _, p := range parts {
		if p == nil {
			b = binary.BigEndian.AppendUint32(b, 0xffffffff)
			continue
		}
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(p))), p...)
	}
	return b
}

// split gives the parts of an encoded collection, of a map key and value in turns, or of a tuple.
func split(t *cqltype.Type, b []byte) ([][]byte, error) {
	if t.Kind() != gocql.TypeTuple && t.Kind() != gocql.TypeUDT {
		if len(b) < 4 {
			return nil, invalid("Not enough bytes to read a %s", t)
		}
		b = b[4:]
	}
	var parts [][]byte
	for len(b) > 0 {
		if len(b) < 4 {
			return nil, invalid("Not enough bytes to read a %s", t)
		}
		n := int(int32(binary.BigEndian.Uint32(b)))
		b = b[4:]
		switch {
		case n < 0:
			parts = append(parts, nil)
			continue
		case n > len(b):
			return nil, invalid("Not enough bytes to read a %s", t)
		}
		parts = append(parts, b[:n:n])
		b = b[n:]
	}
	return parts, nil
}
