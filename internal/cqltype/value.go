package cqltype

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/gocql/gocql"
)

// Value is one encoded CQL value with its declared type. It is encoded once, when the change is rendered, so that all
// tables, all attempts and a later Resume send the same bytes whatever happens to the row it came from. It prints as
// its type alone.
type Value struct {
	Type *Type
	Data []byte // nil is null
}

var _ gocql.Marshaler = (*Value)(nil)

// MarshalCQL gives the driver the bytes. It rejects a column that is not of the declared type: the bytes of one type
// are valid, and wrong, in many others.
func (v *Value) MarshalCQL(info gocql.TypeInfo) ([]byte, error) {
	if !v.Type.Matches(info) {
		return nil, driver.MarshalError(fmt.Sprintf("the live column is of type %s, declared is %s", driver.TypeString(info),
			v.Type))
	}
	return v.Data, nil
}

func (v Value) String() string {
	if v.Type == nil {
		return "no value"
	}
	return v.Type.String()
}

// Format prints the type for every verb: a value printed in full would show its bytes.
func (v Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, v.String()) }

// MarshalText is [Value.String], for structured loggers.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Must is [Parse] of a name that is right, of this library's own.
func Must(name string) *Type {
	t, err := Parse(name)
	if err != nil {
		panic(err)
	}
	return t
}

var bigint, integer, timeuuid, blob = Must("bigint"), Must("int"), Must("timeuuid"), Must("blob")

// Int64 encodes a bigint, and what is one inside.
func Int64(n int64) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(n)) // two's complement is the encoding
}

// BigInt is a value of type bigint.
func BigInt(n int64) *Value { return &Value{Type: bigint, Data: Int64(n)} }

// Int is a value of type int.
func Int(n int64) *Value {
	return &Value{Type: integer, Data: binary.BigEndian.AppendUint32(nil, uint32(n))} // at most maxTTL
}

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

// HasEmpty says whether the server takes a value of no bytes, which is not null, for one of the type. Of most types
// whose values have one size it does.
func (t *Type) HasEmpty() bool {
	switch t.kind {
	case gocql.TypeTinyInt, gocql.TypeSmallInt, gocql.TypeDate, gocql.TypeTime, gocql.TypeDuration, gocql.TypeList,
		gocql.TypeSet, gocql.TypeMap:
		return false
	}
	return true
}

// Cells is how many cells a value is that is not stored as one, and 0 for others.
func (v *Value) Cells() int {
	switch {
	case !v.Type.MultiCell() || v.Data == nil:
		return 0
	case v.Type.User() != nil:
		return len(v.Type.User().Fields)
	}
	n, _, _ := cutInt(v.Data)
	return n
}

// TimeUUID is a value of type timeuuid.
func TimeUUID(id gocql.UUID) *Value { return &Value{Type: timeuuid, Data: id.Bytes()} }

// Blob is a copy of data as a value of type blob, which is not null.
func Blob(data []byte) *Value { return &Value{Type: blob, Data: append([]byte{}, data...)} }

// Elements are the elements of an encoded set, or the keys of a map.
func (v *Value) Elements() [][]byte {
	var out [][]byte
	parts, _ := v.Type.Parts(v.Data)
	for element := range slices.Chunk(parts, len(v.Type.Elems())) {
		out = append(out, element[0])
	}
	return out
}

// Keys gives the keys of an encoded map as a set; a set is one already.
func (v *Value) Keys() *Value {
	if v.Type.Kind() != gocql.TypeMap {
		return v
	}
	return &Value{Type: SetOf(v.Type.Elems()[0]), Data: appendValues(slices.Clone(v.Data[:4]), v.Elements())}
}

// Day is a value of type date.
func Day(data []byte) time.Time {
	return time.Unix((int64(binary.BigEndian.Uint32(data))-1<<31)*24*60*60, 0).UTC()
}

// Number is a value of an integer type.
func Number(data []byte) int64 {
	n := int64(int8(data[0])) // two's complement
	for _, b := range data[1:] {
		n = n<<8 | int64(b)
	}
	return n
}

// Ticks are the 100 ns since October 15th, 1582, of an encoded timeuuid.
func Ticks(data []byte) int64 {
	return int64(binary.BigEndian.Uint16(data[6:])&0x0fff)<<48 | int64(binary.BigEndian.Uint16(data[4:]))<<32 |
		int64(binary.BigEndian.Uint32(data))
}
