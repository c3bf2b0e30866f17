package layout

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
)

// Table is a validated Table: key and columns are positions in set.columns.
type Table struct {
	Name, Keyspace string
	Key            []int       // primary key columns: the partition key, then the clustering columns
	Part           int         // how many of key are the partition key
	Desc           []bool      // by position in key
	Sweeps         []int       // positions in key of its OneOf columns
	Moves          []int       // positions in key of its SingleWriter columns, and of derived ones that follow from such
	Follows        []int       // positions in key of derived columns that have several values for one row: see sweep
	Swept          []int       // sweeps, then follows
	Read           []int       // all columns, those of key first
	Columns        []int       // those of Read that are written
	Leads          []int       // columns alongside the key that lead to base rows: what the key lacks of the base key
	Counters       []int       // columns that are counters; all but those of key, or none
	Rotation       *Derivation // nil if there is one table
	ColumnNames    []string
	FieldNames     []string // of the columns that are fields
	KeyNames       []string
	Hidden         bool // from readers

	// The CQL texts by physical keyspace and table: a service has one keyspace, or one a tenant, and a table that rotates
	// a few names. first are those that were needed first; most services need no other.
	first    atomic.Pointer[Statements]
	mu       sync.RWMutex
	compiled map[[2]string]*Statements
}

// maxTexts bounds compiled, as names may follow from what clients send.
const maxTexts = 1024

// Statements are the CQL texts of one table in one keyspace, with the names of their bound values.
type Statements struct {
	keyspace, name string

	Insert, InsertTTL, Delete, Select  string
	InsertNames, TTLNames, DeleteNames []string

	Increment      string // of all counters, where the table has any
	IncrementNames []string
}

// Statements are the texts of the table in a physical keyspace, under its name there. They are compiled once.
func (t *Table) Statements(keyspace, name string) *Statements {
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
		t.compiled = make(map[[2]string]*Statements)
	}
	t.compiled[id] = s
	return s
}

func (t *Table) compile(keyspace, table string) *Statements {
	s, name := Statements{keyspace: keyspace, name: table}, statement.Qualified(keyspace, table)
	s.Insert, s.InsertNames = statement.PutText(name, t.ColumnNames, false)
	s.InsertTTL, s.TTLNames = statement.PutText(name, t.ColumnNames, true)
	s.Delete, s.DeleteNames = statement.RemoveText(name, t.KeyNames)
	if len(t.Counters) > 0 {
		s.Increment, s.IncrementNames = statement.IncrementText(name, t.ColumnNames[len(t.Key):], t.KeyNames)
	}
	s.Select = "SELECT " + strings.Join(t.FieldNames, ",") + " FROM " + name + statement.Where(t.KeyNames)
	return &s
}

// KeyOf gives the primary key of row in t, in key order.
func (t *Table) KeyOf(row []cqltype.Value) []*cqltype.Value { return pick(t.Key, row) }

// pick gives those values of a row.
func pick(columns []int, row []cqltype.Value) []*cqltype.Value {
	out := make([]*cqltype.Value, len(columns))
	for n, i := range columns {
		out[n] = &row[i]
	}
	return out
}

// PartitionSize is the length of the partition key of row in t if it has several columns. A single column is bounded
// as a key column.
func (t *Table) PartitionSize(row []cqltype.Value) int {
	if t.Part == 1 || row == nil {
		return 0
	}
	size := 0
	for _, i := range t.Key[:t.Part] {
		if row[i].Data == nil {
			return 0 // no row in this table
		}
		size += len(row[i].Data) + statement.ComponentOverhead
	}
	return size
}

// Fits says whether Cassandra takes a key of t. A partition key is not empty. Each clustering column is within the
// limit, and together they may be above it (ClusteringPrefix.validate).
func (t *Table) Fits(key []*cqltype.Value) bool {
	if t.Part == 1 && !Holdable(key[0].Data) {
		return false
	}
	size := 0
	for _, v := range key[t.Part:] {
		size += len(v.Data)
	}
	return size <= statement.MaxKeyBytes
}

// Holdable says whether data can be the only column of a partition key.
func Holdable(data []byte) bool { return len(data) > 0 && len(data) <= statement.MaxKeyBytes }

// Statements gives, for a table of the set in the given physical keyspace, the CQL texts that its mutations carry. A
// writer prepares them ahead.
func (s *Set) Statements(table int, keyspace string) []string {
	if table >= len(s.Tables) || table == 0 && s.Conditional() {
		return nil // lightweight transactions, whose texts depend on the change
	}
	t := s.Tables[table]
	st := t.Statements(keyspace, t.Name)
	if s.Counts {
		return []string{st.Increment}
	}
	if s.Expiry >= 0 {
		return []string{st.Insert, st.InsertTTL, st.Delete}
	}
	return []string{st.Insert, st.Delete}
}
