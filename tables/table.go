package tables

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/scylladb/gocqlx/v2/qb"
)

// Table declares one Cassandra table of an entity: a row of the entity stands in it under the key it names. The first
// Table given to [New] is the base table. A Table is an [Option] of [New].
type Table struct {
	// Name of the table, an unquoted CQL identifier. Required.
	Name string
	// Keyspace is the logical name of the table's keyspace, which session.Keyspaces may map to another one. Empty stands
	// for the keyspace of the session.
	Keyspace string
	// PartKey names the partition key columns, in order. Required.
	PartKey []string
	// SortKey names the clustering columns, in order, each optionally followed by ASC (the default) or DESC.
	SortKey []string
	// Columns names the columns that the table holds alongside its key. Nil stands for all columns of the entity. The base
	// table holds all of them. In a row read from such a table the other fields are zero: it is no before-image, and no row to write,
	// which would make them null or zero in every table. Read the base row, or use writer.Modify.
	Columns []string
	// Rotate, if given, is a time bucket function, and the table is one of many, a table a bucket: Name is followed by the
	// text of the bucket, as in events_2024_01 for Month. Its column has to be in the key of the table. Package
	// rotation creates them ahead and drops old ones; schema.Ensure creates the one of the present. The function must
	// not change while the table keeps its name: rows would be looked for in other tables, and dropped at another time.
	Rotate Bucket
	// Unique makes the table a register of keys that only one entity can have, such as e-mail addresses. Its primary key is
	// what has to be unique; alongside it the table holds the base key of the owner, and a column named claim (timeuuid), which
	// is no field. Only a [Versioned] set can have such tables, and Keyspace must be that of the base table, in which owners are looked
	// up: a key has one owner a keyspace, so tenants with keyspaces of their own each have one. It is of one entity: two sets that share it
	// would not see each other's owners, and writer.Check rejects that by the table's fingerprint.
	//
	// Keys are compared by their bytes: "A@x.org" and "a@x.org" can have two owners, so write them in one spelling.
	//
	// A row of the table is a claim. That of a write under way, or of a client that died, is there before the base row has the key, and may
	// stay without it: who looks an owner up reads its base row too, and believes that.
	//
	// A key is claimed by the insert or update that gives it to its entity. Rows from before the table was declared have no claims, and
	// no update that leaves their keys makes one: their keys are free to be taken until each has a claim made by hand, while nothing else writes
	// the entity, as with INSERT INTO users_by_email (email, user_id, claim) VALUES (?, ?, now()) IF NOT EXISTS.
	Unique bool
}

func (t Table) apply(d *declaration) { d.tables = append(d.tables, t) }

// table is a validated Table: key and columns are positions in set.columns.
type table struct {
	name, keyspace string
	key            []int       // primary key columns: the partition key, then the clustering columns
	part           int         // how many of key are the partition key
	desc           []bool      // by position in key
	sweeps         []int       // positions in key of its OneOf columns
	moves          []int       // positions in key of its SingleWriter columns, and of derived ones that follow from such
	follows        []int       // positions in key of derived columns that have several values for one row: see sweep
	columns        []int       // all columns, those of key first
	counters       []int       // columns that are counters; all but those of key, or none
	rotation       *derivation // nil if there is one table
	columnNames    []string
	fieldNames     []string // of the columns that are fields
	keyNames       []string

	// The CQL texts by physical keyspace and table: a service has one keyspace, or one a tenant, and a table that rotates a few
	// names. first are those that were needed first; most services need no other.
	first    atomic.Pointer[statements]
	compiled atomic.Pointer[texts]
}

// texts is a cache of bounded size, as names may follow from what clients send. A text can be in any of a few slots, from the one
// that its hash says; where these are taken it takes the place of another.
type texts [1024]atomic.Pointer[statements]

const slotsOfText = 4

var textSeed = maphash.MakeSeed()

// statements are the CQL texts of one table in one keyspace, with the names of their bound values.
type statements struct {
	keyspace, name string

	insert, insertTTL, delete, sel     string
	insertNames, ttlNames, deleteNames []string

	increment      string // of all counters, where the table has any
	incrementNames []string
}

// Names under which the values of USING clauses are bound. The brackets keep them apart from columns.
const (
	timestampName = "[timestamp]"
	ttlName       = "[ttl]"
)

func (t *table) statements(keyspace, name string) *statements {
	if s := t.first.Load(); s != nil && s.keyspace == keyspace && s.name == name {
		return s
	}
	cache := t.compiled.Load()
	if cache == nil {
		t.compiled.CompareAndSwap(nil, new(texts))
		cache = t.compiled.Load()
	}
	hash := maphash.Comparable(textSeed, [2]string{keyspace, name})
	at := func(n uint64) *atomic.Pointer[statements] { return &cache[(hash+n)%uint64(len(cache))] }
	for n := range uint64(slotsOfText) {
		if s := at(n).Load(); s != nil && s.keyspace == keyspace && s.name == name {
			return s
		}
	}
	s := t.compile(keyspace, name)
	if t.first.CompareAndSwap(nil, s) {
		return s
	}
	for n := range uint64(slotsOfText) {
		if at(n).CompareAndSwap(nil, s) {
			return s
		}
	}
	at(hash >> 32 % slotsOfText).Store(s)
	return s
}

func (t *table) compile(keyspace, table string) *statements {
	s, name := statements{keyspace: keyspace, name: table}, qualified(keyspace, table)
	s.insert, s.insertNames = putText(name, t.columnNames, false)
	s.insertTTL, s.ttlNames = putText(name, t.columnNames, true)
	s.delete, s.deleteNames = removeText(name, t.keyNames)
	if len(t.counters) > 0 {
		s.increment, s.incrementNames = incrementText(name, t.counterNames(), t.keyNames)
	}
	s.sel, _ = trimmed(qb.Select(name).Columns(t.fieldNames...).Where(where(t.keyNames)...).ToCql())
	return &s
}

// qualified is the name of a table in CQL text. An empty keyspace is that of the session.
func qualified(keyspace, table string) string {
	if keyspace == "" {
		return table
	}
	return keyspace + "." + table
}

// putText compiles a Put, and removeText a Remove, with the names of what is to be bound. These two make every statement
// that changes something, also one that comes out of storage.
func putText(qualified string, columns []string, ttl bool) (text string, names []string) {
	insert := qb.Insert(qualified).Columns(columns...)
	if ttl {
		insert.TTLNamed(ttlName)
	}
	return trimmed(insert.TimestampNamed(timestampName).ToCql())
}

func removeText(qualified string, keys []string) (text string, names []string) {
	return trimmed(qb.Delete(qualified).TimestampNamed(timestampName).Where(where(keys)...).ToCql())
}

func where(keys []string) []qb.Cmp {
	out := make([]qb.Cmp, len(keys))
	for i, k := range keys {
		out[i] = qb.Eq(k)
	}
	return out
}

func trimmed(text string, names []string) (string, []string) { return strings.TrimSpace(text), names }
