package cqltype

import (
	"bytes"
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

var bigint, integer, timeuuid = Must("bigint"), Must("int"), Must("timeuuid")

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

// TimeUUID is a value of type timeuuid.
func TimeUUID(id gocql.UUID) *Value { return &Value{Type: timeuuid, Data: id.Bytes()} }

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

// Times of timeuuids count 100 ns.
const (
	UnixTicks     = 0x01B21DD213814000 // from October 15th, 1582, where timeuuid begins, to 1970
	TicksPerMilli = 10_000
)

// Instant is the time of an encoded timestamp or timeuuid, in milliseconds since 1970, rounded down.
func (v *Value) Instant() int64 {
	if v.Type.kind == gocql.TypeTimestamp {
		return int64(binary.BigEndian.Uint64(v.Data)) // two's complement
	}
	return Ticks(v.Data)/TicksPerMilli - UnixTicks/TicksPerMilli // no tick is negative, and 1970 begins with a millisecond
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
	size, rest, ok := cutInt(data)
	switch {
	case !ok || size > len(rest):
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

// Exceeds says whether a value has a field, not null, that a user-defined type does not have here.
func (t *Type) Exceeds(data []byte) bool {
	if !t.Contains(gocql.TypeUDT) {
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
	return slices.ContainsFunc(more, func(part []byte) bool { return part != nil })
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
	if len(data) < 4 || !t.Contains(gocql.TypeSet, gocql.TypeMap) {
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
