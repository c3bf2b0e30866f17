package undecoded

import (
	"encoding/binary"
	"errors"
	"reflect"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
)

var errShort = errors.New("the value ends early")

// decode is gocql.Unmarshal into v, for types that it writes and does not read: it reads an empty blob as nil, no null into a net.IP, an
// inf.Dec or an array, no set into a map, and the parts of a tuple into some types only.
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
	if err == nil && data != nil && v.Kind() == reflect.Slice && v.IsNil() && kind != gocql.TypeUUID && kind != gocql.TypeTimeUUID {
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

// decodeParts decodes the n parts of a tuple or user-defined type, each into what to gives. Parts that are missing at the end are null.
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
