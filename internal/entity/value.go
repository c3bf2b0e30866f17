package entity

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"net"
	"reflect"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/gocql/gocql"
)

// Value is one encoded CQL value with its declared type. It is encoded once, when the change is rendered, so that all
// tables, all attempts and a later Resume send the same bytes whatever happens to the row it came from. It prints as
// its type alone.
type Value struct {
	typ  *cqltype.Type
	data []byte // nil is null
}

var _ gocql.Marshaler = (*Value)(nil)

// MarshalCQL gives the driver the bytes. It rejects a column that is not of the declared type: the bytes of one type
// are valid, and wrong, in many others.
func (v *Value) MarshalCQL(info gocql.TypeInfo) ([]byte, error) {
	if !v.typ.Matches(info) {
		return nil, driver.MarshalError(fmt.Sprintf("the live column is of type %s, declared is %s", driver.TypeString(info), v.typ))
	}
	return v.data, nil
}

// Bytes is the encoded value, nil for null. It must not be changed.
func (v *Value) Bytes() []byte { return v.data }

// Type is the declared CQL type.
func (v *Value) Type() string { return v.typ.String() }

func (v Value) String() string {
	if v.typ == nil {
		return "no value"
	}
	return v.typ.String()
}

// Format prints the type for every verb: a value printed in full would show its bytes.
func (v Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, v.String()) }

// MarshalText is [Value.String], for structured loggers.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// maxKeyBytes is the limit of one key column: keys are stored with two bytes of length.
const maxKeyBytes = 65535

var marshalerType = reflect.TypeFor[gocql.Marshaler]()

// encode reads column i of row and encodes it. Null is what the set calls absent. A bound key must have a value.
func (s *Set) encode(row reflect.Value, i int) (Value, error) {
	c := &s.columns[i]
	v := Value{typ: c.cql}
	data, err := encodeField(c, row.FieldByIndex(c.index))
	if err != nil {
		return v, s.invalid(nil, c.name, err.Error())
	}
	v.data = data
	if c.key {
		if reason := keyFault(c, data); reason != "" {
			return v, s.invalid(nil, c.name, reason)
		}
	}
	return v, nil
}

// encodeField encodes a field of column c. A nil pointer is null. The texts of its errors hold no value.
func encodeField(c *column, field reflect.Value) ([]byte, error) {
	if field.Kind() == reflect.Pointer {
		if field.IsNil() {
			return nil, nil
		}
		if !c.marshals {
			field = field.Elem()
		}
	}
	encode := encodeLeaf
	if c.composed {
		encode = func(t *cqltype.Type, value any) ([]byte, error) { return encodeParts(t, reflect.ValueOf(value)) }
	}
	data, err := encode(c.cql, field.Interface())
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, nil
	}
	if c.aliases {
		data = bytes.Clone(data)
	}
	if c.key && zeroUUID(c.cql, data) {
		return nil, errors.New(zeroKey)
	}
	if reason := malformed(c.cql, data); reason != "" {
		return nil, errors.New(reason)
	}
	if c.cql.MultiCell() && (c.cql.User() == nil && len(data) == 4 || c.cql.User() != nil && allNull(data)) {
		return nil, nil // an empty non-frozen collection and none are the same in Cassandra
	}
	return data, nil
}

// malformed says why the server would reject data as a value of type t, or "". The driver lets some of it through, and
// a Marshaler anything; rejected by the server, such a value could have reached the tables that lack its column.
func malformed(t *cqltype.Type, data []byte) string {
	if size := t.Size(); size > 0 && len(data) != size {
		if len(data) == 0 {
			return fmt.Sprintf("an empty value (the driver makes one of a zero time.Time) is no %s", t)
		}
		return fmt.Sprintf("a %s has %d bytes, the encoded value has %d", t, size, len(data))
	}
	switch t.Kind() {
	case gocql.TypeVarchar:
		if !utf8.Valid(data) {
			return "text is not valid UTF-8"
		}
	case gocql.TypeAscii:
		if slices.ContainsFunc(data, func(b byte) bool { return b > 127 }) {
			return "ascii holds a byte above 127"
		}
	case gocql.TypeInet:
		if n := len(data); n != 0 && n != net.IPv4len && n != net.IPv6len {
			return fmt.Sprintf("an inet has 4 or 16 bytes, the encoded value has %d", n)
		}
	case gocql.TypeDecimal: // a scale and a number
		if n := len(data); n != 0 && n < 4 {
			return fmt.Sprintf("a decimal has at least 4 bytes, the encoded value has %d", n)
		}
	case gocql.TypeDuration:
		return malformedDuration(data)
	case gocql.TypeTimeUUID:
		if zero(data) {
			return "the zero UUID is no timeuuid; a column that may be absent wants a pointer"
		}
		if data[6]>>4 != 1 {
			return fmt.Sprintf("a timeuuid is a version 1 UUID, this one is version %d", data[6]>>4)
		}
	case gocql.TypeList, gocql.TypeSet, gocql.TypeMap:
		return malformedCollection(t, data)
	case gocql.TypeTuple, gocql.TypeUDT:
		return malformedParts(t, data)
	}
	return ""
}

// malformedDuration wants months, days and nanoseconds, each a variable number of bytes after as many bits that are set, with the sign in
// the last bit. The driver encodes any three (DurationSerializer.validate).
func malformedDuration(data []byte) string {
	if n := len(data); n < 3 {
		return fmt.Sprintf("a duration has at least 3 bytes, the encoded value has %d", n)
	}
	negative, positive := false, false
	for i := range 3 {
		if len(data) == 0 || len(data) < 1+bits.LeadingZeros8(^data[0]) {
			return "the encoded value is no duration"
		}
		more := bits.LeadingZeros8(^data[0])
		n := uint64(data[0]) & (0xff >> more)
		for _, b := range data[1 : 1+more] {
			n = n<<8 | uint64(b)
		}
		if i < 2 && n > math.MaxUint32 {
			return "months and days of a duration have 32 bits"
		}
		negative, positive = negative || n&1 == 1, positive || n&1 == 0 && n != 0
		data = data[1+more:]
	}
	if negative && positive {
		return "months, days and nanoseconds of a duration must all have the same sign"
	}
	return ""
}

func malformedCollection(t *cqltype.Type, data []byte) string {
	elems := t.Elems()
	n, data, ok := cutInt(data)
	ok = ok && n >= 0 && n <= len(data)/4/len(elems) // each element has four bytes of length
	for i := 0; ok && i < n*len(elems); i++ {
		var part []byte
		if part, data, ok = cqltype.CutValue(data); ok && part == nil {
			return "a null inside a collection"
		} else if reason := malformed(elems[i%len(elems)], part); ok && reason != "" {
			return "inside a collection: " + reason
		}
	}
	if !ok || len(data) > 0 {
		return fmt.Sprintf("the encoded value is no %s", t)
	}
	return ""
}

// cutInt cuts a CQL int off data.
func cutInt(data []byte) (n int, rest []byte, ok bool) {
	if len(data) < 4 {
		return 0, nil, false
	}
	return int(int32(binary.BigEndian.Uint32(data))), data[4:], true // a CQL int is signed
}

// holds says whether a time is in the range of a timestamp or date. The driver counts on into other times without an error.
func holds(kind gocql.Type, t time.Time) bool {
	seconds := t.Unix()
	switch kind {
	case gocql.TypeTimestamp: // milliseconds, in 64 bits
		return time.UnixMilli(t.UnixMilli()).Unix() == seconds
	case gocql.TypeDate: // days, in 32
		days := floorDiv(seconds, int64(day/time.Second))
		return days >= math.MinInt32 && days <= math.MaxInt32
	}
	return true
}

// keyFault says why data, which is not malformed, is no value of a key column, or "".
func keyFault(c *column, data []byte) string {
	switch {
	case data == nil && c.goType.Kind() == reflect.Pointer:
		return "" // no row in the tables keyed by it
	case data == nil && c.isTime:
		return "a key column must not be the zero time"
	case len(data) == 0:
		return "a key column must not be empty"
	case len(data) > maxKeyBytes:
		return fmt.Sprintf("a key column holds at most %d bytes, this one %d", maxKeyBytes, len(data))
	case zeroUUID(c.cql, data):
		return zeroKey
	case holdsNaN(c.cql, data):
		return "a key column must not be NaN: there are many of them in bytes, and as clustering key they are one row, so a move between " +
			"two would erase it"
	}
	return ""
}

const zeroKey = "a key column must not be the zero UUID"

func zeroUUID(t *cqltype.Type, data []byte) bool {
	return len(data) == 16 && (t.Kind() == gocql.TypeUUID || t.Kind() == gocql.TypeTimeUUID) && zero(data)
}

// holdsNaN says whether data, which is well-formed, is NaN or has one in it.
func holdsNaN(t *cqltype.Type, data []byte) bool {
	switch t.Kind() {
	case gocql.TypeFloat:
		return math.IsNaN(float64(math.Float32frombits(binary.BigEndian.Uint32(data))))
	case gocql.TypeDouble:
		return math.IsNaN(math.Float64frombits(binary.BigEndian.Uint64(data)))
	case gocql.TypeList:
		data = data[4:]
	case gocql.TypeTuple, gocql.TypeUDT:
	default:
		return false
	}
	elems := t.Elems()
	for i := 0; len(data) > 0; i++ {
		var part []byte
		if part, data, _ = cqltype.CutValue(data); part != nil && holdsNaN(elems[i%len(elems)], part) {
			return true
		}
	}
	return false
}

// identical says whether two encoded values are the same bytes. Null is nil, and not the same as an empty value.
func identical(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

func zero(data []byte) bool {
	return !slices.ContainsFunc(data, func(b byte) bool { return b != 0 })
}

// bigint and integer are the types of the values of USING clauses.
var bigint, integer = mustType("bigint"), mustType("int")

func mustType(name string) *cqltype.Type {
	t, err := cqltype.Parse(name)
	if err != nil {
		panic(err)
	}
	return t
}

func encodeInt64(n int64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(n)) // two's complement is the encoding
}

func bigintValue(n int64) *Value { return &Value{typ: bigint, data: encodeInt64(n)} }

func encodeInt(n int64) *Value {
	return &Value{typ: integer, data: binary.BigEndian.AppendUint32(nil, uint32(n))} // at most maxTTL
}

// cells is how many cells a value is that is not stored as one, and 0 for others.
func (v *Value) cells() int {
	switch {
	case !v.typ.MultiCell() || v.data == nil:
		return 0
	case v.typ.User() != nil:
		return len(v.typ.User().Fields)
	}
	n, _, _ := cutInt(v.data)
	return n
}
