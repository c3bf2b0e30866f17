package entity

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
)

// This file is about sets that count: their declaration, their one verb, and its mutations.

func (c *column) counts() bool { return c.cql != nil && c.cql.Kind() == gocql.TypeCounter }

// checkCounters finds out whether the set counts, and rejects what Cassandra rejects alongside counters, or what could not
// be kept.
func (b *builder) checkCounters() {
	s := b.set
	first := slices.IndexFunc(s.columns, func(c column) bool { return c.counts() })
	if first < 0 {
		return
	}
	s.counts = true
	for _, r := range b.rules() {
		if r.there {
			b.fault("", "", "%s in a set of counters: %s", r.name, r.counters)
		}
	}
	for i := range s.columns {
		c := &s.columns[i]
		switch {
		case c.counts() && c.key:
			b.fault("", c.name, "a counter cannot be in a key, nor can a key follow from it: it changes with every write")
		case c.counts() && (c.goType.Kind() != reflect.Int64 || c.marshals):
			b.fault("", c.name, "a counter wants a Go int64, which holds what to add, not %s", c.goType)
		case !c.counts() && !c.key && c.cql != nil:
			b.fault("", c.name, "is in a table with counter %s, which Cassandra rejects: besides its key, a table has only counters or none. "+
				"Declare the counters as a set of their own, and write both in one Write", s.columns[first].name)
		}
	}
	for _, t := range s.tables {
		b.readCounters(t)
	}
}

// readCounters leaves a table its key and the counters. Columns that are in the key of other tables only, and those that a
// derived column follows from, are no part of it.
func (b *builder) readCounters(t *table) {
	t.columns = slices.DeleteFunc(t.columns, func(i int) bool { return !slices.Contains(t.key, i) && !b.set.columns[i].counts() })
	t.counters = slices.Clone(t.columns[len(t.key):])
	b.nameColumns(t)
	if len(t.counters) == 0 {
		b.fault(t.name, "", "has no counter in it, and all other tables of the set count")
	}
	declared := slices.IndexFunc(b.Tables, func(d Table) bool { return d.Name == t.name && d.Keyspace == t.keyspace })
	for _, name := range b.Tables[declared].Columns {
		if i, ok := b.of[name]; ok && !slices.Contains(t.columns, i) {
			b.fault(t.name, name, "is not a counter, and a table of counters has no other columns besides its key")
		}
	}
	for _, i := range t.key {
		if d := b.set.columns[i].derived; d != nil && d.swept() {
			b.fault(t.name, b.set.columns[i].name, "has several functions without a time from which on they are valid: rows under "+
				"another function are deleted, and what they have counted would be lost")
		}
	}
}

// CheckVerb rejects the verbs that the set does not have.
func (c Change) CheckVerb() error {
	switch {
	case c.Set.counts && c.Kind != Add:
		return c.Set.invalid(nil, "", fmt.Sprintf("%s of counters: Add is their only verb, as a counter cannot be set, and once deleted it "+
			"cannot safely be used again", c.Kind))
	case !c.Set.counts && c.Kind == Add:
		return c.Set.invalid(nil, "", "Add is for sets of counters, and this set has none")
	}
	return nil
}

// count appends the Increment of the row of t. Zeros are left out, and the row if nothing else is left.
func (r *renderer) count(t *table) {
	key := t.keyOf(r.after)
	if !statement.Present(key) {
		return
	}
	start := len(r.args)
	var names []string // of the counters that are not zero
	for _, i := range t.counters {
		if v := &r.after[i]; !cqltype.IsZero(v.Data) {
			r.args, names = append(r.args, v), append(names, r.set.columns[i].name)
		}
	}
	if names == nil {
		return
	}
	r.args = statement.AppendArgs(r.args, key)
	p := r.place(t)
	m := r.mutation(p, statement.Increment, key)
	m.Timestamp, m.Args = 0, r.args[start:len(r.args):len(r.args)]
	if len(names) == len(t.counters) {
		m.Statement, m.Names = p.text.increment, p.text.incrementNames
	} else {
		m.Statement, m.Names = statement.IncrementText(statement.Qualified(p.keyspace, p.name), names, t.keyNames)
	}
	r.out = append(r.out, m)
}

// isCounterType says whether text names the type counter, alone or inside another one.
func isCounterType(text string) bool {
	return slices.Contains(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune("<>, ", r) }), "counter")
}
