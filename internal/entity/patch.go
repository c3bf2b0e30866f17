package entity

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/gocql/gocql"
	"github.com/scylladb/gocqlx/v2/qb"
)

// This file is about the one verb that leaves columns of the row alone.

// Edit is a tables.Edit.
type Edit struct {
	Column string
	Kind   EditKind
	Keys   []any // of the elements that a RemoveElements removes
}

// EditKind is one of the things that an [Edit] can do.
type EditKind uint8

const (
	// PutColumn writes the column.
	PutColumn EditKind = iota + 1
	// PutElements writes elements of the column.
	PutElements
	// RemoveElements removes elements of the column.
	RemoveElements
)

func (k EditKind) String() string {
	return called(k, "EditKind", "put", "put elements of", "remove elements of")
}

// String says what is done to which column.
func (e Edit) String() string { return e.Kind.String() + " " + e.Column }

// Format prints [Edit.String] for every verb: an edit printed in full would show the keys of elements.
func (e Edit) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.String()) }

// MarshalText is [Edit.String]: a structured logger would show the keys.
func (e Edit) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// patch is the edits of a change, by column; the zero Edit where there is none.
type patch []Edit

// encodePatch checks the edits and encodes what they need of the row.
func (r *renderer) encodePatch(c Change) error {
	s := r.set
	if err := s.patchable(); err != nil {
		return err
	}
	if len(c.Edits) == 0 {
		return s.invalid(nil, "", "a Patch needs an edit: Column, Elements or Without")
	}
	r.patch, r.removed = make(patch, len(s.columns)), make(map[int]*Value)
	without := make(map[int]Edit) // where others are put
	for _, e := range c.Edits {
		if e.Kind == 0 {
			return s.invalid(nil, "", "an edit is made by Column, Elements or Without")
		}
		i := slices.IndexFunc(s.columns, func(c column) bool { return c.name == e.Column })
		if i < 0 {
			return s.invalid(nil, e.Column, "an edit names it, and it is no column of the entity")
		}
		put, remove, both := beside(r.patch[i], e)
		_, again := without[i]
		if reason := s.refuseEdit(i, e, again || r.patch[i].Kind != 0 && !both); reason != "" {
			return s.invalid(nil, e.Column, reason)
		}
		if r.patch[i] = e; both {
			r.patch[i], without[i] = put, remove
		}
	}
	row, values := reflect.ValueOf(c.After), make([]Value, len(s.columns))
	for i := range s.columns {
		col, edit := &s.columns[i], r.patch[i]
		var err error
		switch {
		case col.derived != nil:
		case i == s.stamp:
			values[i] = Value{typ: col.cql, data: encodeInt64(r.timestamp)}
		case edit.Kind == RemoveElements:
			values[i], err = s.encodeKeysOf(i, edit.Keys)
		case col.key || i == s.expiry || edit.Kind != 0:
			values[i], err = s.encode(row, i)
		}
		if err != nil {
			return err
		}
		if edit.Kind == PutElements && values[i].data == nil {
			return s.invalid(nil, col.name, "Elements puts the elements that the row holds, and it holds none")
		}
		if e, ok := without[i]; ok {
			if r.removed[i], err = s.encodeRemoved(i, e.Keys, &values[i]); err != nil {
				return err
			}
		}
	}
	if err := s.checkPatchedExpiry(values, r.patch); err != nil {
		return err
	}
	if s.expiry >= 0 && values[s.expiry].data != nil {
		for _, t := range s.tables {
			if !slices.Contains(t.columns, s.expiry) && (s.stamp < 0 || !slices.Contains(t.columns, s.stamp)) {
				return s.invalid(t, s.columns[s.expiry].name, "a Patch of a row that expires writes this column or the stamp to every table, "+
					"and this one holds neither: add one to its Columns, or Update the row")
			}
		}
	}
	if err := s.derive(values, all); err != nil {
		return err
	}
	r.after = values
	r.at = &Value{typ: bigint, data: encodeInt64(r.timestamp)}
	return nil
}

// checkPatchedExpiry rejects a patch that does not say when what it writes ends.
func (s *Set) checkPatchedExpiry(values []Value, edits patch) error {
	if s.expiry < 0 {
		return nil
	}
	name, edited := s.columns[s.expiry].name, edits[s.expiry].Kind != 0
	switch absent := values[s.expiry].data == nil; {
	case absent && !edited:
		return s.invalid(nil, name, fmt.Sprintf("the row of a Patch has no expiry, so what it writes would stay when the rest of the row ends: "+
			"give the row its expiry as it was read or written, or, if the row never ends, add Column(%q) to the edits", name))
	case !absent && edited:
		return s.invalid(nil, name, expiryEdited)
	}
	return nil
}

const expiryEdited = "the expiry cannot be edited: it is that of all columns of the row, so Update the row"

// patchable rejects a set in which the row of an entity may be under another key than the one at hand.
func (s *Set) patchable() error {
	for _, t := range s.tables {
		for _, positions := range [][]int{t.sweeps, t.moves, t.follows} {
			if len(positions) > 0 {
				return s.invalid(t, s.columns[t.key[positions[0]]].name, "a Patch leaves the row where it is, and this key column can change "+
					"or has several bucket functions: Update from a before-image")
			}
		}
	}
	return nil
}

// refuseEdit says why column i cannot be edited so, or "".
func (s *Set) refuseEdit(i int, e Edit, again bool) string {
	c := &s.columns[i]
	switch {
	case again:
		return "is edited twice in one Patch: at one timestamp the two would mix"
	case c.key:
		return "a key, or what a key follows from, cannot be edited: a Patch leaves the row where it is"
	case i == s.stamp:
		return "the stamp cannot be edited: every write fills it"
	case i == s.expiry && e.Kind != PutColumn: // that of a row that never ends may be put, as null
		return expiryEdited
	case e.Kind == PutColumn:
		return ""
	case c.cql.Kind() == gocql.TypeList:
		return "a list has no elements that could be written again and be the same: edit it as a whole, with Column, or declare a set or map"
	case c.cql.Kind() != gocql.TypeMap && c.cql.Kind() != gocql.TypeSet:
		return fmt.Sprintf("only maps and sets have elements, and this is %s: edit it as a whole, with Column", c.cql)
	case !c.cql.MultiCell():
		return "it is frozen, which makes it one cell: edit it as a whole, with Column"
	case e.Kind == RemoveElements && c.marshals:
		return fmt.Sprintf("Go type %s encodes itself, so what its elements are is not known: edit it as a whole, with Column", c.goType)
	case e.Kind == RemoveElements && len(e.Keys) == 0:
		return "Without names no element"
	}
	return ""
}

// edit appends what the patch is in t: a Put of the columns, which are at least the key, and a Merge of the elements. What
// expires is one Merge of both: the row marker of a Put would end, and the row with it, whatever others have written. Of a column that
// elements are put to and removed from, the latter is a Merge of its own: a stored one has each column once.
func (r *renderer) edit(t *table) {
	key := t.keyOf(r.after)
	if !present(key) {
		return
	}
	p := placed{table: t, keyspace: r.keyspace(t.keyspace), name: r.name(t)}
	put := Mutation{Kind: Put}
	names, merged, values := slices.Clone(t.keyNames), []mergeColumn(nil), []any(nil)
	var less []mergeColumn
	var gone []any
	for _, v := range key {
		put.Args = append(put.Args, v)
	}
	for _, i := range t.columns[len(t.key):] {
		name, v, kind := r.set.columns[i].name, &r.after[i], r.patch[i].Kind
		if i == r.set.stamp || i == r.set.expiry {
			kind = PutColumn
		}
		switch {
		case kind == 0:
		case kind == PutColumn && r.expiresAt == 0:
			names, put.Args = append(names, name), append(put.Args, v)
		default:
			merged, values = append(merged, mergeColumn{name, kind}), append(values, v)
		}
		if keys := r.removed[i]; keys != nil {
			less, gone = append(less, mergeColumn{name, RemoveElements}), append(gone, keys)
		}
	}
	qualified := qualified(p.keyspace, p.name)
	if r.expiresAt == 0 {
		put.Statement, put.Names = putText(qualified, names, false)
		put.Args = append(put.Args, r.at)
		r.out = append(r.out, r.edited(p, key, put))
	}
	if merged != nil {
		r.out = append(r.out, r.edited(p, key, mergeOf(qualified, t.keyNames, key, r.at, merged, values, r.expiresAt)))
	}
	if less != nil {
		r.out = append(r.out, r.edited(p, key, mergeOf(qualified, t.keyNames, key, r.at, less, gone, 0)))
	}
}

// edited completes a mutation of a patch.
func (r *renderer) edited(t placed, key []*Value, m Mutation) Mutation {
	m.Keyspace, m.Table, m.Timestamp, m.PartitionKey = t.keyspace, t.name, r.timestamp, partitionKey(key[:t.part])
	m.keys, m.part, m.Rotates = len(key), t.part, t.rotation != nil
	return m
}

// mergeColumn is a column of a Merge. Only in one that expires columns are written whole.
type mergeColumn struct {
	name string
	kind EditKind
}

// mergeOf makes the statements of a Merge: the one of now, and the one after it has expired. That one writes at the same
// timestamp what is left of the first one then, a tombstone a cell.
func mergeOf(qualified string, keys []string, key []*Value, at *Value, columns []mergeColumn, values []any, expiresAt int64) Mutation {
	m := Mutation{Kind: Merge, merges: columns, expiresAt: expiresAt}
	m.Statement, m.Names = mergeText(qualified, columns, keys, expiresAt != 0)
	m.Args = mergeArgs(values, key, at, expiresAt != 0)
	if expiresAt == 0 {
		return m
	}
	ended, empty := slices.Clone(columns), slices.Clone(values)
	for n, c := range columns {
		v, _ := values[n].(*Value) // a Merge has nothing else
		switch c.kind {
		case PutColumn:
			empty[n] = &Value{typ: v.typ}
		case PutElements:
			ended[n].kind, empty[n] = RemoveElements, keysOf(v)
		case RemoveElements:
		}
	}
	m.expired = &Mutation{Args: mergeArgs(empty, key, at, false)}
	m.expired.Statement, m.expired.Names = mergeText(qualified, ended, keys, false)
	return m
}

// mergeText compiles a Merge.
func mergeText(qualified string, columns []mergeColumn, keys []string, ttl bool) (text string, names []string) {
	update := qb.Update(qualified)
	if ttl {
		update.TTLNamed(ttlName)
	}
	update.TimestampNamed(timestampName)
	for _, c := range columns {
		switch c.kind {
		case PutColumn:
			update.Set(c.name)
		case PutElements:
			update.Add(c.name)
		case RemoveElements:
			update.Remove(c.name)
		}
	}
	return trimmed(update.Where(where(keys)...).ToCql())
}

// mergeArgs are what is bound to a Merge.
func mergeArgs(values []any, key []*Value, at *Value, ttl bool) []any {
	args := make([]any, 0, len(values)+len(key)+2)
	if ttl {
		args = append(args, encodeInt(maxTTL))
	}
	args = append(append(args, at), values...)
	for _, v := range key {
		args = append(args, v)
	}
	return args
}

// A Merge is stored with its key first, as a Put is, and what is done to the columns alongside each.

func (m *Mutation) wireMerge(w *wireMutation) error {
	first := len(m.Args) - m.keys - len(m.merges)
	if first < 0 || len(m.merges) == 0 {
		return errors.New("it was not rendered from a change")
	}
	column := func(n int, kind EditKind) error {
		v, ok := m.Args[n].(*Value)
		if !ok {
			return fmt.Errorf("an argument is of Go type %T", m.Args[n])
		}
		c := wireColumn{m.Names[n], wireValue, v.typ.Definition(), v.data, kind}
		if v.data == nil {
			c.State = wireNull
		}
		w.Columns = append(w.Columns, c)
		return nil
	}
	for n := len(m.Args) - m.keys; n < len(m.Args); n++ {
		if err := column(n, 0); err != nil {
			return err
		}
	}
	for n, c := range m.merges {
		if err := column(first+n, c.kind); err != nil {
			return err
		}
	}
	return nil
}

// merge makes the Merge out of what follows the key. remove is the Remove of its row.
func (w *wireMutation) merge(names []string, args []any, key []*Value, remove *Mutation) (*Mutation, error) {
	var columns []mergeColumn
	for n := w.Keys; n < len(names); n++ {
		v, ok := args[n].(*Value)
		c := mergeColumn{names[n], w.Columns[n].Edit}
		if !ok || c.kind != PutColumn && !elementsOf(v, c.kind) {
			return nil, errors.New("elements without a value, or of a type that has none")
		}
		columns = append(columns, c)
	}
	at, _ := remove.Args[0].(*Value)
	m := mergeOf(qualified(w.Keyspace, w.Table), names[:w.Keys], key, at, columns, args[w.Keys:], w.ExpiresAt)
	m.Keyspace, m.Table, m.Timestamp, m.PartitionKey, m.keys, m.part =
		remove.Keyspace, remove.Table, remove.Timestamp, remove.PartitionKey, remove.keys, remove.part
	return &m, nil
}

// elementsOf says whether v holds elements that can be put, or whose keys can be removed.
func elementsOf(v *Value, kind EditKind) bool {
	if v.data == nil || !v.typ.MultiCell() || v.typ.Kind() != gocql.TypeSet && (kind == RemoveElements || v.typ.Kind() != gocql.TypeMap) {
		return false
	}
	return malformed(v.typ, v.data) == ""
}
