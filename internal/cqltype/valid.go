package cqltype

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"net"
	"slices"
	"unicode/utf8"

	"github.com/gocql/gocql"
)

// Malformed says why the server would reject data as a value of type t, or "". The driver lets some of it through, and
// a Marshaler anything; rejected by the server, such a value could have reached the tables that lack its column.
func (t *Type) Malformed(data []byte) string {
	if size := t.Size(); size > 0 && len(data) != size {
		if len(data) == 0 {
			return fmt.Sprintf("an empty value (the driver makes one of a zero time.Time) is no %s", t)
		}
		return fmt.Sprintf("a %s has %d bytes, the encoded value has %d", t, size, len(data))
	}
	switch t.kind {
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
		if IsZero(data) {
			return "the zero UUID is no timeuuid; a column that may be absent wants a pointer"
		}
		if data[6]>>4 != 1 {
			return fmt.Sprintf("a timeuuid is a version 1 UUID, this one is version %d", data[6]>>4)
		}
	case gocql.TypeList, gocql.TypeSet, gocql.TypeMap:
		return t.malformedCollection(data)
	case gocql.TypeTuple, gocql.TypeUDT:
		return t.malformedParts(data)
	}
	return ""
}

// malformedDuration wants months, days and nanoseconds, each a variable number of bytes after as many bits that are
// set, with the sign in the last bit. The driver encodes any three (DurationSerializer.validate).
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

func (t *Type) malformedCollection(data []byte) string {
	elems := t.Elems()
	n, data, ok := cutInt(data)
	ok = ok && n >= 0 && n <= len(data)/4/len(elems) // each element has four bytes of length
	for i := 0; ok && i < n*len(elems); i++ {
		var part []byte
		if part, data, ok = CutValue(data); ok && part == nil {
			return "a null inside a collection"
		} else if reason := elems[i%len(elems)].Malformed(part); ok && reason != "" {
			return "inside a collection: " + reason
		}
	}
	if !ok || len(data) > 0 {
		return fmt.Sprintf("the encoded value is no %s", t)
	}
	return ""
}

// ZeroUUID says whether data is the UUID of zeros.
func (t *Type) ZeroUUID(data []byte) bool {
	return len(data) == 16 && (t.kind == gocql.TypeUUID || t.kind == gocql.TypeTimeUUID) && IsZero(data)
}

// HoldsNaN says whether data, which is well-formed, is NaN or has one in it.
func (t *Type) HoldsNaN(data []byte) bool {
	switch t.kind {
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
		if part, data, _ = CutValue(data); part != nil && elems[i%len(elems)].HoldsNaN(part) {
			return true
		}
	}
	return false
}

// Identical says whether two encoded values are the same bytes. Null is nil, and not the same as an empty value.
func Identical(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// IsZero says whether all bytes are zero.
func IsZero(data []byte) bool {
	return !slices.ContainsFunc(data, func(b byte) bool { return b != 0 })
}

// malformedParts says why the server would reject data as a tuple or user-defined type.
func (t *Type) malformedParts(data []byte) string {
	var part []byte
	ok := true
	for _, e := range t.Elems() {
		if part, data, ok = CutValue(data); !ok {
			break
		}
		if part == nil {
			continue
		}
		if reason := e.Malformed(part); reason != "" {
			if t.user == nil {
				return "inside a tuple: " + reason // not its text at every level: somebody else may have written it
			}
			return fmt.Sprintf("inside %s: %s", t, reason)
		}
	}
	if !ok || len(data) > 0 {
		return fmt.Sprintf("the encoded value is no %s", t)
	}
	return ""
}
