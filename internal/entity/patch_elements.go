package entity

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
)

// This file is about the elements of maps and sets that a patch puts and removes.

// encodeRemoved encodes the keys of elements that are removed from column i. They must be none of those that are put,
// if any are.
func encodeRemoved(s *layout.Set, i int, keys []any, put *cqltype.Value) (*cqltype.Value, error) {
	v, err := encodeKeysOf(s, i, keys)
	if err != nil || put.Data == nil {
		return &v, err
	}
	typ := v.Type.Elems()[0]
	there := put.Elements()
	slices.SortFunc(there, typ.Compare)
	for _, key := range v.Elements() {
		if _, both := slices.BinarySearchFunc(there, key, typ.Compare); both {
			return nil, s.Invalid(nil, s.Columns[i].Name,
				"an element is put by Elements and removed by Without: at one timestamp the removal "+
					"would win; name it in one of them")
		}
	}
	return &v, nil
}

// encodeKeysOf encodes keys of elements of column i, as the set that CQL wants.
func encodeKeysOf(s *layout.Set, i int, keys []any) (cqltype.Value, error) {
	c := &s.Columns[i]
	want := layout.Deref(c.Go)
	if want.Kind() == reflect.Map {
		want = want.Key()
	} else {
		want = want.Elem()
	}
	values := reflect.MakeSlice(reflect.SliceOf(want), len(keys), len(keys))
	for n, key := range keys {
		v := reflect.ValueOf(key)
		if !v.IsValid() || !layout.Like(v, want) {
			return cqltype.Value{}, s.Invalid(nil, c.Name, fmt.Sprintf("key %d of Without is of Go type %T, it must be %s", n+1,
				key, want))
		}
		values.Index(n).Set(v.Convert(want))
	}
	out := cqltype.Value{Type: cqltype.SetOf(c.CQL.Elems()[0])}
	data, err := layout.EncodeParts(out.Type, values)
	if err != nil {
		return out, s.Invalid(nil, c.Name, err.Error())
	}
	if reason := out.Type.Malformed(data); reason != "" {
		return out, s.Invalid(nil, c.Name, reason)
	}
	out.Data = data
	return out, nil
}
