package tables

import (
	"bytes"
	"slices"
	"strings"
)

// This file compares what comes out of storage with what a set declares.

// declared is a [Described] of this package.
type declared interface{ declaration() *set }

func (s *Set[T]) declaration() *set { return s.def }

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

// DeclaredIn says whether the mutation is of a table of the set, whose logical keyspaces physical maps, and if so, why it can be none
// of the set's mutations, or "".
func (m *Mutation) DeclaredIn(d Described, physical func(string) string) (found bool, fault string) {
	s, ok := d.(declared)
	if !ok {
		return false, ""
	}
	set := s.declaration()
	for i, t := range set.tables {
		if !t.called(m.Keyspace, m.Table, physical) {
			continue
		}
		if i == 0 && set.conditional() {
			return true, "lightweight transactions alone write it"
		}
		return true, t.faultOf(m)
	}
	return false, ""
}

func (t *table) faultOf(m *Mutation) string {
	if (m.Kind == Increment) != (len(t.counters) > 0) {
		return "counters are added to, and nothing else is"
	}
	if m.Kind == Increment {
		return ""
	}
	keys := 0
	for _, name := range m.Names {
		switch i := slices.Index(t.columnNames, name); {
		case strings.HasPrefix(name, "["): // of a USING clause
		case i < 0:
			return "it has no column " + name
		case i < len(t.key):
			keys++
		}
	}
	if keys != len(t.key) {
		return "its primary key is " + strings.Join(t.keyNames, ", ")
	}
	return ""
}

// DeclaredIn is [Mutation.DeclaredIn] for a condition, with its claims.
func (c *Conditional) DeclaredIn(d Described, physical func(string) string) (found bool, fault string) {
	s, ok := d.(declared)
	if !ok {
		return false, ""
	}
	set := s.declaration()
	if !set.conditional() || !set.tables[0].called(c.Condition.Keyspace, c.Condition.Table, physical) {
		return false, ""
	}
	if fault := set.faultOf(c.Condition.base.set); fault != "" {
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
	return true, ""
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
		if i < 0 || after[i].data == nil {
			return false
		}
		changed = changed || !stored.columns[i].key && !bytes.Equal(before[name], after[i].data)
	}
	return changed
}

// faultOf says why a condition of a set that was made of storage is none of s, or "".
func (s *set) faultOf(stored *set) string {
	base, of := s.tables[0], stored.tables[0]
	names := func(s *set, columns []int) []string {
		var out []string
		for _, i := range columns {
			out = append(out, s.columns[i].name)
		}
		slices.Sort(out)
		return out
	}
	name := func(s *set, i int) string {
		if i < 0 {
			return ""
		}
		return s.columns[i].name
	}
	switch {
	case !slices.Equal(base.keyNames, of.keyNames) || base.part != of.part:
		return "its primary key is " + strings.Join(base.keyNames, ", ")
	case name(s, s.version) != name(stored, stored.version) || name(s, s.mark) != name(stored, stored.mark),
		!slices.Equal(names(s, s.compare), names(stored, stored.compare)), s.localSerial != stored.localSerial:
		return "its condition is another one"
	}
	for _, column := range of.columnNames {
		if !slices.Contains(base.columnNames, column) {
			return "it has no column " + column
		}
	}
	return ""
}
