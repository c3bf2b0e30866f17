package cqltype

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"slices"

	"github.com/gocql/gocql"
)

// Compare orders two encoded values of a type that can be in a key as the server orders them (package
// org.apache.cassandra.db.marshal). An empty value comes first.
func (t *Type) Compare(a, b []byte) int {
	if len(a) == 0 || len(b) == 0 || t.Size() > 0 && (len(a) != t.Size() || len(b) != t.Size()) {
		return cmp.Compare(len(a), len(b))
	}
	switch t.kind {
	case gocql.TypeTinyInt, gocql.TypeSmallInt, gocql.TypeInt, gocql.TypeBigInt, gocql.TypeTimestamp, gocql.TypeTime,
		gocql.TypeCounter:
		return cmp.Or(cmp.Compare(int8(a[0]), int8(b[0])), bytes.Compare(a[1:], b[1:])) // the sign is in the first byte
	case gocql.TypeFloat:
		return compareFloat(float64(math.Float32frombits(binary.BigEndian.Uint32(a))),
			float64(math.Float32frombits(binary.BigEndian.Uint32(b))))
	case gocql.TypeDouble:
		return compareFloat(math.Float64frombits(binary.BigEndian.Uint64(a)),
			math.Float64frombits(binary.BigEndian.Uint64(b)))
	case gocql.TypeVarint:
		return twosComplement(a).Cmp(twosComplement(b))
	case gocql.TypeUUID:
		return compareUUID(a, b)
	case gocql.TypeTimeUUID:
		return compareTimeUUID(a, b)
	case gocql.TypeDecimal:
		return compareDecimal(a, b)
	case gocql.TypeList, gocql.TypeSet, gocql.TypeMap:
		return t.compareElements(a, b)
	case gocql.TypeTuple, gocql.TypeUDT:
		return t.compareParts(a, b)
	}
	return bytes.Compare(a, b) // text, ascii, blob, boolean, inet, and date, which is unsigned
}

// compareFloat is Java's Double.compare: 0.0 is above -0.0, and NaN above everything.
func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	bits := func(f float64) int64 {
		if math.IsNaN(f) {
			return math.MaxInt64
		}
		return int64(math.Float64bits(f))
	}
	return cmp.Compare(bits(a), bits(b))
}

func twosComplement(data []byte) *big.Int {
	n := new(big.Int).SetBytes(data)
	if data[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(data))))
	}
	return n
}

// compareDecimal is DecimalType: by the numbers, so that 1.5 and 1.50 are equal.
func compareDecimal(a, b []byte) int {
	if len(a) <= 4 || len(b) <= 4 {
		return cmp.Compare(len(a), len(b))
	}
	m, n := twosComplement(a[4:]), twosComplement(b[4:])
	if c := cmp.Compare(m.Sign(), n.Sign()); c != 0 || m.Sign() == 0 {
		return c
	}
	scaleA, scaleB := int64(int32(binary.BigEndian.Uint32(a))), int64(int32(binary.BigEndian.Uint32(b)))
	digits := func(n *big.Int) int64 { return int64(len(new(big.Int).Abs(n).String())) }
	digitsA, digitsB := digits(m), digits(n)
	if c := cmp.Compare(digitsA-scaleA, digitsB-scaleB); c != 0 {
		return c * m.Sign()
	}
	// They are of the same magnitude, so what is missing is no more than the digits that there are.
	shift := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(digitsA, digitsB)-min(digitsA, digitsB)), nil)
	if digitsA < digitsB {
		m.Mul(m, shift)
	} else {
		n.Mul(n, shift)
	}
	return m.Cmp(n)
}

// compareUUID is UUIDType: by version, those of version 1 by time, then by bytes.
func compareUUID(a, b []byte) int {
	version := cmp.Compare(a[6]>>4, b[6]>>4)
	if version != 0 || a[6]>>4 != 1 {
		return cmp.Or(version, bytes.Compare(a, b))
	}
	return cmp.Or(cmp.Compare(Ticks(a), Ticks(b)), bytes.Compare(a[8:], b[8:]))
}

// compareTimeUUID is TimeUUIDType: by time, then by bytes as signed numbers, which is a heritage.
func compareTimeUUID(a, b []byte) int {
	signed := func(x, y byte) int { return cmp.Compare(int8(x), int8(y)) }
	return cmp.Or(cmp.Compare(Ticks(a), Ticks(b)), slices.CompareFunc(a[8:16], b[8:16], signed))
}

// compareElements is ListType, SetType and MapType: element by element, of a map key and value, then by length.
func (t *Type) compareElements(a, b []byte) int {
	if len(a) < 4 || len(b) < 4 {
		return cmp.Compare(len(a), len(b))
	}
	n, m := binary.BigEndian.Uint32(a), binary.BigEndian.Uint32(b)
	a, b = a[4:], b[4:]
	for range min(n, m) {
		if len(a)+len(b) == 0 {
			break // whoever wrote them may have said that there is more
		}
		for _, e := range t.elems {
			var x, y []byte
			x, a = cutValue(a)
			y, b = cutValue(b)
			if c := e.compareInside(x, y); c != 0 {
				return c
			}
		}
	}
	return cmp.Compare(n, m)
}

// compareInside orders two values inside others: null is before everything, an empty value too.
func (t *Type) compareInside(a, b []byte) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return t.Compare(a, b)
}

// compareParts is TupleType: element by element. Nulls at the end are as good as none.
func (t *Type) compareParts(a, b []byte) int {
	for _, e := range t.Elems() {
		if len(a) < 4 || len(b) < 4 {
			break
		}
		var x, y []byte
		x, a = cutValue(a)
		y, b = cutValue(b)
		if c := e.compareInside(x, y); c != 0 {
			return c
		}
	}
	return bytes.Compare(unlessNull(a), unlessNull(b)) // fields that are not known here
}

// unlessNull is data, or nil if all values in it are null.
func unlessNull(data []byte) []byte {
	if AllNull(data) {
		return nil
	}
	return data
}

// AllNull says whether all parts of an encoded tuple or user-defined type are null.
func AllNull(data []byte) bool {
	var part []byte
	for len(data) > 0 {
		if part, data = cutValue(data); part != nil {
			return false
		}
	}
	return true
}
