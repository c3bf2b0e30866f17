package entity

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// This file is about the elements of maps and sets that a patch puts and removes.

// encodeRemoved encodes the keys of elements that are removed from column i. They must be none of those that are put, if any are.
func (s *Set) encodeRemoved(i int, keys []any, put *Value) (*Value, error) {
	v, err := s.encodeKeysOf(i, keys)
	if err != nil || put.data == nil {
		return &v, err
	}
	typ := v.typ.Elems()[0]
	there := elementsIn(put)
	slices.SortFunc(there, typ.Compare)
	for _, key := range elementsIn(&v) {
		if _, both := slices.BinarySearchFunc(there, key, typ.Compare); both {
			return nil, s.invalid(nil, s.columns[i].name, "an element is put by Elements and removed by Without: at one timestamp the removal "+
				"would win; name it in one of them")
		}
	}
	return &v, nil
}

// elementsIn are those of an encoded set, or the keys of a map.
func elementsIn(v *Value) [][]byte {
	var out [][]byte
	rest, each := v.data[4:], len(v.typ.Elems())
	for n := 0; len(rest) > 0; n++ {
		part, after, _ := cqltype.CutValue(rest)
		if rest = after; n%each == 0 {
			out = append(out, part)
		}
	}
	return out
}

// encodeKeysOf encodes keys of elements of column i, as the set that CQL wants.
func (s *Set) encodeKeysOf(i int, keys []any) (Value, error) {
	c := &s.columns[i]
	want := deref(c.goType)
	if want.Kind() == reflect.Map {
		want = want.Key()
	} else {
		want = want.Elem()
	}
	values := reflect.MakeSlice(reflect.SliceOf(want), len(keys), len(keys))
	for n, key := range keys {
		v := reflect.ValueOf(key)
		if !v.IsValid() || !like(v, want) {
			return Value{}, s.invalid(nil, c.name, fmt.Sprintf("key %d of Without is of Go type %T, it must be %s", n+1, key, want))
		}
		values.Index(n).Set(v.Convert(want))
	}
	out := Value{typ: cqltype.SetOf(c.cql.Elems()[0])}
	data, err := encodeParts(out.typ, values)
	if err != nil {
		return out, s.invalid(nil, c.name, err.Error())
	}
	if reason := malformed(out.typ, data); reason != "" {
		return out, s.invalid(nil, c.name, reason)
	}
	out.data = data
	return out, nil
}

// keysOf gives the keys of an encoded map as a set; a set is one already.
func keysOf(v *Value) *Value {
	if v.typ.Kind() != gocql.TypeMap {
		return v
	}
	out := &Value{typ: cqltype.SetOf(v.typ.Elems()[0]), data: slices.Clone(v.data[:4])}
	for _, key := range elementsIn(v) {
		out.data = cqltype.AppendValue(out.data, key)
	}
	return out
}
