// Package undecoded says what the driver could not decode, without the value, which the texts of the driver's errors
// hold.
package undecoded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/gocql/gocql"
)

// Error takes the place of an error of the driver. It names column and types only.
type Error struct {
	Column string // empty if it is not known which
	CQL    string // a type
	Into   string // a Go type
}

func (e *Error) Error() string {
	if e.Column == "" {
		return "a column cannot be decoded into the Go type of its field: the live table is not as it is declared, or " +
			"holds values that do not fit"
	}
	return fmt.Sprintf("column %s of CQL type %s cannot be decoded into Go type %s: the live table is not as it is "+
		"declared, or the value does not fit",
		e.Column, e.CQL, e.Into)
}

// Format prints the message for every verb.
func (e *Error) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(e.Error())) }

// Decode decodes data into a pointer. What the driver panics at, as a list of fewer than no elements, cannot be decoded
// either: it may be in a row, and a panic in a goroutine of this module would end the process.
func Decode(column string, info gocql.TypeInfo, data []byte, into any) (err error) {
	defer func() {
		if recover() != nil || err != nil {
			err = As(column, info, into)
		}
	}()
	return decode(info, data, reflect.ValueOf(into).Elem())
}

// As is the error of a column that cannot be decoded into a pointer.
func As(column string, info gocql.TypeInfo, into any) error {
	return &Error{Column: column, CQL: driver.TypeString(info), Into: fmt.Sprintf("%T", into)}
}

// Cell scans a column into a pointer. What its type says of a value that it cannot decode may hold the value, so it is
// not passed on.
type Cell struct {
	Column string
	Into   any
}

var _ gocql.Unmarshaler = (*Cell)(nil)

// UnmarshalCQL implements [gocql.Unmarshaler].
func (c *Cell) UnmarshalCQL(info gocql.TypeInfo, data []byte) error {
	return Decode(c.Column, info, data, c.Into)
}

// Hide gives err, or what takes its place if it is the driver's and may hold a value.
func Hide(err error) error {
	var failed *Error
	var unmarshal gocql.UnmarshalError
	if !errors.As(err, &failed) && errors.As(err, &unmarshal) {
		return &Error{}
	}
	return err
}

var errShort = errors.New("the value ends early")

// decode is gocql.Unmarshal into v, for types that it writes and does not read: it reads an empty blob as nil, no null
// into a net.IP, an inf.Dec or an array, no set into a map, and the parts of a tuple into some types only.
func decode(info gocql.TypeInfo, data []byte, v reflect.Value) error {
	into := v.Addr().Interface()
	switch into.(type) {
	case gocql.Unmarshaler, gocql.UDTUnmarshaler:
		return gocql.Unmarshal(info, data, into)
	}
	if v.Kind() == reflect.Pointer {
		if v.SetZero(); data == nil {
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return decode(info, data, v.Elem())
	}
	switch info := info.(type) {
	case gocql.CollectionType:
		if v.Kind() == reflect.Slice || v.Kind() == reflect.Array || v.Kind() == reflect.Map {
			return decodeCollection(info, data, v)
		}
	case gocql.TupleTypeInfo:
		if v.Kind() == reflect.Slice && data != nil {
			v.Set(reflect.MakeSlice(v.Type(), len(info.Elems), len(info.Elems)))
		}
		return decodeParts(len(info.Elems), data, v, func(i int) (gocql.TypeInfo, reflect.Value) {
			if v.Kind() == reflect.Struct {
				return info.Elems[i], v.Field(i)
			}
			return info.Elems[i], v.Index(i)
		})
	case gocql.UDTTypeInfo:
		if v.Kind() == reflect.Struct {
			return decodeParts(len(info.Elements), data, v, func(i int) (gocql.TypeInfo, reflect.Value) {
				return info.Elements[i].Type, fieldOf(v, info.Elements[i].Name)
			})
		}
	default:
		return decodeLeaf(info, data, v)
	}
	return gocql.Unmarshal(info, data, into)
}

func decodeLeaf(info gocql.TypeInfo, data []byte, v reflect.Value) error {
	kind := info.Type()
	if len(data) == 0 && (kind == gocql.TypeInet || kind == gocql.TypeDecimal) {
		v.SetZero()
		return nil
	}
	into := v.Addr()
	if plain := cqltype.Plain(v.Type()); plain != v.Type() {
		into = into.Convert(reflect.PointerTo(plain))
	}
	err := gocql.Unmarshal(info, data, into.Interface())
	if err == nil && data != nil && v.Kind() == reflect.Slice && v.IsNil() && kind != gocql.TypeUUID &&
		kind != gocql.TypeTimeUUID {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	}
	return err
}

// decodeCollection decodes a list, set or map into a slice, array or map.
func decodeCollection(info gocql.CollectionType, data []byte, v reflect.Value) error {
	if v.SetZero(); data == nil {
		return nil
	}
	if len(data) < 4 {
		return errShort
	}
	n, data := int(int32(binary.BigEndian.Uint32(data))), data[4:]
	if n < 0 || n > len(data)/4 || v.Kind() == reflect.Array && n != v.Len() {
		return errShort
	}
	part := func(info gocql.TypeInfo, v reflect.Value) error {
		value, rest, ok := cqltype.CutValue(data)
		if data = rest; !ok {
			return errShort
		}
		return decode(info, value, v)
	}
	t, err := v.Type(), error(nil)
	switch t.Kind() {
	case reflect.Map:
		v.Set(reflect.MakeMapWithSize(t, n))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(t, n, n))
	}
	for i := 0; i < n && err == nil; i++ {
		if t.Kind() != reflect.Map {
			err = part(info.Elem, v.Index(i))
			continue
		}
		key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		if info.Type() != gocql.TypeMap {
			err = part(info.Elem, key)
		} else if err = part(info.Key, key); err == nil {
			err = part(info.Elem, value)
		}
		v.SetMapIndex(key, value)
	}
	return err
}

// decodeParts decodes the n parts of a tuple or user-defined type, each into what to gives. Parts that are missing at
// the end are null.
func decodeParts(n int, data []byte, v reflect.Value, to func(int) (gocql.TypeInfo, reflect.Value)) error {
	if data == nil {
		v.SetZero()
		return nil
	}
	for i := range n {
		value, rest, ok := cqltype.CutValue(data)
		if !ok && len(data) > 0 {
			return errShort
		}
		data = rest
		if info, part := to(i); part.IsValid() {
			if err := decode(info, value, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// fieldOf is the field of a struct that the driver reads a field of a user-defined type into.
func fieldOf(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("cql") == name {
			return v.Field(i)
		}
	}
	return v.FieldByName(name)
}
