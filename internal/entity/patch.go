package entity

import (
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
)

// This file reads the one verb that leaves columns of the row alone, and the elements of maps and sets that it names.

// Edit is a tables.Edit.
type Edit struct {
	Column string
	Kind   statement.EditKind
	Keys   []any // of the elements that a statement.RemoveElements removes
}

// String says what is done to which column.
func (e Edit) String() string { return e.Kind.String() + " " + e.Column }

// Format prints [Edit.String] for every verb: an edit printed in full would show the keys of elements.
func (e Edit) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.String()) }

// MarshalText is [Edit.String]: a structured logger would show the keys.
func (e Edit) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// patched is what the edits of a change do to a column.
type patched struct {
	put     statement.EditKind // statement.PutColumn or statement.PutElements, or 0
	keys    []any              // of the elements to remove
	removed *cqltype.Value     // keys, encoded
}

// encodePatch checks the edits and encodes what they need of the row.
func (r *Renderer) encodePatch(c Change) error {
	s := r.Set
	if err := s.Patchable(); err != nil {
		return err
	}
	if len(c.Edits) == 0 {
		return s.Invalid(nil, "", "a Patch needs an edit: Column, Elements or Without")
	}
	r.patch = make([]patched, len(s.Columns))
	for _, e := range c.Edits {
		if e.Kind == 0 {
			return s.Invalid(nil, "", "an edit is made by Column, Elements or Without")
		}
		i := slices.IndexFunc(s.Columns, func(c layout.Column) bool { return c.Name == e.Column })
		if i < 0 {
			return s.Invalid(nil, e.Column, "an edit names it, and it is no column of the entity")
		}
		p := &r.patch[i]
		again := p.put != 0 && (e.Kind != statement.RemoveElements || p.put == statement.PutColumn) || p.keys != nil &&
			e.Kind != statement.PutElements
		if reason := refuseEdit(s, i, e, again); reason != "" {
			return s.Invalid(nil, e.Column, reason)
		}
		if e.Kind == statement.RemoveElements {
			p.keys = e.Keys
		} else {
			p.put = e.Kind
		}
	}
	values, err := s.EncodeRow(reflect.ValueOf(c.After), func(i int) bool {
		return i != s.Stamp && (s.Columns[i].Key || i == s.Expiry || r.patch[i].put != 0)
	}, all)
	if err != nil {
		return err
	}
	for i := range r.patch {
		p := &r.patch[i]
		if p.put == statement.PutElements && values[i].Data == nil {
			return s.Invalid(nil, s.Columns[i].Name, "Elements puts the elements that the row holds, and it holds none")
		}
		if p.keys != nil {
			if p.removed, err = encodeRemoved(s, i, p.keys, &values[i]); err != nil {
				return err
			}
		}
	}
	if err := checkPatchedExpiry(s, values, r.patch); err != nil {
		return err
	}
	r.After = values
	r.fill()
	return nil
}

// checkPatchedExpiry rejects a patch that does not say when what it writes ends, and one that cannot write it
// everywhere.
func checkPatchedExpiry(s *layout.Set, values []cqltype.Value, edits []patched) error {
	if s.Expiry < 0 {
		return nil
	}
	name, edited := s.Columns[s.Expiry].Name, edits[s.Expiry].put != 0
	switch absent := values[s.Expiry].Data == nil; {
	case absent && !edited:
		return s.Invalid(nil, name, fmt.Sprintf(
			"the row of a Patch has no expiry, so what it writes would stay when the rest of the row ends: "+
				"give the row its expiry as it was read or written, or, if the row never ends, add Column(%q) to the edits", name))
	case !absent && edited:
		return s.Invalid(nil, name, expiryEdited)
	case absent:
		return nil
	}
	for _, t := range s.Tables {
		if len(t.Leads) > 0 {
			return s.Invalid(t, s.Columns[t.Leads[0]].Name, "a Patch of a row that expires would end this column of the "+
				"base key before the rest of the row: Update the row")
		}
		if !slices.Contains(t.Columns, s.Expiry) && (s.Stamp < 0 || !slices.Contains(t.Columns, s.Stamp)) {
			return s.Invalid(t, name, "a Patch of a row that expires writes this column or the stamp to every table, "+
				"and this one holds neither: add one to its Columns, or Update the row")
		}
	}
	return nil
}

const expiryEdited = "the expiry cannot be edited: all columns of the row share it, so Update the row"

// refuseEdit says why column i cannot be edited so, or "".
func refuseEdit(s *layout.Set, i int, e Edit, again bool) string {
	c := &s.Columns[i]
	switch {
	case again:
		return "is edited twice in one Patch: merge the edits"
	case c.Key:
		return "a key, or what a key follows from, cannot be edited: a Patch leaves the row where it is"
	case c.ReadOnly:
		return readOnly
	case i == s.Stamp:
		return "the stamp cannot be edited: every write fills it"
	case i == s.Expiry && e.Kind != statement.PutColumn: // the expiry of a row that never ends may be put, as null
		return expiryEdited
	case e.Kind == statement.PutColumn:
		return ""
	case c.CQL.Kind() == gocql.TypeList:
		return "a list has no elements that could be written again and be the same: edit it as a whole, with Column, or " +
			"declare a set or map"
	case c.CQL.Kind() != gocql.TypeMap && c.CQL.Kind() != gocql.TypeSet:
		return fmt.Sprintf("only maps and sets have elements, and this is %s: edit it as a whole, with Column", c.CQL)
	case !c.CQL.MultiCell():
		return "it is frozen, which makes it one cell: edit it as a whole, with Column"
	case e.Kind == statement.RemoveElements && c.Marshals:
		return fmt.Sprintf("Go type %s encodes itself, so what its elements are is not known: edit it as a whole, with Column", c.Go)
	case e.Kind == statement.RemoveElements && len(e.Keys) == 0:
		return "Without names no element"
	}
	return ""
}

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
