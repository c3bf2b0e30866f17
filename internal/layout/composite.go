package layout

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"reflect"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// This file encodes values that have others inside, each of which is encoded as if it were a column.

// EncodeParts encodes a Go value that agrees with t. Null is nil.
func EncodeParts(t *cqltype.Type, v reflect.Value) ([]byte, error) {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, nil
	}
	if v.Type().Implements(MarshalerType) {
		return EncodeLeaf(t, v.Interface())
	}
	if v = reflect.Indirect(v); len(t.Elems()) == 0 {
		return EncodeLeaf(t, v.Interface())
	}
	return encodeComposite(t, v)
}

func encodeComposite(t *cqltype.Type, v reflect.Value) (out []byte, err error) {
	if (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.IsNil() {
		return nil, nil
	}
	elems := t.Elems()
	switch {
	case t.Collection():
		out = binary.BigEndian.AppendUint32(nil, uint32(v.Len())) // more would not fit into a request
	case t.User() != nil:
		if m, ok := v.Interface().(gocql.UDTMarshaler); ok {
			return marshalFields(t.User(), m)
		}
	case v.Kind() != reflect.Struct && v.Len() != len(elems):
		return nil, fmt.Errorf("a %s has %d elements, the value has %d", t, len(elems), v.Len())
	}
	for i, part := range goParts(t, v) {
		data, err := EncodeParts(elems[i%len(elems)], part)
		if err != nil {
			return nil, err
		}
		out = cqltype.AppendValue(out, data)
	}
	return out, nil
}

// goParts are the values inside v, in the order of the types inside t, which for a map follow each other again and
// again.
func goParts(t *cqltype.Type, v reflect.Value) (out []reflect.Value) {
	switch {
	case t.User() != nil:
		for _, f := range t.User().Fields {
			out = append(out, v.Field(f.Index))
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			out = append(out, v.Field(i))
		}
	case v.Kind() == reflect.Map:
		for entry := v.MapRange(); entry.Next(); {
			if out = append(out, entry.Key()); t.Kind() == gocql.TypeMap {
				out = append(out, entry.Value())
			}
		}
	default:
		for i := range v.Len() {
			out = append(out, v.Index(i))
		}
	}
	return out
}

// marshalFields encodes a value that encodes its fields itself.
func marshalFields(u *cqltype.UserType, m gocql.UDTMarshaler) (out []byte, err error) {
	for _, f := range u.Fields {
		data, err := m.MarshalUDT(f.Name, f.Type.Info())
		if err != nil {
			return nil, cannotEncode(m, f.Type)
		}
		out = cqltype.AppendValue(out, data)
	}
	return out, nil
}

// EncodeLeaf has the driver encode a value. A defined type is encoded like its underlying type. A zero time is null:
// the driver would send an empty value, which is neither null nor a time.
func EncodeLeaf(t *cqltype.Type, value any) ([]byte, error) {
	own := reflect.TypeOf(value)
	if plain := cqltype.Plain(own); plain != own && (own.Kind() != reflect.String || Parsed[t.Kind()]) &&
		!own.Implements(MarshalerType) {
		value = reflect.ValueOf(value).Convert(plain).Interface()
	}
	switch x := value.(type) {
	case time.Time:
		if x.IsZero() {
			return nil, nil
		}
		if !holds(t.Kind(), x) {
			return nil, fmt.Errorf("the time is further away than a %s can say", t)
		}
		if t.Kind() == gocql.TypeDate {
			if _, offset := x.Zone(); offset != 0 {
				return nil, errors.New("a date is a day in UTC, and this time is not in UTC: give midnight UTC of its day " +
					"(tables.Type says how)")
			}
			value = x.UTC().Truncate(day) // the driver divides, which before 1970 rounds up
		}
	case []byte:
		if x == nil {
			return nil, nil
		}
	case net.IP:
		if n := len(x); n != 0 && n != net.IPv4len && n != net.IPv6len {
			return nil, fmt.Errorf("an IP address has 4 or 16 bytes, this one %d", n)
		}
	}
	data, err := gocql.Marshal(t.Info(), value)
	if err != nil {
		return nil, cannotEncode(value, t)
	}
	return data, nil
}

// cannotEncode names no value.
func cannotEncode(value any, t *cqltype.Type) error {
	return fmt.Errorf("a value of Go type %T cannot be encoded as CQL type %s: the type is right, this value is not",
		value, t)
}

// Parsed are the types that the driver reads out of a Go string; an empty one would not do as a probe.
var Parsed = map[gocql.Type]bool{
	gocql.TypeUUID: true, gocql.TypeTimeUUID: true, gocql.TypeInet: true, gocql.TypeDate: true, gocql.TypeTinyInt: true,
	gocql.TypeSmallInt: true, gocql.TypeInt: true, gocql.TypeBigInt: true, gocql.TypeVarint: true,
	gocql.TypeDuration: true,
}
