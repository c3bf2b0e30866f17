package declare

import (
	"reflect"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/layout"
)

// checkCounters finds out whether the set counts, and rejects what Cassandra rejects alongside counters, or what could
// not be kept.
func (b *builder) checkCounters() {
	s := b.set
	first := slices.IndexFunc(s.Columns, func(c layout.Column) bool { return c.Counts() })
	if first < 0 {
		return
	}
	s.Counts = true
	for _, r := range b.rules() {
		if r.there {
			b.fault("", "", "%s in a set of counters: %s", r.name, r.counters)
		}
	}
	for i := range s.Columns {
		c := &s.Columns[i]
		switch {
		case c.Counts() && c.Key:
			b.fault("", c.Name, "a counter cannot be in a key, nor can a key follow from it: it changes with every write")
		case c.Counts() && (c.Go.Kind() != reflect.Int64 || c.Marshals):
			b.fault("", c.Name, "a counter wants a Go int64, which holds what to add, not %s", c.Go)
		case !c.Counts() && !c.Key && c.CQL != nil:
			b.fault("", c.Name, "is in a table with counter %s, which Cassandra rejects: declare the counters as a set of their own, and "+
				"write both in one Write", s.Columns[first].Name)
		}
	}
	for _, t := range s.Tables {
		b.readCounters(t)
	}
}

// readCounters leaves a table its key and the counters. Columns that are in the key of other tables only, and those
// that a derived column follows from, are no part of it.
func (b *builder) readCounters(t *layout.Table) {
	t.Read = slices.DeleteFunc(t.Read, func(i int) bool {
		return !slices.Contains(t.Key, i) && !b.set.Columns[i].Counts()
	})
	b.nameColumns(t)
	t.Counters = slices.Clone(t.Columns[len(t.Key):])
	if len(t.Counters) == 0 {
		b.fault(t.Name, "", "has no counter in it, and all other tables of the set count")
	}
	declared := slices.IndexFunc(b.Tables, func(d Table) bool { return d.Name == t.Name && d.Keyspace == t.Keyspace })
	for _, name := range b.Tables[declared].Columns {
		if i, ok := b.of[name]; ok && !slices.Contains(t.Columns, i) {
			b.fault(t.Name, name, "is not a counter: outside of its key a table of counters has counters only")
		}
	}
	for _, i := range t.Key {
		if d := b.set.Columns[i].Derived; d != nil && d.Swept() {
			b.fault(t.Name, b.set.Columns[i].Name,
				"has several functions without a time from which on they are valid: rows under "+
					"another function are deleted, and what they have counted would be lost")
		}
	}
}

// isCounterType says whether text names the type counter, alone or inside another one.
func isCounterType(text string) bool {
	return slices.Contains(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return strings.ContainsRune("<>, ", r)
	}), "counter")
}
