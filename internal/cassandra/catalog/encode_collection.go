package catalog

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// collection is the bytes of a list, a set or a map whose elements, in order, are so many values each.
func collection(elems [][][]byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(elems)))
	for _, e := range elems {
		for _, value := range e {
			out = appendValue(out, value)
		}
	}
	return out
}

// element encodes an element of a collection; what says which part of it that is.
func element(kind, what string, t *cqltype.Type, term ast.Term, name string) ([]byte, error) {
	if term.Kind == ast.List && t.Kind() != gocql.TypeList {
		return Encode(t, term, name)
	}
	if !assignable(t, term) {
		return nil, invalid("Invalid %s literal for %s: %s %s is not of type %s", kind, name, what, spell(term), t)
	}
	b, err := Encode(t, term, name)
	if err == nil && b == nil {
		err = invalid("null is not supported inside collections")
	}
	return b, err
}

func encodeList(t *cqltype.Type, term ast.Term, name string) ([]byte, error) {
	if t.Kind() != gocql.TypeList {
		return nil, invalid("Unexpected receiver type '%s'; only list and vector are expected", t)
	}
	elems := make([][][]byte, len(term.Elems))
	for i, e := range term.Elems {
		b, err := element("list", "value", t.Elems()[0], e, name)
		if err != nil {
			return nil, err
		}
		elems[i] = [][]byte{b}
	}
	return collection(elems), nil
}

func encodeSet(t *cqltype.Type, term ast.Term, name string) ([]byte, error) {
	if t.Kind() != gocql.TypeSet {
		return nil, invalid("Invalid set literal for %s of type %s", name, t)
	}
	var elems [][][]byte
	for _, e := range term.Elems {
		b, err := element("set", "value", t.Elems()[0], e, name)
		if err != nil {
			return nil, err
		}
		elems = put(t, elems, [][]byte{b})
	}
	return collection(elems), nil
}

// put puts an element of a set, or a key with its value, into its place. Of two alike the last one stays.
func put(t *cqltype.Type, elems [][][]byte, elem [][]byte) [][][]byte {
	at, found := slices.BinarySearchFunc(elems, elem, func(a, b [][]byte) int { return t.Elems()[0].Compare(a[0], b[0]) })
	if found {
		elems[at] = elem
		return elems
	}
	return slices.Insert(elems, at, elem)
}

func encodeMap(t *cqltype.Type, term ast.Term, name string) ([]byte, error) {
	if t.Kind() != gocql.TypeMap {
		return nil, invalid("Invalid map literal for %s of type %s", name, t)
	}
	var elems [][][]byte
	for i := 0; i < len(term.Elems); i += 2 {
		key, err := element("map", "key", t.Elems()[0], term.Elems[i], name)
		if err != nil {
			return nil, err
		}
		value, err := element("map", "value", t.Elems()[1], term.Elems[i+1], name)
		if err != nil {
			return nil, err
		}
		elems = put(t, elems, [][]byte{key, value})
	}
	return collection(elems), nil
}

func encodeTuple(t *cqltype.Type, term ast.Term, name string) ([]byte, error) {
	elems := t.Elems()
	switch {
	case t.Kind() != gocql.TypeTuple:
		return nil, invalid("Invalid tuple type literal for %s of type %s", name, t)
	case len(term.Elems) > len(elems):
		return nil, invalid("Invalid tuple literal for %s: too many elements. Type %s expects %d but got %d",
			name, t, len(elems), len(term.Elems))
	}
	out := []byte{}
	for i, e := range term.Elems {
		if !assignable(elems[i], e) {
			return nil, invalid("Invalid tuple literal for %s: component %d is not of type %s", name, i, elems[i])
		}
		b, err := Encode(elems[i], e, name)
		if err != nil {
			return nil, err
		}
		out = appendValue(out, b)
	}
	return out, nil
}

func encodeUser(t *cqltype.Type, term ast.Term, name string) ([]byte, error) {
	user := t.User()
	if user == nil {
		return nil, invalid("Invalid user type literal for %s of type %s", name, t)
	}
	values := make([][]byte, len(user.Fields))
	for i, field := range term.Fields {
		at := user.Field(field)
		if at < 0 {
			return nil, invalid("Unknown field '%s' in value of user defined type %s", field, user.Name)
		}
		of := user.Fields[at].Type
		if !assignable(of, term.Elems[i]) {
			return nil, invalid("Invalid user type literal for %s: field %s is not of type %s", name, field, of)
		}
		var err error
		if values[at], err = Encode(of, term.Elems[i], name); err != nil {
			return nil, err
		}
	}
	out := []byte{}
	for _, v := range values {
		out = appendValue(out, v)
	}
	return out, nil
}

// spell writes a literal as Cassandra writes it in messages.
func spell(term ast.Term) string {
	elems := make([]string, len(term.Elems))
	for i, e := range term.Elems {
		elems[i] = spell(e)
	}
	switch term.Kind {
	case ast.Null:
		return "NULL"
	case ast.String:
		return "'" + term.Text + "'"
	case ast.List:
		return "[" + strings.Join(elems, ", ") + "]"
	case ast.Set:
		return "{" + strings.Join(elems, ", ") + "}"
	case ast.Tuple:
		return "(" + strings.Join(elems, ", ") + ")"
	case ast.Map:
		var pairs []string
		for i := 0; i < len(elems); i += 2 {
			pairs = append(pairs, elems[i]+":"+elems[i+1])
		}
		return "{" + strings.Join(pairs, ", ") + "}"
	case ast.User:
		for i := range elems {
			elems[i] = term.Fields[i] + ": " + elems[i]
		}
		return "{" + strings.Join(elems, ", ") + "}"
	default:
		return constantText(term)
	}
}
