// Package entity is a set as writer, reader, schema and rotation see it: the checked declaration, and what a change becomes by it, which
// is mutations, conditions and claims, in memory and as bytes. It is pure: no I/O, no session, no clock. Package tables is its face.
package entity

import (
	"reflect"
	"slices"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/gocql/gocql"
)

// Entity is the name of the set.
func (s *Set) Entity() string { return s.entity }

// Select is [Set.SelectIn] of the declared keyspace.
func (s *Set) Select() (stmt string, names []string) { return s.SelectIn(s.tables[0].keyspace) }

// SelectIn is [Set.Select] with the base table in the given keyspace; empty stands for the session's.
func (s *Set) SelectIn(keyspace string) (stmt string, names []string) {
	base := s.tables[0]
	return base.statements(keyspace, base.name).sel, slices.Clone(base.keyNames)
}

// Key encodes the base key of row, as values to be bound to [Set.Select] in this order. It returns an *[InvalidError]
// if the row has no valid key. Other fields of row are not looked at.
func (s *Set) Key(row any) ([]any, error) {
	base := s.tables[0]
	encoded, err := s.identity(row)
	if err != nil {
		return nil, err
	}
	return statement.AppendArgs(nil, base.keyOf(encoded)), nil
}

// SelectRow is [Set.SelectIn] for the entity of row, with the values to bind. In a set whose base table rotates, only this
// names the table that has the row. Of row the fields are used that identify the entity.
func (s *Set) SelectRow(keyspace string, row any) (stmt string, names []string, values []any, err error) {
	base := s.tables[0]
	encoded, err := s.identity(row)
	if err != nil {
		return "", nil, nil, err
	}
	name := base.name
	if base.rotation != nil {
		clock := instantOf(&encoded[base.rotation.clock])
		if _, err := base.rotation.versions[0].bucket.text(clock); err != nil {
			return "", nil, nil, s.invalid(base, "", err.Error())
		}
		name = base.rotated(clock)
	}
	return base.statements(keyspace, name).sel, slices.Clone(base.keyNames), statement.AppendArgs(nil, base.keyOf(encoded)), nil
}

// identity encodes what identifies the entity of row, by column.
func (s *Set) identity(row any) ([]cqltype.Value, error) {
	return s.encodeRow(reflect.ValueOf(row), s.identifies, s.inBaseKey)
}

// encodeRow encodes those columns of row that wanted says, and derives those that derived says, by column.
func (s *Set) encodeRow(row reflect.Value, wanted, derived func(i int) bool) ([]cqltype.Value, error) {
	values := make([]cqltype.Value, len(s.columns))
	for i := range s.columns {
		if s.columns[i].derived != nil || !wanted(i) {
			continue
		}
		v, err := s.encode(row, i)
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	return values, s.derive(values, derived)
}

// SetStamp stores timestamp, in microseconds, in the stamp field of row. It does nothing in a set without [Stamp].
func (s *Set) SetStamp(row any, timestamp int64) {
	if s.stamp >= 0 {
		reflect.ValueOf(row).Elem().FieldByIndex(s.columns[s.stamp].index).SetInt(timestamp)
	}
}

// Base is the base row of the entity of key, of which the fields are used that identify it. keyspace maps the logical
// keyspace of a table to the physical one; nil leaves them as declared. The error is an [*InvalidError].
func (s *Set) Base(key any, keyspace func(string) string) (*Base, error) {
	encoded, err := s.identity(key)
	if err != nil {
		return nil, err
	}
	return s.base(orDeclared(keyspace), encoded), nil
}

// orDeclared is a map of keyspaces, or that which leaves them as declared.
func orDeclared(keyspace func(string) string) func(string) string {
	if keyspace == nil {
		return func(name string) string { return name }
	}
	return keyspace
}

// Conditional says whether the set is [Versioned] or has [Compare]. A nil set is not.
func (s *Set) Conditional() bool { return s != nil && (s.version >= 0 || len(s.compare) > 0) }

// SetVersion stores version in the version field of row. It does nothing in a set that is not [Versioned].
func (s *Set) SetVersion(row any, version gocql.UUID) {
	if s.version >= 0 {
		reflect.ValueOf(row).Elem().FieldByIndex(s.columns[s.version].index).Set(reflect.ValueOf(version))
	}
}

// Set is the validated declaration of a tables.Set. It is immutable and safe for concurrent use.
type Set struct {
	entity       string
	typ          reflect.Type
	declared     Declaration // for TypeAdvice
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
	transacted   bool // Transactional
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
	domain   []*cqltype.Value // of a oneOf column, in declared order
	aliases  bool             // the driver's encoding may share memory with the field
	isTime   bool             // a zero time.Time is absent
	derived  *derivation      // nil for a column of its own
	marshals bool             // the field's type encodes itself
	composed bool             // the type has types inside, and the field's type does not encode itself
}

// names are those of columns.
func (s *Set) names(columns []int) []string {
	out := make([]string, len(columns))
	for n, i := range columns {
		out[n] = s.columns[i].name
	}
	return out
}

// nameOf is the name of column i, empty if i is -1.
func (s *Set) nameOf(i int) string {
	if i < 0 {
		return ""
	}
	return s.columns[i].name
}

func (s *Set) invalid(t *table, column, reason string) error {
	e := &InvalidError{Entity: s.entity, Column: column, Reason: reason}
	if t != nil {
		e.Table = t.name
	}
	return e
}
