package entity

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/fingerprint"
	"github.com/gocql/gocql"
)

// This file validates sets that are changed by lightweight transactions.

// Columns that the library keeps alongside those of the entity.
const (
	PendingColumn = fingerprint.PendingColumn // map<timeuuid, blob>, in the base table of a Versioned set
	TokenColumn   = fingerprint.TokenColumn   // timeuuid, in a Unique table
)

// readUnique reads a table with Table.Unique. It holds its key and that of the owner.
func (b *builder) readUnique(t *table, decl Table, base bool) {
	if base {
		b.fault(decl.Name, "", "the base table cannot be Unique: its key names the entity already")
		return
	}
	if decl.Rotate.kind != 0 {
		b.fault(decl.Name, "", "a Unique table cannot rotate: a key would be free again in the next table")
	}
	if of := b.Tables[0].Keyspace; decl.Keyspace != of {
		b.fault(decl.Name, "", "Keyspace is %q, and that of the base table is %q: the owner of a key is looked up in the base table, so each "+
			"keyspace that the base table is in could have an owner of its own; give the Unique table the Keyspace of the base table", decl.Keyspace, of)
	}
	t.columns = slices.Clone(t.key)
	if len(b.set.tables) > 0 {
		b.checkUnique(t, b.set.tables[0])
		for _, i := range b.set.tables[0].key {
			if !slices.Contains(t.columns, i) {
				t.columns = append(t.columns, i)
			}
		}
	}
	for _, name := range decl.Columns {
		if i, ok := b.column(decl.Name, name, "Columns"); ok && !slices.Contains(t.columns, i) {
			b.fault(decl.Name, name, "a Unique table holds its key and the base key of the owner, nothing else: leave Columns empty")
		}
	}
	for _, i := range t.key {
		if b.set.columns[i].derived != nil {
			b.fault(decl.Name, b.set.columns[i].name, "a derived column in the key of a Unique table: the base row does not hold it, so it would not say "+
				"who has the key; make it a column of its own")
		}
	}
	for _, i := range t.columns {
		if b.set.columns[i].name == TokenColumn && !b.Transactional {
			b.fault(decl.Name, TokenColumn, "a Unique table has a column of this name of its own")
		}
	}
	t.columnNames = b.set.names(t.columns)
	t.fieldNames = t.columnNames
	b.set.unique = append(b.set.unique, t)
}

// checkUnique rejects a key that holds that of the base table.
func (b *builder) checkUnique(t, base *table) {
	var names []string
	for _, i := range base.key {
		switch {
		case b.set.columns[i].derived != nil: // it follows from the others
		case slices.Contains(t.key, i):
			names = append(names, b.set.columns[i].name)
		default:
			return
		}
	}
	if len(names) > 0 && !b.bad[base] {
		b.fault(t.name, "", "a Unique table whose key contains the base key, so no two entities can ever want one key: leave %s out of PartKey and "+
			"SortKey, as the table holds the base key of the owner in any case", strings.Join(names, ", "))
	}
}

// readConditions reads Versioned, Compare and LocalSerial.
func (b *builder) readConditions() {
	s := b.set
	s.localSerial, s.transacted = b.LocalSerial, b.Transactional
	isUUID := func(c *column) bool {
		return c.goType == reflect.TypeFor[gocql.UUID]() && (c.cql.Kind() == gocql.TypeTimeUUID || c.cql.Kind() == gocql.TypeUUID)
	}
	s.version = b.special(b.Versions, "Versioned", "a Go gocql.UUID and CQL timeuuid", isUUID)
	if s.version >= 0 && s.columns[s.version].cql != nil && s.columns[s.version].cql.Kind() == gocql.TypeUUID {
		s.columns[s.version].cql = timeuuid // what a gocql.UUID stands for where nothing is declared is uuid
	}
	s.mark = b.special(b.Marks, "Mark", "a Go gocql.UUID and CQL uuid or timeuuid", isUUID)
	for _, name := range b.Compare {
		i, ok := b.column("", name, "Compare")
		switch {
		case !ok:
		case s.columns[i].key:
			b.fault("", name, "Compare is for columns that are no key: the row is found by its key")
		case slices.Contains(s.compare, i):
			b.fault("", name, "is in Compare twice")
		default:
			s.compare = append(s.compare, i)
		}
	}
	if len(b.Versions) > 0 {
		// Every key column may change, and moves by the before-image, which the condition makes the one that is there.
		for i := range s.columns {
			if c := &s.columns[i]; c.key && c.derived == nil && len(s.tables) > 0 && !s.identifies(i) {
				c.rule = singleWriter
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
	switch {
	case versioned:
		what = "Versioned"
	case !compared && b.LocalSerial:
		b.fault("", "", "LocalSerial without Versioned or Compare: nothing in the set is conditional")
	}
	if b.Transactional {
		b.checkTransactional()
	}
	if !versioned && len(b.set.unique) > 0 {
		b.fault(b.set.unique[0].name, "", "only a Versioned set can have Unique tables: who owns a key is decided by the version of the base row")
	}
	if !versioned && !compared || len(b.set.tables) == 0 {
		return
	}
	for _, r := range b.rules() {
		if r.there && r.conditions != "" {
			b.fault("", "", "%s with %s: %s", what, r.name, r.conditions)
		}
	}
	if compared && len(b.set.tables) > 1 {
		b.fault(b.set.tables[1].name, "", "a set with Compare has one table: the order of changes, which query tables follow, is known "+
			"only where rows have versions; declare Versioned")
	}
	if compared && s.tables[0].rotation != nil { // conditions, and what is read and stored of them, are of one table
		b.fault(s.tables[0].name, "", "the table of a set with Compare cannot rotate: declare it without Rotate, and delete old rows, or derive a "+
			"column of its partition key from the time")
	}
	if versioned {
		b.checkVersioned()
	} else if len(s.compare) == len(b.Compare) && !slices.ContainsFunc(s.compare, func(i int) bool { return neverAbsent(&s.columns[i]) }) {
		b.fault("", "", "Compare needs a column that is never absent (no pointer, time, slice or map): a row that does not exist could "+
			"pass for one in which all columns are null, and would be created")
	}
}

// checkTransactional rejects what transactions of Cassandra 6 do not have, or do not need.
func (b *builder) checkTransactional() {
	if len(b.Versions) == 0 {
		b.fault("", "", "Transactional without Versioned: the version tells a transaction that is sent again, after its answer was lost, from a new one; "+
			"declare Versioned(column)")
	}
	if b.LocalSerial {
		b.fault("", "", "Transactional with LocalSerial: a transaction of Cassandra 6 holds in the whole cluster; leave LocalSerial out")
	}
}

func (b *builder) checkVersioned() {
	s := b.set
	base := s.tables[0]
	if _, ok := b.of[PendingColumn]; ok && !b.Transactional {
		b.fault(base.name, PendingColumn, "the base table of a Versioned set has a column of this name of its own")
	}
	if !slices.ContainsFunc(s.regular(), func(i int) bool { return neverAbsent(&s.columns[i]) }) {
		b.fault(base.name, "", "a Versioned set needs a column besides the base key that is never absent (no pointer, time, slice or map): "+
			"a base row without columns is that of a deleted entity")
	}
	for _, t := range s.tables {
		if len(t.follows) > 0 {
			b.fault(t.name, "", "hash buckets under several functions sweep, and a Versioned set does not")
		}
		if t.rotation != nil && t == base {
			b.fault(t.name, "", "the base table of a Versioned set cannot rotate: a version is one row's")
		}
	}
}

// neverAbsent says whether every value of the column is written as one.
func neverAbsent(c *column) bool {
	if c.cql == nil || c.cql.MultiCell() {
		return false
	}
	switch c.goType.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return false
	}
	return c.goType != reflect.TypeFor[time.Time]() && !c.marshals
}
