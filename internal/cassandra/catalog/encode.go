package catalog

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// Encode gives the bytes of a literal, which has no mark and no call in it, as a value of a type; nil of Null. The name
// is that of the column, for the message of an [*Error]. An empty collection is one of no elements, also where the type
// is not frozen and Cassandra makes it null.
func Encode(t *cqltype.Type, term ast.Term, name string) ([]byte, error) {
	if term.Kind == ast.Null {
		return nil, nil
	}
	term = inner(t, term)
	if literal := constants[term.Kind]; literal.name != "" {
		if t.Kind() == gocql.TypeTuple && term.Kind == ast.String {
			return nil, unsupported("a tuple as text, as in '1:x', of %s of type %s", name, t) // Cassandra takes it
		}
		if !assignable(t, term) {
			return nil, invalid("Invalid %s constant (%s) for \"%s\" of type %s", literal.name, constantText(term), name, t)
		}
		return encodeConstant(t, term)
	}
	switch term.Kind {
	case ast.List:
		return encodeList(t, term, name)
	case ast.Set:
		if t.Kind() == gocql.TypeMap && len(term.Elems) == 0 {
			return collection(nil), nil
		}
		return encodeSet(t, term, name)
	case ast.Map:
		return encodeMap(t, term, name)
	case ast.Tuple:
		return encodeTuple(t, term, name)
	case ast.User:
		return encodeUser(t, term, name)
	case ast.Cast:
		if hint, err := cql.ParseType(term.Text); err == nil && hint.Kind == cql.Native && hint.Name == t.String() {
			return Encode(t, term.Elems[0], name)
		}
		fallthrough
	default:
		return nil, unsupported("this value of %s of type %s", name, t)
	}
}

// inner is what is in brackets, unless they make a tuple.
func inner(t *cqltype.Type, term ast.Term) ast.Term {
	for term.Kind == ast.Tuple && len(term.Elems) == 1 && t.Kind() != gocql.TypeTuple {
		term = term.Elems[0]
	}
	return term
}

// constants are the literals of one token, and the native types that they are assignable to.
var constants = map[ast.TermKind]struct {
	name  string
	types []gocql.Type
}{
	ast.String: {"STRING", []gocql.Type{
		gocql.TypeAscii, gocql.TypeVarchar, gocql.TypeInet, gocql.TypeDate, gocql.TypeTime, gocql.TypeTimestamp,
	}},
	ast.Integer: {"INTEGER", []gocql.Type{
		gocql.TypeBigInt, gocql.TypeCounter, gocql.TypeDate, gocql.TypeDecimal, gocql.TypeDouble, gocql.TypeDuration,
		gocql.TypeFloat, gocql.TypeInt, gocql.TypeSmallInt, gocql.TypeTime, gocql.TypeTimestamp, gocql.TypeTinyInt,
		gocql.TypeVarint,
	}},
	ast.UUID:     {"UUID", []gocql.Type{gocql.TypeUUID, gocql.TypeTimeUUID}},
	ast.Float:    {"FLOAT", []gocql.Type{gocql.TypeDecimal, gocql.TypeDouble, gocql.TypeFloat}},
	ast.Boolean:  {"BOOLEAN", []gocql.Type{gocql.TypeBoolean}},
	ast.Blob:     {"HEX", []gocql.Type{gocql.TypeBlob}},
	ast.Duration: {"DURATION", []gocql.Type{gocql.TypeDuration}},
}

func constantText(term ast.Term) string {
	if term.Kind == ast.Blob {
		return "0x" + term.Text
	}
	return term.Text
}

// assignable says whether a literal can be one of the type by its form. Nothing is said of what is in it, except in
// collections and tuples.
func assignable(t *cqltype.Type, term ast.Term) bool {
	term = inner(t, term)
	if c := constants[term.Kind]; c.name != "" {
		return slices.Contains(c.types, t.Kind())
	}
	all := func(elems []ast.Term, of ...*cqltype.Type) bool {
		for i, e := range elems {
			if !assignable(of[i%len(of)], e) {
				return false
			}
		}
		return true
	}
	elems := t.Elems()
	switch term.Kind {
	case ast.Null:
		return true
	case ast.List:
		return t.Kind() == gocql.TypeList && all(term.Elems, elems[0])
	case ast.Set:
		return t.Kind() == gocql.TypeMap && len(term.Elems) == 0 || t.Kind() == gocql.TypeSet && all(term.Elems, elems[0])
	case ast.Map:
		return t.Kind() == gocql.TypeMap && all(term.Elems, elems...)
	case ast.Tuple:
		return t.Kind() == gocql.TypeTuple && len(term.Elems) <= len(elems) && all(term.Elems, elems...)
	case ast.User:
		if t.User() == nil {
			return false
		}
		for i, f := range term.Fields {
			if at := t.User().Field(f); at < 0 || !assignable(elems[at], term.Elems[i]) {
				return false
			}
		}
		return true
	case ast.Cast:
		return true // which Encode looks at
	default:
		return false
	}
}

func encodeConstant(t *cqltype.Type, term ast.Term) ([]byte, error) {
	text := term.Text
	switch t.Kind() {
	case gocql.TypeAscii:
		for i := range len(text) {
			if text[i] >= 0x80 {
				return nil, invalid("Invalid ASCII character in string literal: " +
					"java.nio.charset.UnmappableCharacterException: Input length = 1")
			}
		}
		return []byte(text), nil
	case gocql.TypeVarchar:
		return []byte(text), nil
	case gocql.TypeBlob:
		b, err := hex.DecodeString(text)
		if err != nil {
			return nil, invalid("cannot parse '%s' as hex bytes", text)
		}
		return b, nil
	case gocql.TypeBoolean:
		if strings.EqualFold(text, "true") {
			return []byte{1}, nil
		}
		return []byte{0}, nil
	case gocql.TypeUUID, gocql.TypeTimeUUID:
		return encodeUUID(t, text)
	case gocql.TypeInet:
		return encodeInet(text)
	case gocql.TypeDate:
		return encodeDate(text)
	case gocql.TypeTime:
		return encodeTime(text)
	case gocql.TypeTimestamp:
		return encodeTimestamp(text)
	case gocql.TypeDuration:
		return encodeDuration(text)
	}
	return encodeNumber(t, text)
}

// appendValue appends a value as it is in a collection, a tuple or a user-defined type.
func appendValue(to, value []byte) []byte {
	if value == nil {
		return binary.BigEndian.AppendUint32(to, 0xffffffff)
	}
	to = binary.BigEndian.AppendUint32(to, uint32(len(value)))
	return append(to, value...)
}
