package tables

import (
	"strings"
	"sync/atomic"

	"github.com/scylladb/gocqlx/v2/qb"
)

// Table declares one Cassandra table of an entity: a row of the entity stands in it under the key it names. The first
// Table given to [New] is the base table. A Table is an [Option] of [New].
type Table struct {
	// Name of the table, an unquoted CQL identifier. Required.
	Name string
	// Keyspace is the logical name of the table's keyspace, which writer.Keyspaces may map to another one. Empty stands
	// for the keyspace of the session.
	Keyspace string
	// PartKey names the partition key columns, in order. Required.
	PartKey []string
	// SortKey names the clustering columns, in order, each optionally followed by ASC (the default) or DESC.
	SortKey []string
	// Columns names the columns that the table holds beside its key. Nil stands for all columns of the entity. The base
	// table holds all of them.
	Columns []string
}

func (t Table) apply(d *declaration) { d.tables = append(d.tables, t) }

// table is a validated Table: key and columns are positions in set.columns.
type table struct {
	name, keyspace string
	key            []int  // primary key columns: the partition key, then the clustering columns
	part           int    // how many of key are the partition key
	desc           []bool // by position in key
	sweeps         []int  // positions in key of its OneOf columns
	moves          []int  // positions in key of its SingleWriter columns
	columns        []int  // all columns, those of key first
	columnNames    []string
	keyNames       []string

	// compiled holds the CQL texts by physical keyspace, copied on write: a service has one keyspace, or one a tenant.
	compiled atomic.Pointer[map[string]*statements]
}

// statements are the CQL texts of one table in one keyspace, with the names of their bound values.
type statements struct {
	insert, insertTTL, delete, sel     string
	insertNames, ttlNames, deleteNames []string
}

// Names under which the values of USING clauses are bound. The brackets keep them apart from columns.
const (
	timestampName = "[timestamp]"
	ttlName       = "[ttl]"
)

func (t *table) statements(keyspace string) *statements {
	for {
		known := t.compiled.Load()
		if known != nil {
			if s, ok := (*known)[keyspace]; ok {
				return s
			}
		}
		next := make(map[string]*statements)
		if known != nil {
			for k, s := range *known {
				next[k] = s
			}
		}
		next[keyspace] = t.compile(keyspace)
		if t.compiled.CompareAndSwap(known, &next) {
			return next[keyspace]
		}
	}
}

func (t *table) compile(keyspace string) *statements {
	name := t.name
	if keyspace != "" {
		name = keyspace + "." + t.name
	}
	where := make([]qb.Cmp, len(t.keyNames))
	for i, k := range t.keyNames {
		where[i] = qb.Eq(k)
	}
	var s statements
	s.insert, s.insertNames = qb.Insert(name).Columns(t.columnNames...).TimestampNamed(timestampName).ToCql()
	s.insertTTL, s.ttlNames = qb.Insert(name).Columns(t.columnNames...).
		TTLNamed(ttlName).TimestampNamed(timestampName).ToCql()
	s.delete, s.deleteNames = qb.Delete(name).TimestampNamed(timestampName).Where(where...).ToCql()
	s.sel, _ = qb.Select(name).Columns(t.columnNames...).Where(where...).ToCql()
	for _, text := range []*string{&s.insert, &s.insertTTL, &s.delete, &s.sel} {
		*text = strings.TrimSpace(*text)
	}
	return &s
}
