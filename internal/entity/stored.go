package entity

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
)

// This file compares what comes out of storage with what a set declares.

// called says whether the table is the one with the given physical names.
func (t *table) called(keyspace, name string, physical func(string) string) bool {
	if physical(t.keyspace) != keyspace {
		return false
	}
	if t.rotation == nil {
		return t.name == name
	}
	_, ok := Rotation{t.name, t.rotation.versions[0].bucket}.Of(name)
	return ok
}

// Declares says whether the mutation is of a table of the set, whose logical keyspaces physical maps, and if so, why it can be none
// of the set's mutations, or "".
func (s *Set) Declares(m *statement.Mutation, physical func(string) string) (found bool, fault string) {
	if s == nil {
		return false, ""
	}
	for i, t := range s.tables {
		if !t.called(m.Keyspace, m.Table, physical) {
			continue
		}
		if i == 0 && s.Conditional() {
			return true, "lightweight transactions alone write it"
		}
		return true, s.faultOfMutation(t, m)
	}
	return false, ""
}

// faultOfMutation says why a mutation of t can be none of the set's, or "".
func (s *Set) faultOfMutation(t *table, m *statement.Mutation) string {
	if (m.Kind == statement.Increment) != (len(t.counters) > 0) {
		return "counters are added to, and nothing else is"
	}
	if m.Kind == statement.Increment {
		return ""
	}
	keys := m.Names[len(m.Names)-m.Keys:]
	if m.Kind == statement.Put {
		keys = m.Names[:m.Keys]
	}
	if fault := t.otherKey(keys, m.Part); fault != "" {
		return fault
	}
	if m.Expires != 0 && s.expiry < 0 {
		return "the stored write expires, and the set has no ExpiresAt"
	}
	for n, name := range m.Names {
		if strings.HasPrefix(name, "[") { // of a USING clause
			continue
		}
		v, _ := m.Args[n].(*cqltype.Value) // nil is unset
		removes := slices.ContainsFunc(m.Merges, func(c statement.MergeColumn) bool { return c.Name == name && c.Kind == statement.RemoveElements })
		if fault := s.faultOfValue(t, name, v, removes); fault != "" {
			return fault
		}
		if m.Kind == statement.Remove {
			continue
		}
		i := t.columns[slices.Index(t.columnNames, name)]
		if fault := s.outside(i, v); fault != "" {
			return fault
		}
		if i == s.expiry && m.Expires != expiryOf(v) {
			return fmt.Sprintf("column %s: the stored write expires at another time than the column says", name)
		}
	}
	if m.Kind == statement.Remove { // elsewhere there is no row
		return ""
	}
	return s.misplaced(t, m.Table, func(name string) *cqltype.Value {
		n := slices.Index(m.Names, name)
		if n < 0 {
			return nil
		}
		v, _ := m.Args[n].(*cqltype.Value)
		return v
	})
}

// misplaced says that a derived column of the key, or the name of t if it rotates, does not follow from the values of a row, or "". named gives
// these, and nil for those that are not there. Rows under former functions are where they belong.
func (s *Set) misplaced(t *table, name string, named func(column string) *cqltype.Value) string {
	of := func(i int) *cqltype.Value {
		return cmp.Or(named(s.columns[i].name), &cqltype.Value{Type: s.columns[i].cql})
	}
	if d := t.rotation; d != nil && t.rotated(instantOf(of(d.clock))) != name { // the clock is in the key
		return "the table is of another time than the row"
	}
	for _, i := range t.key {
		d := s.columns[i].derived
		if d == nil || d.clock >= 0 && len(of(d.clock).Data) == 0 {
			continue
		}
		if !slices.ContainsFunc(d.versions, func(v version) bool {
			at := int64(0)
			if d.clock >= 0 {
				at = instantOf(of(d.clock))
			}
			data, err := d.under(&v, at, of)
			return errors.Is(err, errAbsent) || err == nil && bytes.Equal(data, of(i).Data)
		}) {
			return "column " + s.columns[i].name + ": the value does not follow from the rest of the row"
		}
	}
	return ""
}

// expiryOf is what a mutation with v as value of the column of ExpiresAt has as its end.
func expiryOf(v *cqltype.Value) int64 {
	if v == nil || len(v.Data) != 8 {
		return 0
	}
	at := int64(binary.BigEndian.Uint64(v.Data)) // a timestamp is signed
	return cmp.Or(at, 1)                         // 0 stands for never; the epoch has passed as surely as the millisecond after it
}

// otherKey says how the primary key of a stored write differs from that of t, or "".
func (t *table) otherKey(names []string, part int) string {
	if slices.Equal(t.keyNames, names) && t.part == part {
		return ""
	}
	spell := func(names []string, part int) string {
		return strings.Join(append([]string{"(" + strings.Join(names[:part], ", ") + ")"}, names[part:]...), ", ")
	}
	return fmt.Sprintf("its primary key is (%s), and that of the stored write is (%.500s)", spell(t.keyNames, t.part), spell(names, part))
}

// faultOfValue says why v can be no value of the column of t called name, or "". removes is whether its elements are removed; v may be nil.
func (s *Set) faultOfValue(t *table, name string, v *cqltype.Value, removes bool) string {
	n := slices.Index(t.columnNames, name)
	if n < 0 {
		return "it has no column " + name
	}
	if v == nil {
		return ""
	}
	want := s.columns[t.columns[n]].cql
	if elems := want.Elems(); removes && len(elems) > 0 {
		want = cqltype.SetOf(elems[0])
	}
	if want.Takes(v.Type) {
		return ""
	}
	return fmt.Sprintf("column %s is declared as %.200s, and the stored value is of %.200s", name, want.Definition(), v.Type.Definition())
}

// outside says that a value of column i, or nil, is beyond what is declared by OneOf, or "".
func (s *Set) outside(i int, v *cqltype.Value) string {
	if c := &s.columns[i]; c.rule == oneOf && v != nil && !inDomain(c, v) {
		return "column " + c.name + ": the value is not one of those declared by OneOf"
	}
	return ""
}

// DeclaredIn is [Set.Declares] for a condition, with its claims.
func (c *Conditional) DeclaredIn(set *Set, physical func(string) string) (found bool, fault string) {
	if !set.Conditional() || !set.tables[0].called(c.Condition.Keyspace, c.Condition.Table, physical) {
		return false, ""
	}
	if fault := set.faultOf(c.Condition); fault != "" {
		return true, fault
	}
	for _, k := range slices.Concat(c.Claims, c.Releases) {
		i := slices.IndexFunc(set.unique, func(t *table) bool { return t.called(k.Keyspace, k.Table, physical) })
		if i < 0 || !slices.Equal(set.unique[i].keyNames, k.table.keyNames) || set.unique[i].part != k.table.part {
			return true, "the set has no Unique table " + k.Table + " with this key"
		}
	}
	for _, t := range set.unique {
		claimed := slices.ContainsFunc(c.Claims, func(k *Claim) bool { return t.called(k.Keyspace, k.Table, physical) })
		if !claimed && c.takes(t) {
			return true, "the key that the row gets in Unique table " + t.name + " is not claimed"
		}
	}
	return true, set.faultOfPending(c.Condition, physical)
}

// faultOfPending says why others could not finish the stored change of a Versioned set, or "".
func (s *Set) faultOfPending(c *Condition, physical func(string) string) string {
	if !c.Versioned {
		return ""
	}
	values := make([]cqltype.Value, len(s.columns))
	for i := range values {
		values[i].Type = s.columns[i].cql
	}
	for n, name := range c.base.set.tables[0].columnNames {
		i := s.tables[0].columns[slices.Index(s.tables[0].columnNames, name)] // it is there
		switch {
		case n < len(c.base.key):
			values[i].Data = c.base.key[n].Data
		case c.after != nil:
			values[i].Data = c.after[n].Data
		}
	}
	row := Row{Present: c.after != nil, values: values}
	if _, err := s.base(physical, values).QueryTableMutations(row, c.Version, [][]byte{c.Keys}); err != nil {
		return "what it leaves for other writers to finish cannot be read: " + err.Error()
	}
	return ""
}

// takes says whether the row of a condition that was made of storage gets a key in t, a Unique table of a set, that it had not before.
func (c *Conditional) takes(t *table) bool {
	stored, after := c.Condition.base.set, c.Condition.after
	if after == nil {
		return false
	}
	before := make(map[string][]byte)
	_ = cutKeys(c.Condition.Keys, func(name string, value []byte) error { // it was checked when it was decoded
		before[name] = value
		return nil
	})
	changed := c.Condition.Kind == Insert
	for _, name := range t.keyNames {
		i := slices.IndexFunc(stored.columns, func(c column) bool { return c.name == name })
		if i < 0 || after[i].Data == nil {
			return false
		}
		changed = changed || !stored.columns[i].key && !bytes.Equal(before[name], after[i].Data)
	}
	return changed
}

// faultOf says why a condition that was made of storage is none of s, or "".
func (s *Set) faultOf(c *Condition) string {
	stored := c.base.set
	base, of := s.tables[0], stored.tables[0]
	names := func(s *Set) []string { return slices.Sorted(slices.Values(s.names(s.compare))) }
	if fault := base.otherKey(of.keyNames, of.part); fault != "" {
		return fault
	}
	switch {
	case s.nameOf(s.version) != stored.nameOf(stored.version) || s.nameOf(s.mark) != stored.nameOf(stored.mark),
		!slices.Equal(names(s), names(stored)), s.localSerial != stored.localSerial || s.transacted != stored.transacted:
		return "its condition is another one"
	}
	for n, name := range of.columnNames {
		v := &cqltype.Value{Type: stored.columns[n].cql}
		if c.after != nil && n != stored.version {
			v = &c.after[n]
		}
		fault := s.faultOfValue(base, name, v, false)
		if fault == "" {
			fault = s.outside(base.columns[slices.Index(base.columnNames, name)], v)
		}
		if fault != "" {
			return fault
		}
	}
	return s.misplaced(base, c.Table, func(name string) *cqltype.Value {
		n := slices.Index(of.columnNames, name)
		switch {
		case n >= 0 && n < len(c.base.key):
			return c.base.key[n]
		case n >= 0 && c.after != nil:
			return &c.after[n]
		}
		return nil
	})
}
