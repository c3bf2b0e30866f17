package tables

import (
	"reflect"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// Set is an entity's tables, declared once and used by every write of the entity. Its verbs are pure: they say what is
// to change, and a writer makes it happen. It is immutable and safe for concurrent use.
type Set[T any] struct{ def *set }

// New declares the tables of an entity whose rows are T, a struct. Columns are the exported fields of T, named as
// gocqlx names them: snake case, or the db tag; db:"-" leaves a field out. The error, a [*DeclarationError], names
// every fault at once; a set that New returned cannot fail later for a reason that could be known now.
//
// The entity's name must not change, no more than that of a table: versions and marks are made of it as well, so a
// request that is repeated across the change is no longer recognised.
func New[T any](entity string, options ...Option) (*Set[T], error) {
	def, err := declare(entity, reflect.TypeFor[T](), options)
	if err != nil {
		return nil, err
	}
	return &Set[T]{def: def}, nil
}

// Must returns the set, or panics with the error: for declarations in package variables.
func Must[T any](s *Set[T], err error) *Set[T] {
	if err != nil {
		panic(err)
	}
	return s
}

// Insert is the first write of an entity under a fresh id: it writes the row to every table and looks at nothing else.
// Absent values (nil pointer, nil slice or map, zero time.Time, empty map or set) are left out, without tombstones. A
// client that repeats its request repeats it with the first try's timestamp. The row is encoded by the write: what it points to
// must not change until then. A row that has expired already ([ExpiresAt]) is an error, here and in every other verb that writes a row.
//
// An Insert of an entity that exists leaves its rows under other keys where they are, unless the set has [SweepInserts] or is [Versioned].
// A stamp in the row does not prevent that: an Insert ignores it. To change an entity use [Set.Update].
//
// After a Delete of the same entity by a process whose clock is ahead, an Insert by another process is older than the Delete until
// that process's clock has caught up: it is acknowledged, and the row is never seen. Nothing in an Insert tells of the Delete.
// Use a fresh id, or a [Versioned] set, whose inserts look for what was there.
func (s *Set[T]) Insert(row T) Change { return s.change(Insert, nil, row) }

// Update replaces the row before, as it was read or last written, by after. The whole row is written to every table;
// absent values are sent as null, one cell tombstone each; where a key changes, the row moves. Of before the base key,
// the other key columns and the stamp are used, which must not be zero in a set with [OneOf]: a row that this process has
// inserted gets it from Result.Timestamp; in a set with conditions also the version, or the compared columns. Both rows are
// encoded by the write, so before must be what was read until then: a row that was changed in place, behind a pointer or in a
// slice or map that its copy shares, says nothing of what it was. In a [Versioned] set the write is then rejected as invalid; in others the
// row under its former key stays. Give the fields of after memory of their own, or use [Set.Updating].
//
// An Update is no optimistic lock: before is not compared with the row, and of two Updates from one before-image the
// later one wins, column by column. Where the second one has to fail, declare [Versioned] or [Compare].
func (s *Set[T]) Update(before, after T) Change { return s.change(Update, before, after) }

// Upsert writes the row whether or not the entity exists. It writes the whole row: absent values are sent as null. To write
// single columns use [Set.Patch]. It is for sets without changing key columns, and for sets with [SweepInserts].
func (s *Set[T]) Upsert(row T) Change { return s.change(Upsert, nil, row) }

// Delete removes the entity from every table. Of before the key columns and the stamp are used; see [Set.Update]. Pass the row as it was
// read: of one made of its id alone the other key columns are zero, and the tables keyed by these keep their rows.
func (s *Set[T]) Delete(before T) Change { return s.change(Delete, before, nil) }

// empty says whether the set is nil, or not made by New.
func (s *Set[T]) empty() bool { return s == nil || s.def == nil }

// change is not valid if the set is nil.
func (s *Set[T]) change(kind Kind, before, after any) Change {
	if s.empty() {
		return Change{Kind: kind, Before: before, After: after}
	}
	return Change{Entity: s.def.entity, Kind: kind, Before: before, After: after, set: s.def}
}

// Select is the CQL that reads an entity's base row by its key, with the names of the values to bind: the before-image
// of an Update. The keyspace in it is the declared one. In a [Versioned] set it also finds the row that a deleted
// entity leaves for [FenceTTL], which writer.Load does not return. Where the base table rotates use [Set.SelectRow].
func (s *Set[T]) Select() (stmt string, names []string) {
	return s.SelectIn(s.def.tables[0].keyspace)
}

// SelectIn is [Set.Select] with the base table in the given keyspace; empty stands for the session's.
func (s *Set[T]) SelectIn(keyspace string) (stmt string, names []string) {
	base := s.def.tables[0]
	return base.statements(keyspace, base.name).sel, append([]string(nil), base.keyNames...)
}

// Key encodes the base key of row, as values to be bound to [Set.Select] in this order. It returns an *[InvalidError]
// if the row has no valid key. Other fields of row are not looked at.
func (s *Set[T]) Key(row T) ([]any, error) {
	base := s.def.tables[0]
	encoded, err := s.def.identity(reflect.ValueOf(row))
	if err != nil {
		return nil, err
	}
	values := make([]any, 0, len(base.key))
	for _, i := range base.key {
		values = append(values, &encoded[i])
	}
	return values, nil
}

// SelectRow is [Set.SelectIn] for the entity of row, with the values to bind. In a set whose base table rotates, only this
// names the table in which the row stands. Of row the fields are used that identify the entity.
func (s *Set[T]) SelectRow(keyspace string, row T) (stmt string, names []string, values []any, err error) {
	base := s.def.tables[0]
	encoded, err := s.def.identity(reflect.ValueOf(row))
	if err != nil {
		return "", nil, nil, err
	}
	for _, i := range base.key {
		values = append(values, &encoded[i])
	}
	name := base.name
	if base.rotation != nil {
		if _, err := base.rotation.versions[0].bucket.text(instantOf(&encoded[base.rotation.clock])); err != nil {
			return "", nil, nil, s.def.invalid(base, "", err.Error())
		}
		name = base.rotated(instantOf(&encoded[base.rotation.clock]))
	}
	return base.statements(keyspace, name).sel, append([]string(nil), base.keyNames...), values, nil
}

// identity encodes what identifies the entity of row, by column.
func (s *set) identity(row reflect.Value) ([]Value, error) {
	encoded := make([]Value, len(s.columns))
	for i := range s.columns {
		if s.columns[i].derived != nil || !s.identifies(i) {
			continue
		}
		v, err := s.encode(row, i)
		if err != nil {
			return nil, err
		}
		encoded[i] = v
	}
	return encoded, s.derive(encoded, s.inBaseKey)
}

// SetStamp stores timestamp, in microseconds, in the stamp field of row. It does nothing in a set without [Stamp].
func (s *Set[T]) SetStamp(row *T, timestamp int64) {
	if s.def.stamp >= 0 {
		reflect.ValueOf(row).Elem().FieldByIndex(s.def.columns[s.def.stamp].index).SetInt(timestamp)
	}
}

// Base is the base row of the entity of key, of which the fields are used that identify it. keyspace maps the logical
// keyspace of a table to the physical one; nil leaves them as declared. The error is an [*InvalidError].
func (s *Set[T]) Base(key T, keyspace func(string) string) (*Base, error) {
	encoded, err := s.def.identity(reflect.ValueOf(key))
	if err != nil {
		return nil, err
	}
	if keyspace == nil {
		keyspace = func(name string) string { return name }
	}
	return s.def.base(keyspace, encoded), nil
}

// Conditional says whether the set is [Versioned] or has [Compare].
func (s *Set[T]) Conditional() bool { return s.def.conditional() }

// SetVersion stores version in the version field of row. It does nothing in a set that is not [Versioned].
func (s *Set[T]) SetVersion(row *T, version gocql.UUID) {
	if s.def.version >= 0 {
		reflect.ValueOf(row).Elem().FieldByIndex(s.def.columns[s.def.version].index).Set(reflect.ValueOf(version))
	}
}

// set is the validated declaration, without the type parameter.
type set struct {
	entity       string
	typ          reflect.Type
	declared     declaration // for TypeAdvice
	columns      []column
	tables       []*table // the base table first
	derived      []int    // columns of Derive
	stamp        int      // column of Stamp, or -1
	unstamped    bool     // rows without a stamp exist
	expiry       int      // column of ExpiresAt, or -1
	sweepInserts bool
	counts       bool // all columns alongside the keys are counters
	atomic       bool
	unique       []*table // tables with Table.Unique, which are not among tables
	version      int      // column of Versioned, or -1
	compare      []int    // columns of Compare
	mark         int      // column of Mark, or -1
	localSerial  bool
}

// changeRule says how a key column may change.
type changeRule uint8

const (
	immutable changeRule = iota
	oneOf
	singleWriter
)

type column struct {
	name     string
	index    []int // of the field in T; nil if it is derived and no field
	goType   reflect.Type
	cql      *cqltype.Type
	key      bool // in the primary key of some table
	rule     changeRule
	domain   []Value     // of a oneOf column, in declared order
	aliases  bool        // the driver's encoding may share memory with the field
	isTime   bool        // a zero time.Time is absent
	derived  *derivation // nil for a column of its own
	marshals bool        // the field's type encodes itself
	composed bool        // the type holds user-defined types or tuples
}

func (s *set) invalid(t *table, column, reason string) error {
	e := &InvalidError{Entity: s.entity, Column: column, Reason: reason}
	if t != nil {
		e.Table = t.name
	}
	return e
}
