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

// This file is about the one verb that leaves columns of the row alone.

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
	if s.Expiry >= 0 && values[s.Expiry].Data != nil {
		for _, t := range s.Tables {
			if len(t.Leads) > 0 {
				return s.Invalid(t, s.Columns[t.Leads[0]].Name, "a Patch of a row that expires would end this column of the "+
					"base key before the rest of the row: Update the row")
			}
			if !slices.Contains(t.Columns, s.Expiry) && (s.Stamp < 0 || !slices.Contains(t.Columns, s.Stamp)) {
				return s.Invalid(t, s.Columns[s.Expiry].Name,
					"a Patch of a row that expires writes this column or the stamp to every table, "+
						"and this one holds neither: add one to its Columns, or Update the row")
			}
		}
	}
	r.After = values
	r.fill()
	return nil
}

// checkPatchedExpiry rejects a patch that does not say when what it writes ends.
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
	}
	return nil
}

const expiryEdited = "the expiry cannot be edited: all columns of the row share it, so Update the row"

// refuseEdit says why column i cannot be edited so, or "".
func refuseEdit(s *layout.Set, i int, e Edit, again bool) string {
	c := &s.Columns[i]
	switch {
	case again:
		return "is edited twice in one Patch: at one timestamp the two would mix"
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

// edit appends what the patch is in t: a Put of the columns, which are at least the key, and a Merge of the elements.
// What expires is one Merge of both: the row marker of a Put would end, and the row with it, whatever others have
// written. Of a column that elements are put to and removed from, the latter is a Merge of its own: a stored one has
// each column once.
func (r *Renderer) edit(t *layout.Table) {
	key := t.KeyOf(r.After)
	if !statement.Present(key) {
		return
	}
	p := r.Place(t)
	names, put := slices.Clone(t.KeyNames), r.Mutation(p, statement.Put, key)
	put.Args = statement.AppendArgs(nil, key)
	var merged, removed []statement.MergeColumn
	for _, i := range t.Columns[len(t.Key):] {
		name, v, kind, keys := r.Set.Columns[i].Name, &r.After[i], r.patch[i].put, r.patch[i].removed
		if i == r.Set.Stamp || i == r.Set.Expiry || slices.Contains(t.Leads, i) {
			kind = statement.PutColumn
		}
		switch {
		case kind == statement.PutColumn && r.expiresAt == 0:
			names, put.Args = append(names, name), append(put.Args, v)
		case kind != 0:
			merged = append(merged, statement.MergeColumn{Name: name, Kind: kind, Value: v})
		case keys != nil:
			merged = append(merged, statement.MergeColumn{Name: name, Kind: statement.RemoveElements, Value: keys})
		}
		if kind != 0 && keys != nil {
			removed = append(removed, statement.MergeColumn{Name: name, Kind: statement.RemoveElements, Value: keys})
		}
	}
	if r.expiresAt == 0 {
		put.Statement, put.Names = statement.PutText(statement.Qualified(p.Keyspace, p.Name), names, false)
		put.Args = append(put.Args, r.At)
		r.Out = append(r.Out, put)
	}
	if merged != nil {
		r.merge(p, key, merged, r.expiresAt)
	}
	if removed != nil {
		r.merge(p, key, removed, 0)
	}
}

func (r *Renderer) merge(t Placed, key []*cqltype.Value, columns []statement.MergeColumn, expiresAt int64) {
	m := r.Mutation(t, statement.Merge, key)
	m.SetMerge(t.KeyNames, key, r.At, columns, expiresAt)
	r.Out = append(r.Out, m)
}
