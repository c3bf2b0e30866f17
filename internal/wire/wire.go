// Package wire writes structs of plain fields as bytes, and reads them from bytes that somebody else may have written.
//
// The fields of a struct follow each other. Numbers, and the lengths before texts and slices, are varints of package
// encoding/binary. A byte and a bool take one byte. Fields have neither names nor numbers, so a struct that changes is
// another version of its format.
package wire

import (
	"encoding/binary"
	"errors"
	"reflect"
)

// Append appends v to data: a struct of bools, bytes, ints, strings, and of arrays, slices and structs of these.
func Append(data []byte, v any) []byte { return appendTo(data, reflect.ValueOf(v)) }

func appendTo(data []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(data, 1)
		}
		return append(data, 0)
	case reflect.Uint8:
		return append(data, byte(v.Uint()))
	case reflect.String:
		return append(binary.AppendUvarint(data, uint64(v.Len())), v.String()...)
	case reflect.Slice:
		if data = binary.AppendUvarint(data, uint64(v.Len())); isBytes(v.Type()) {
			return append(data, v.Bytes()...)
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			data = appendTo(data, v.Index(i))
		}
		return data
	case reflect.Struct:
		for i := range v.NumField() {
			data = appendTo(data, v.Field(i))
		}
		return data
	}
	return binary.AppendVarint(data, v.Int()) // panics for other types
}

var errDamaged, errSize = errors.New("the bytes are damaged"), errors.New("too many elements")

// Decode reads all of data into the struct that into points to, and returns how many elements its slices have together,
// byte slices not counted. More elements than limit are an error. Nothing is allocated for elements that data is too
// short for. Byte slices alias data.
func Decode(data []byte, into any, limit int) (elements int, err error) {
	r := reader{rest: data, left: limit}
	r.read(reflect.ValueOf(into).Elem())
	if len(r.rest) > 0 {
		r.fail(errDamaged)
	}
	return limit - r.left, r.err
}

// reader reads zeros once it has failed.
type reader struct {
	rest []byte
	left int // elements
	err  error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.rest = nil
}

// count reads a number of things of which each takes size bytes or more.
func (r *reader) count(size int) int {
	n, taken := binary.Uvarint(r.rest)
	if taken <= 0 || n > uint64((len(r.rest)-taken)/size) {
		r.fail(errDamaged)
		return 0
	}
	r.rest = r.rest[taken:]
	return int(n) // at most the bytes that are left
}

func (r *reader) cut(n int) []byte {
	part := r.rest[:n:n]
	r.rest = r.rest[n:]
	return part
}

func (r *reader) read(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool, reflect.Uint8:
		if len(r.rest) == 0 || v.Kind() == reflect.Bool && r.rest[0] > 1 {
			r.fail(errDamaged)
			return
		}
		if b := r.cut(1)[0]; v.Kind() == reflect.Bool {
			v.SetBool(b == 1)
		} else {
			v.SetUint(uint64(b))
		}
	case reflect.String:
		v.SetString(string(r.cut(r.count(1))))
	case reflect.Slice:
		if isBytes(v.Type()) {
			v.SetBytes(r.cut(r.count(1)))
			return
		}
		n := r.count(least(v.Type().Elem()))
		if n > r.left {
			r.fail(errSize)
			return
		}
		r.left -= n
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		fallthrough
	case reflect.Array:
		for i := 0; i < v.Len() && r.err == nil; i++ {
			r.read(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			r.read(v.Field(i))
		}
	default:
		n, taken := binary.Varint(r.rest)
		if taken <= 0 || v.OverflowInt(n) {
			r.fail(errDamaged)
			return
		}
		r.rest = r.rest[taken:]
		v.SetInt(n)
	}
}

func isBytes(t reflect.Type) bool { return t.Elem().Kind() == reflect.Uint8 }

// least is how many bytes a value of the type takes at least.
func least(t reflect.Type) (size int) {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() * least(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			size += least(t.Field(i).Type)
		}
		return size
	}
	return 1
}
