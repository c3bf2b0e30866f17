package declare

import (
	"reflect"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/gocql/gocql"
)

// This file validates sets that are changed by lightweight transactions.

// readUnique reads a table with Table.Unique. It holds its key and that of the owner.
func (b *builder) readUnique(t *layout.Table, decl Table, base bool) {
	if base {
		b.fault(decl.Name, "", "the base table cannot be Unique: its key names the entity already")
		return
	}
	if decl.Rotate.Kind != 0 {
		b.fault(decl.Name, "", "a Unique table cannot rotate: a key would be free again in the next table")
	}
	if of := b.Tables[0].Keyspace; decl.Keyspace != of {
		b.fault(decl.Name, "", "Keyspace is %q, the base table has %q: give the Unique table the same Keyspace", decl.Keyspace, of)
	}
	t.Columns = slices.Clone(t.Key)
	if len(b.set.Tables) > 0 {
		b.checkUnique(t, b.set.Tables[0])
		for _, i := range b.set.Tables[0].Key {
			if !slices.Contains(t.Columns, i) {
				t.Columns = append(t.Columns, i)
			}
		}
	}
	for _, name := range decl.Columns {
		if i, ok := b.column(decl.Name, name, "Columns"); ok && !slices.Contains(t.Columns, i) {
			b.fault(decl.Name, name, "a Unique table holds its key and the base key of the owner, nothing else: leave Columns "+
				"empty")
		}
	}
	for _, i := range t.Key {
		if b.set.Columns[i].Derived != nil {
			b.fault(decl.Name, b.set.Columns[i].Name,
				"a derived column in the key of a Unique table: the base row does not hold it, so it would not say "+
					"who has the key; make it a column of its own")
		}
	}
	if i, ok := b.of[layout.Token.Name]; ok && !b.Transactional && slices.Contains(t.Columns, i) {
		b.fault(decl.Name, layout.Token.Name, "a Unique table has a column of this name of its own")
	}
	t.Read, t.ColumnNames = t.Columns, b.set.Names(t.Columns)
	t.FieldNames = t.ColumnNames
	b.set.Unique = append(b.set.Unique, t)
}

// checkUnique rejects a key that holds that of the base table.
func (b *builder) checkUnique(t, base *layout.Table) {
	var names []string
	for _, i := range base.Key {
		switch {
		case b.set.Columns[i].Derived != nil: // it follows from the others
		case slices.Contains(t.Key, i):
			names = append(names, b.set.Columns[i].Name)
		default:
			return
		}
	}
	if len(names) > 0 && !b.bad[base] {
		b.fault(t.Name, "", "a Unique table whose key contains the base key, so no two entities can ever want one key: "+
			"leave %s out of PartKey and SortKey, as the table holds the base key of the owner in any case",
			strings.Join(names, ", "))
	}
}

// readConditions reads Versioned, Compare and LocalSerial.
func (b *builder) readConditions() {
	s := b.set
	s.LocalSerial, s.Transactional = b.LocalSerial, b.Transactional
	isUUID := func(c *layout.Column) bool {
		return c.Go == reflect.TypeFor[gocql.UUID]() && (c.CQL.Kind() == gocql.TypeTimeUUID || c.CQL.Kind() == gocql.TypeUUID)
	}
	s.Version = b.special(b.Versions, "Versioned", "a Go gocql.UUID and CQL timeuuid", isUUID)
	if s.Version >= 0 && s.Columns[s.Version].CQL != nil && s.Columns[s.Version].CQL.Kind() == gocql.TypeUUID {
		s.Columns[s.Version].CQL = entity.TimeUUID // what a gocql.UUID stands for where nothing is declared is uuid
	}
	s.Mark = b.special(b.Marks, "Mark", "a Go gocql.UUID and CQL uuid or timeuuid", isUUID)
	for _, name := range b.Compare {
		i, ok := b.column("", name, "Compare")
		switch {
		case !ok:
		case s.Columns[i].Key:
			b.fault("", name, "Compare is for columns that are no key: the row is found by its key")
		case slices.Contains(s.Compared, i):
			b.fault("", name, "is in Compare twice")
		case s.Columns[i].ReadOnly:
			b.fault("", name, "is ReadOnly, and Compare would bind it: compare another column")
		default:
			s.Compared = append(s.Compared, i)
		}
	}
	if len(b.Versions) > 0 {
		// Every key column may change, and moves by the before-image, which the condition makes the one that is there.
		for i := range s.Columns {
			if c := &s.Columns[i]; c.Key && c.Derived == nil && len(s.Tables) > 0 && !s.Identifies(i) {
				c.Rule = layout.SingleWriter
			}
		}
	}
}

// checkConditions rejects what lightweight transactions cannot keep.
func (b *builder) checkConditions() {
	s := b.set
	versioned, compared := len(b.Versions) > 0, len(b.Compare) > 0
	if versioned && compared {
		b.fault("", "", "Versioned and Compare: the version is compared already")
	}
	if len(b.Marks) > 0 && !compared {
		b.fault("", "", "Mark without Compare: there is no change to be known again")
	}
	what := "Compare"
	if versioned {
		what = "Versioned"
	} else if !compared && b.LocalSerial {
		b.fault("", "", "LocalSerial without Versioned or Compare: nothing in the set is conditional")
	}
	if b.Transactional {
		b.checkTransactional()
	}
	if !versioned && len(b.set.Unique) > 0 {
		b.fault(b.set.Unique[0].Name, "",
			"only a Versioned set can have Unique tables: who owns a key is decided by the version of the base row")
	}
	if !versioned && !compared || len(b.set.Tables) == 0 {
		return
	}
	for _, r := range b.rules() {
		if r.there && r.conditions != "" {
			b.fault("", "", "%s with %s: %s", what, r.name, r.conditions)
		}
	}
	if compared && len(b.set.Tables) > 1 {
		b.fault(b.set.Tables[1].Name, "",
			"a set with Compare has one table: the order of changes, which query tables follow, is known "+
				"only where rows have versions; declare Versioned")
	}
	if compared && s.Tables[0].Rotation != nil { // conditions, and what is read and stored of them, are of one table
		b.fault(s.Tables[0].Name, "", "the table of a set with Compare cannot rotate: declare it without Rotate, and "+
			"delete old rows, or derive a column of its partition key from the time")
	}
	if versioned {
		b.checkVersioned()
	} else if len(s.Compared) == len(b.Compare) &&
		!slices.ContainsFunc(s.Compared, func(i int) bool { return s.Columns[i].NeverAbsent() }) {
		b.fault("", "", "Compare needs a column that is never absent (no pointer, time, slice or map): a row that does not "+
			"exist could pass for one in which all columns are null, and would be created")
	}
}

// checkTransactional rejects what transactions of Cassandra 6 do not have, or do not need.
func (b *builder) checkTransactional() {
	if len(b.Versions) == 0 {
		b.fault("", "", "Transactional without Versioned: the version tells a transaction that is sent again, after its "+
			"answer was lost, from a new one; declare Versioned(column)")
	}
	if b.LocalSerial {
		b.fault("", "", "Transactional with LocalSerial: a transaction of Cassandra 6 holds in the whole cluster; leave "+
			"LocalSerial out")
	}
}

func (b *builder) checkVersioned() {
	s := b.set
	base := s.Tables[0]
	for _, kept := range layout.KeptInBase {
		if _, ok := b.of[kept.Name]; ok && !b.Transactional {
			b.fault(base.Name, kept.Name, "the base table of a Versioned set has a column of this name of its own")
		}
	}
	if !slices.ContainsFunc(s.Regular(), func(i int) bool { return s.Columns[i].NeverAbsent() }) {
		b.fault(base.Name, "", "a Versioned set needs a column outside of the base key that is never absent: add one that "+
			"is no pointer, time, slice or map")
	}
	for _, t := range s.Tables {
		if len(t.Follows) > 0 {
			b.fault(t.Name, "", "hash buckets under several functions sweep, and a Versioned set does not")
		}
		if t.Rotation != nil && t == base {
			b.fault(t.Name, "", "the base table of a Versioned set cannot rotate: a version is one row's")
		}
	}
}
