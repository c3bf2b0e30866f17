package entity

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
)

// This file compares what comes out of storage with what a set declares.

// called says whether the table is the one with the given physical names.
func called(t *layout.Table, keyspace, name string, physical func(string) string) bool {
	return physical(t.Keyspace) == keyspace && t.Named(name)
}

// Declares says whether the mutation is of a table of the set, whose logical keyspaces physical maps, and if so, why it
// can be none of the set's mutations, or "".
func Declares(s *layout.Set, m *statement.Mutation, physical func(string) string) (found bool, fault string) {
	for i, t := range s.Tables {
		if !called(t, m.Keyspace, m.Table, physical) {
			continue
		}
		if i == 0 && s.Conditional() {
			return true, "lightweight transactions alone write it"
		}
		return true, faultOfMutation(s, t, m)
	}
	return false, ""
}

// faultOfMutation says why a mutation of t can be none of the set's, or "".
func faultOfMutation(s *layout.Set, t *layout.Table, m *statement.Mutation) string {
	if (m.Kind == statement.Increment) != (len(t.Counters) > 0) {
		return "counters are added to, and nothing else is"
	}
	if m.Kind == statement.Increment {
		return ""
	}
	keys := m.Names[len(m.Names)-m.Keys:]
	if m.Kind == statement.Put {
		keys = m.Names[:m.Keys]
	}
	if fault := otherKey(t, keys, m.Part); fault != "" {
		return fault
	}
	if m.Expires != 0 && s.Expiry < 0 {
		return "the stored write expires, and the set has no ExpiresAt"
	}
	for n, name := range m.Names {
		if strings.HasPrefix(name, "[") { // of a USING clause
			continue
		}
		v, _ := m.Args[n].(*cqltype.Value) // nil is unset
		if v == nil && !slices.Contains(t.ColumnNames, name) {
			continue // a column that was removed, and of which the write has nothing
		}
		removes := slices.ContainsFunc(m.Merges, func(c statement.MergeColumn) bool {
			return c.Name == name && c.Kind == statement.RemoveElements
		})
		i, fault := faultOfValue(s, t.Columns, name, v, removes)
		if fault != "" {
			return fault
		}
		if m.Kind == statement.Remove {
			continue
		}
		if fault := outside(s, i, v); fault != "" {
			return fault
		}
		if i == s.Expiry && m.Expires != expiryOf(v) {
			return fmt.Sprintf("column %s: the stored write expires at another time than the column says", name)
		}
		if i == s.Stamp && (v == nil || !bytes.Equal(v.Data, cqltype.BigInt(m.Timestamp).Data)) {
			return fmt.Sprintf("column %s: the stamp is not the timestamp of the stored write", name)
		}
	}
	if m.Kind == statement.Remove { // elsewhere there is no row
		return ""
	}
	return misplaced(s, t, m.Table, func(name string) *cqltype.Value {
		n := slices.Index(m.Names, name)
		if n < 0 {
			return nil
		}
		v, _ := m.Args[n].(*cqltype.Value)
		return v
	})
}

// misplaced says that a derived column of the key, or the name of t if it rotates, does not follow from the values of a
// row, or "". named gives these, and nil for those that are not there. Rows under former functions are where they
// belong.
func misplaced(s *layout.Set, t *layout.Table, name string, named func(column string) *cqltype.Value) string {
	of := func(i int) *cqltype.Value {
		return cmp.Or(named(s.Columns[i].Name), &cqltype.Value{Type: s.Columns[i].CQL})
	}
	if d := t.Rotation; d != nil && t.Rotated(of(d.Clock).Instant()) != name { // the clock is in the key
		return "the table is of another time than the row"
	}
	for _, i := range t.Key {
		if d := s.Columns[i].Derived; d != nil && !d.Gives(of(i).Data, of) {
			return "column " + s.Columns[i].Name + ": the value does not follow from the rest of the row"
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
	// 0 stands for never; the epoch has passed as surely as the millisecond after it
	return cmp.Or(at, 1)
}

// otherKey says how the primary key of a stored write differs from that of t, or "".
func otherKey(t *layout.Table, names []string, part int) string {
	if slices.Equal(t.KeyNames, names) && t.Part == part {
		return ""
	}
	spell := func(names []string, part int) string {
		return strings.Join(append([]string{"(" + strings.Join(names[:part], ", ") + ")"}, names[part:]...), ", ")
	}
	return fmt.Sprintf("its primary key is (%s), and that of the stored write is (%.500s)", spell(t.KeyNames, t.Part),
		spell(names, part))
}

// faultOfValue finds the one of columns that is called name, and says why v can be no value of it, or "". removes is
// whether its elements are removed; v may be nil.
func faultOfValue(s *layout.Set, columns []int, name string, v *cqltype.Value, removes bool) (column int, fault string) {
	n := slices.IndexFunc(columns, func(i int) bool { return s.Columns[i].Name == name })
	if n < 0 {
		return -1, "it has no column " + name
	}
	column = columns[n]
	want := s.Columns[column].CQL
	if elems := want.Elems(); removes && len(elems) > 0 {
		want = cqltype.SetOf(elems[0])
	}
	if v == nil || want.Takes(v.Type) {
		return column, ""
	}
	return column, fmt.Sprintf("column %s is declared as %.200s, and the stored value is of %.200s", name,
		want.Definition(), v.Type.Definition())
}

// outside says that a value of column i, or nil, is beyond what is declared by OneOf, or "".
func outside(s *layout.Set, i int, v *cqltype.Value) string {
	if c := &s.Columns[i]; c.Rule == layout.ClosedDomain && v != nil && !InDomain(c, v) {
		return "column " + c.Name + ": the value is not one of those declared by OneOf"
	}
	return ""
}

// DeclaredIn is [layout.Set.Declares] for a condition, with its claims.
func (c *Conditional) DeclaredIn(set *layout.Set, physical func(string) string) (found bool, fault string) {
	if !set.Conditional() || !called(set.Tables[0], c.Condition.Keyspace, c.Condition.Table, physical) {
		return false, ""
	}
	if fault := faultOf(set, c.Condition); fault != "" {
		return true, fault
	}
	for _, k := range slices.Concat(c.Claims, c.Releases) {
		i := slices.IndexFunc(set.Unique, func(t *layout.Table) bool { return called(t, k.Keyspace, k.Table, physical) })
		if i < 0 || !slices.Equal(set.Unique[i].KeyNames, k.table.KeyNames) || set.Unique[i].Part != k.table.Part {
			return true, "the set has no Unique table " + k.Table + " with this key"
		}
	}
	for _, t := range set.Unique {
		claimed := slices.ContainsFunc(c.Claims, func(k *Claim) bool { return called(t, k.Keyspace, k.Table, physical) })
		if !claimed && c.takes(t) {
			return true, "the key that the row gets in Unique table " + t.Name + " is not claimed"
		}
	}
	return true, faultOfPending(set, c.Condition, physical)
}

// faultOfPending says why others could not finish the stored change of a Versioned set, or "".
func faultOfPending(s *layout.Set, c *Condition, physical func(string) string) string {
	if c.By == layout.Compared {
		return ""
	}
	values := c.valuesIn(s)
	row := Row{Present: c.after != nil, Values: values}
	if _, err := NewBase(s, physical, values).QueryTableMutations(row, c.Version, c.Keys); err != nil {
		return "what it leaves for other writers to finish cannot be read: " + err.Error()
	}
	return ""
}

// valuesIn is the row that the condition makes, or its key, by the columns of s, which declares it.
func (c *Condition) valuesIn(s *layout.Set) []cqltype.Value {
	values := make([]cqltype.Value, len(s.Columns))
	for i := range values {
		values[i].Type = s.Columns[i].CQL
	}
	names := s.Names(s.Tables[0].Read)
	for n, name := range c.base.Set.Tables[0].ColumnNames {
		i := s.Tables[0].Read[slices.Index(names, name)] // it is there
		switch {
		case n < len(c.base.key):
			values[i].Data = c.base.key[n].Data
		case c.after != nil:
			values[i].Data = c.after[n].Data
		}
	}
	return values
}

// Within is the change with what set, which declares it, has of the query tables: what another client has left of the
// entity can then be finished.
func (c *Conditional) Within(set *layout.Set, physical func(string) string) *Conditional {
	next, condition, base := *c, *c.Condition, *c.Condition.base
	base.within(set, physical, c.Condition.valuesIn(set))
	condition.base, next.Condition = &base, &condition
	for _, list := range []*[]*Claim{&next.Claims, &next.Releases} {
		*list = slices.Clone(*list)
		for i, k := range *list {
			claim := *k
			claim.base, (*list)[i] = &base, &claim
		}
	}
	return &next
}

// takes says whether the row of a condition that was made of storage gets a key in t, a Unique table of a set, that it
// had not before.
func (c *Conditional) takes(t *layout.Table) bool {
	stored, after := c.Condition.base.Set, c.Condition.after
	if after == nil {
		return false
	}
	before := make(map[string][]byte)
	_ = cutKeys(c.Condition.Keys, func(name string, value []byte) error { // it was checked when it was decoded
		before[name] = value
		return nil
	})
	changed := c.Condition.Kind == Insert
	for _, name := range t.KeyNames {
		i := slices.IndexFunc(stored.Columns, func(c layout.Column) bool { return c.Name == name })
		if i < 0 || after[i].Data == nil {
			return false
		}
		changed = changed || !stored.Columns[i].Key && !bytes.Equal(before[name], after[i].Data)
	}
	return changed
}

// faultOf says why a condition that was made of storage is none of s, or "".
func faultOf(s *layout.Set, c *Condition) string {
	stored := c.base.Set
	base, of := s.Tables[0], stored.Tables[0]
	names := func(s *layout.Set) []string { return slices.Sorted(slices.Values(s.Names(s.Compared))) }
	if fault := otherKey(base, of.KeyNames, of.Part); fault != "" {
		return fault
	}
	switch {
	case s.NameOf(s.Version) != stored.NameOf(stored.Version) || s.NameOf(s.Mark) != stored.NameOf(stored.Mark),
		!slices.Equal(names(s), names(stored)), s.LocalSerial != stored.LocalSerial, s.Decided() != stored.Decided():
		return "its condition is another one"
	}
	columns := base.Columns
	if c.after == nil {
		columns = base.Read // see Base.becomes
	}
	for n, name := range of.ColumnNames {
		v := &cqltype.Value{Type: stored.Columns[n].CQL}
		if c.after != nil && n != stored.Version {
			v = &c.after[n]
		}
		i, fault := faultOfValue(s, columns, name, v, false)
		if fault == "" {
			fault = outside(s, i, v)
		}
		if fault != "" {
			return fault
		}
	}
	return misplaced(s, base, c.Table, func(name string) *cqltype.Value {
		n := slices.Index(of.ColumnNames, name)
		switch {
		case n >= 0 && n < len(c.base.key):
			return c.base.key[n]
		case n >= 0 && c.after != nil:
			return &c.after[n]
		}
		return nil
	})
}
