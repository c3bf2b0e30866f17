package entity

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// This file is about the elements of maps and sets that a patch puts and removes.

// beside says whether two edits of a column put some elements and remove others, and which of them does what.
func beside(one, other Edit) (put, remove Edit, both bool) {
	switch {
	case one.Kind == PutElements && other.Kind == RemoveElements:
		return one, other, true
	case one.Kind == RemoveElements && other.Kind == PutElements:
		return other, one, true
	}
	return put, remove, false
}

// encodeRemoved encodes the keys of elements that are removed from column i alongside those of put, of which they must be none.
func (s *Set) encodeRemoved(i int, keys []any, put *Value) (*Value, error) {
	v, err := s.encodeKeysOf(i, keys)
	if err != nil {
		return nil, err
	}
	typ := v.typ.Elems()[0]
	there := elementsIn(keysOf(put))
	slices.SortFunc(there, typ.Compare)
	for _, key := range elementsIn(&v) {
		if _, both := slices.BinarySearchFunc(there, key, typ.Compare); both {
			return nil, s.invalid(nil, s.columns[i].name, "an element is put by Elements and removed by Without: at one timestamp the removal "+
				"would win; name it in one of them")
		}
	}
	return &v, nil
}

// elementsIn are those of an encoded set.
func elementsIn(v *Value) [][]byte {
	var out [][]byte
	for rest := v.data[4:]; len(rest) > 0; {
		n, after, _ := cutInt(rest)
		out, rest = append(out, after[:n]), after[n:]
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
	for rest := v.data[4:]; len(rest) > 0; {
		key, _, _ := cutInt(rest)
		out.data = append(out.data, rest[:4+key]...)
		rest = rest[4+key:]
		value, _, _ := cutInt(rest)
		rest = rest[4+value:]
	}
	return out
}
