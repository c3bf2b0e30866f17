package entity

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/denorm-go/denorm/internal/statement"
)

// table is a validated Table: key and columns are positions in set.columns.
type table struct {
	name, keyspace string
	key            []int       // primary key columns: the partition key, then the clustering columns
	part           int         // how many of key are the partition key
	desc           []bool      // by position in key
	sweeps         []int       // positions in key of its OneOf columns
	moves          []int       // positions in key of its SingleWriter columns, and of derived ones that follow from such
	follows        []int       // positions in key of derived columns that have several values for one row: see sweep
	swept          []int       // sweeps, then follows
	columns        []int       // all columns, those of key first
	counters       []int       // columns that are counters; all but those of key, or none
	rotation       *derivation // nil if there is one table
	columnNames    []string
	fieldNames     []string // of the columns that are fields
	keyNames       []string
	hidden         bool // from readers

	// The CQL texts by physical keyspace and table: a service has one keyspace, or one a tenant, and a table that rotates a few
	// names. first are those that were needed first; most services need no other.
	first    atomic.Pointer[statements]
	mu       sync.RWMutex
	compiled map[[2]string]*statements
}

// maxTexts bounds compiled, as names may follow from what clients send.
const maxTexts = 1024

// statements are the CQL texts of one table in one keyspace, with the names of their bound values.
type statements struct {
	keyspace, name string

	insert, insertTTL, delete, sel     string
	insertNames, ttlNames, deleteNames []string

	increment      string // of all counters, where the table has any
	incrementNames []string
}

func (t *table) statements(keyspace, name string) *statements {
	if s := t.first.Load(); s != nil && s.keyspace == keyspace && s.name == name {
		return s
	}
	id := [2]string{keyspace, name}
	t.mu.RLock()
	s := t.compiled[id]
	t.mu.RUnlock()
	if s != nil {
		return s
	}
	s = t.compile(keyspace, name)
	if t.first.CompareAndSwap(nil, s) {
		return s
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.compiled[id]; s != nil { // by another goroutine meanwhile
		return s
	}
	if len(t.compiled) >= maxTexts {
		for other := range t.compiled {
			delete(t.compiled, other)
			break
		}
	}
	if t.compiled == nil {
		t.compiled = make(map[[2]string]*statements)
	}
	t.compiled[id] = s
	return s
}

func (t *table) compile(keyspace, table string) *statements {
	s, name := statements{keyspace: keyspace, name: table}, statement.Qualified(keyspace, table)
	s.insert, s.insertNames = statement.PutText(name, t.columnNames, false)
	s.insertTTL, s.ttlNames = statement.PutText(name, t.columnNames, true)
	s.delete, s.deleteNames = statement.RemoveText(name, t.keyNames)
	if len(t.counters) > 0 {
		s.increment, s.incrementNames = statement.IncrementText(name, t.columnNames[len(t.key):], t.keyNames)
	}
	s.sel = "SELECT " + strings.Join(t.fieldNames, ",") + " FROM " + name + statement.Where(t.keyNames)
	return &s
}
