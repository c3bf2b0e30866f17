package catalog

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"unicode/utf8"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// Validate says whether the bytes, as a client sends them, are a value of the type; nil is null, which is one. An error
// is an [*Error].
func Validate(t *cqltype.Type, value []byte) error {
	if value == nil {
		return nil
	}
	n := len(value)
	if size := t.Size(); size > 0 && n != size {
		if n == 0 && t.HasEmpty() {
			return nil
		}
		return invalid(sizes[t.Kind()], n)
	}
	switch t.Kind() {
	case gocql.TypeTimeUUID:
		if version := value[6] >> 4; version != 1 {
			return invalid("Invalid version for TimeUUID type: 0x1")
		}
	case gocql.TypeAscii:
		for _, b := range value {
			if b >= 0x80 {
				return invalid("Invalid byte for ascii: %d", int8(b))
			}
		}
	case gocql.TypeVarchar:
		if !utf8.Valid(value) {
			return invalid("String didn't validate.")
		}
	case gocql.TypeInet:
		if n != 0 && n != 4 && n != 16 {
			return invalid("Expected 4 or 16 byte inetaddress; got %s", hex.EncodeToString(value))
		}
	case gocql.TypeDecimal:
		if n != 0 && n < 4 {
			return invalid("Expected 0 or at least 4 bytes (%d)", n)
		}
	case gocql.TypeDuration:
		return validateDuration(t, value)
	case gocql.TypeList:
		return validateCollection(t, "list", value)
	case gocql.TypeSet:
		return validateCollection(t, "set", value)
	case gocql.TypeMap:
		return validateCollection(t, "map", value)
	case gocql.TypeTuple:
		return validateTuple(t, value)
	case gocql.TypeUDT:
		return validateUser(t, value)
	}
	return nil
}

// sizes are the messages for values of wrong size.
var sizes = map[gocql.Type]string{
	gocql.TypeBoolean: "Expected 1 or 0 byte value (%d)", gocql.TypeTinyInt: "Expected 1 byte for a tinyint (%d)",
	gocql.TypeSmallInt: "Expected 2 bytes for a smallint (%d)", gocql.TypeInt: "Expected 4 or 0 byte int (%d)",
	gocql.TypeFloat: "Expected 4 or 0 byte value for a float (%d)", gocql.TypeDate: "Expected 4 byte long for date (%d)",
	gocql.TypeBigInt: "Expected 8 or 0 byte long (%d)", gocql.TypeCounter: "Expected 8 or 0 byte long (%d)",
	gocql.TypeDouble:    "Expected 8 or 0 byte value for a double (%d)",
	gocql.TypeTimestamp: "Expected 8 or 0 byte long for date (%d)", gocql.TypeTime: "Expected 8 byte long for time (%d)",
	gocql.TypeUUID: "UUID should be 16 or 0 bytes (%d)", gocql.TypeTimeUUID: "UUID should be 16 or 0 bytes (%d)",
}

func validateDuration(t *cqltype.Type, value []byte) error {
	if len(value) < 3 {
		return invalid("Expected at least 3 bytes for a duration (%d)", len(value))
	}
	var d gocql.Duration
	if err := gocql.Unmarshal(t.Info(), value, &d); err != nil {
		return invalid("The duration is not valid")
	}
	negative := d.Months < 0 || d.Days < 0 || d.Nanoseconds < 0
	positive := d.Months > 0 || d.Days > 0 || d.Nanoseconds > 0
	if negative && positive {
		return invalid("The duration months, days and nanoseconds must be all of the same sign (%d, %d, %d)",
			d.Months, d.Days, d.Nanoseconds)
	}
	return nil
}

// cut takes a value of a collection or tuple off; ok says whether there is one. Null is nil.
func cut(data []byte) (value, rest []byte, ok bool) {
	if len(data) < 4 {
		return nil, data, false
	}
	size := int(int32(binary.BigEndian.Uint32(data)))
	data = data[4:]
	switch {
	case size < 0:
		return nil, data, true
	case size > len(data):
		return nil, data, false
	}
	return data[:size:size], data[size:], true
}

func validateCollection(t *cqltype.Type, kind string, data []byte) error {
	if len(data) < 4 {
		return invalid("Not enough bytes to read a %s", kind)
	}
	n := int(int32(binary.BigEndian.Uint32(data)))
	data = data[4:]
	for range n {
		for _, e := range t.Elems() {
			value, rest, ok := cut(data)
			if !ok {
				return invalid("Not enough bytes to read a %s", kind)
			}
			if value == nil && (kind != "list" || !t.Frozen()) {
				return invalid("Null value read when not allowed")
			}
			if err := Validate(e, value); err != nil {
				return err
			}
			data = rest
		}
	}
	if len(data) > 0 {
		return invalid("Unexpected extraneous bytes after %s value", kind)
	}
	return nil
}

func validateTuple(t *cqltype.Type, data []byte) error {
	for i, e := range t.Elems() {
		if len(data) == 0 {
			return nil // elements that are missing at the end are null
		}
		if len(data) < 4 {
			return invalid("Not enough bytes to read size of %dth component", i)
		}
		value, rest, ok := cut(data)
		if !ok {
			return invalid("Not enough bytes to read %dth component", i)
		}
		if err := Validate(e, value); err != nil {
			return err
		}
		data = rest
	}
	if len(data) > 0 {
		return invalid("Invalid remaining data after end of tuple value")
	}
	return nil
}

func validateUser(t *cqltype.Type, data []byte) error {
	refuse := func(format string, args ...any) error {
		return invalid("org.apache.cassandra.serializers.MarshalException: %s", fmt.Sprintf(format, args...))
	}
	for i, f := range t.User().Fields {
		if len(data) == 0 {
			return nil
		}
		if len(data) < 4 {
			return refuse("Not enough bytes to read size of %dth field %s", i, f.Name)
		}
		value, rest, ok := cut(data)
		if !ok {
			return refuse("Not enough bytes to read %dth field %s", i, f.Name)
		}
		if err := Validate(f.Type, value); err != nil {
			return refuse("Failure validating the %dth field %s; %v", i, f.Name, err)
		}
		data = rest
	}
	if len(data) > 0 {
		return refuse("Invalid remaining data after end of UDT value")
	}
	return nil
}
