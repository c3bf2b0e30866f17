// Package layout is a checked declaration: the tables, columns, keys and buckets of a set, and how values of Go are
// encoded for them. It is pure: no I/O, no session, no clock.
package layout

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/printable"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/gocql/gocql"
)

// Entity is the name of the set.
func (s *Set) Entity() string { return s.Name }

// Select reads a row of the base table in the declared keyspace. The names are those of the values to bind.
func (s *Set) Select() (stmt string, names []string) {
	base := s.Tables[0]
	return base.Statements(base.Keyspace, base.Name).Select, slices.Clone(base.KeyNames)
}

// Key encodes the base key of row, as values to be bound to [Set.Select] in this order. It returns an *[InvalidError]
// if the row has no valid key. Other fields of row are not looked at.
func (s *Set) Key(row any) ([]any, error) {
	base := s.Tables[0]
	encoded, err := s.Identity(row)
	if err != nil {
		return nil, err
	}
	return statement.AppendArgs(nil, base.KeyOf(encoded)), nil
}

// SelectRow is [Set.Select] for the entity of row in a physical keyspace, with the key to bind. In a set whose base
// table rotates, only this names the table that has the row. Of row the fields are used that identify the entity.
func (s *Set) SelectRow(keyspace string, row any) (table, stmt string, key []*cqltype.Value, err error) {
	base := s.Tables[0]
	encoded, err := s.Identity(row)
	if err != nil {
		return "", "", nil, err
	}
	name := base.Name
	if base.Rotation != nil {
		clock := encoded[base.Rotation.Clock].Instant()
		if _, err := base.Rotation.Versions[0].Bucket.Text(clock); err != nil {
			return "", "", nil, s.Invalid(base, "", err.Error())
		}
		name = base.Rotated(clock)
	}
	return name, base.Statements(keyspace, name).Select, base.KeyOf(encoded), nil
}

// Identity encodes what identifies the entity of row, by column.
func (s *Set) Identity(row any) ([]cqltype.Value, error) {
	return s.EncodeRow(reflect.ValueOf(row), s.Identifies, s.InBaseKey)
}

// EncodeRow encodes those columns of row that wanted says, and derives those that derived says, by column.
func (s *Set) EncodeRow(row reflect.Value, wanted, derived func(i int) bool) ([]cqltype.Value, error) {
	values := make([]cqltype.Value, len(s.Columns))
	for i := range s.Columns {
		if s.Columns[i].Derived != nil || !wanted(i) {
			continue
		}
		v, err := s.Encode(row, i)
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	return values, s.Derive(values, derived)
}

// SetStamp stores timestamp, in microseconds, in the stamp field of row. It does nothing in a set without [Stamp].
func (s *Set) SetStamp(row any, timestamp int64) {
	if s.Stamp >= 0 {
		reflect.ValueOf(row).Elem().FieldByIndex(s.Columns[s.Stamp].Index).SetInt(timestamp)
	}
}

// Conditional says whether the set is [Versioned] or has [Compare]. A nil set is not.
func (s *Set) Conditional() bool { return s != nil && (s.Version >= 0 || len(s.Compared) > 0) }

// SetVersion stores version in the version field of row. It does nothing in a set that is not [Versioned].
func (s *Set) SetVersion(row any, version gocql.UUID) {
	if s.Version >= 0 {
		reflect.ValueOf(row).Elem().FieldByIndex(s.Columns[s.Version].Index).Set(reflect.ValueOf(version))
	}
}

// Set is the validated declaration of a tables.Set. It is immutable and safe for concurrent use.
type Set struct {
	Name          string
	Go            reflect.Type
	Declaration   any // the declare.Declaration that it was made of, for package schema
	Columns       []Column
	Tables        []*Table // the base table first
	Derived       []int    // columns of Derive
	ID            []int    // columns of ID, or else of the base key: no two entities have the same
	Stamp         int      // column of Stamp, or -1
	Unstamped     bool     // rows without a stamp exist
	Expiry        int      // column of ExpiresAt, or -1
	SweepInserts  bool
	Counts        bool // all columns alongside the keys are counters
	Atomic        bool
	Unique        []*Table // tables with Table.Unique, which are not among tables
	Version       int      // column of Versioned, or -1
	Compared      []int    // columns of Compare
	Mark          int      // column of Mark, or -1
	LocalSerial   bool
	Transactional bool // Transactional
}

// ChangeRule says how a key column may change.
type ChangeRule uint8

// The rules: it cannot; to one of a list of values, by anyone; by one writer at a time.
const (
	Immutable ChangeRule = iota
	ClosedDomain
	SingleWriter
)

// Column is a checked column.
type Column struct {
	Name     string
	Index    []int // of the field in T; nil if it is derived and no field
	Go       reflect.Type
	CQL      *cqltype.Type
	Key      bool // in the primary key of some table
	Rule     ChangeRule
	Changes  bool             // of a key: its rule lets it change, or that of a column that it follows from
	Domain   []*cqltype.Value // of a oneOf column, in declared order
	Aliases  bool             // the driver's encoding may share memory with the field
	IsTime   bool             // a zero time.Time is absent
	Derived  *Derivation      // nil for a column of its own
	Marshals bool             // the field's type encodes itself
	Composed bool             // the type has types inside, and the field's type does not encode itself
	ReadOnly bool             // it is read, and never written
}

// Names are the names of columns.
func (s *Set) Names(columns []int) []string {
	out := make([]string, len(columns))
	for n, i := range columns {
		out[n] = s.Columns[i].Name
	}
	return out
}

// NameOf is the name of column i, empty if i is -1.
func (s *Set) NameOf(i int) string {
	if i < 0 {
		return ""
	}
	return s.Columns[i].Name
}

// Invalid is an [*InvalidError] about the set. t may be nil, and column empty.
func (s *Set) Invalid(t *Table, column, reason string) error {
	e := &InvalidError{Entity: s.Name, Column: column, Reason: reason}
	if t != nil {
		e.Table = t.Name
	}
	return e
}

// Counts says whether the column is a counter.
func (c *Column) Counts() bool { return c.CQL != nil && c.CQL.Kind() == gocql.TypeCounter }

// NeverAbsent says whether every value of the column is written as one.
func (c *Column) NeverAbsent() bool {
	if c.CQL == nil || c.CQL.MultiCell() {
		return false
	}
	switch c.Go.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return false
	}
	return c.Go != reflect.TypeFor[time.Time]() && !c.Marshals
}

// Patchable rejects a set in which the row of an entity may be under another key than the one at hand.
func (s *Set) Patchable() error {
	for _, t := range s.Tables {
		if movable := slices.Concat(t.Sweeps, t.Moves, t.Follows); len(movable) > 0 {
			return s.Invalid(t, s.Columns[t.Key[movable[0]]].Name, "a Patch leaves the row where it is, and this key column "+
				"can change or has several bucket functions: Update from a before-image")
		}
	}
	return nil
}

// All are the tables of the set, the base table first, those of unique keys last.
func (s *Set) All() []*Table {
	if s == nil {
		return nil
	}
	return slices.Concat(s.Tables, s.Unique)
}

// Regular are the columns of the base table that are written, and neither in its key nor the version.
func (s *Set) Regular() []int {
	return slices.DeleteFunc(s.Alongside(), func(i int) bool { return s.Columns[i].ReadOnly })
}

// Alongside are the columns of the base table that are neither in its key nor the version, also those that are only
// read.
func (s *Set) Alongside() []int {
	base := s.Tables[0]
	return slices.DeleteFunc(slices.Clone(base.Read[len(base.Key):]), func(i int) bool { return i == s.Version })
}

// InBaseKey says whether the column is in the base key.
func (s *Set) InBaseKey(i int) bool { return slices.Contains(s.Tables[0].Key, i) }

// Identifies says whether column i is part of what identifies an entity: of the base key, or of what a column of the
// base key follows from.
func (s *Set) Identifies(i int) bool {
	for _, k := range s.Tables[0].Key {
		if d := s.Columns[k].Derived; k == i || d != nil && slices.Contains(d.Sources, i) {
			return true
		}
	}
	return s.Tables[0].Rotation != nil && slices.Contains(s.Tables[0].Rotation.Sources, i)
}

// EntityKey is equal for rows of one entity: their ID, encoded.
func (s *Set) EntityKey(row []cqltype.Value) string { return statement.EncodedKey(pick(s.ID, row)) }

// Same says whether the server takes columns of two rows as equal.
func (s *Set) Same(columns []int, a, b []cqltype.Value) bool {
	return !slices.ContainsFunc(columns, func(i int) bool { return !s.Columns[i].CQL.Same(a[i].Data, b[i].Data) })
}

// Level is the consistency level of a request about tables of the set, for which c was asked. Tables of transactions
// take none of one datacentre, as a transaction holds in the whole cluster, nor TWO and THREE (6.0-alpha2: "supported
// are [ANY, ONE, QUORUM, ALL, SERIAL]").
func (s *Set) Level(c gocql.Consistency) gocql.Consistency {
	switch {
	case !s.Transactional || c == gocql.All || c == gocql.One:
		return c
	case c == gocql.LocalOne:
		return gocql.One
	}
	return gocql.Quorum
}

// Decided is how changes of a set are decided.
type Decided uint8

// The kinds of decision.
const (
	Undecided     Decided = iota // changes have no condition
	Compared                     // Compare
	Versioned                    // Versioned
	Transactional                // Versioned and Transactional
)

func (d Decided) String() string {
	return printable.Enum("Decided", d, []string{"undecided", "Compare", "Versioned", "Transactional"})
}

// Decided is how changes of the set are decided.
func (s *Set) Decided() Decided {
	switch {
	case !s.Conditional():
		return Undecided
	case s.Transactional:
		return Transactional
	case s.Version >= 0:
		return Versioned
	}
	return Compared
}

// Kept is a column that the library keeps in tables of a set with conditions.
type Kept struct{ Name, Type string }

// The columns that the library keeps.
var (
	Token   = Kept{"claim", "timeuuid"}                // of a row of a Unique table
	Pending = Kept{"pending", "blob"}                  // of a Versioned base row: what its last change has left to be done
	Done    = Kept{"done", "timeuuid"}                 // the version that all query tables are known to have
	Recent  = Kept{"recent", "map<tinyint, timeuuid>"} // its last versions
)

// KeptInBase are the columns of a base row of a Versioned set.
var KeptInBase = []Kept{Pending, Done, Recent}

// Fault is one mistake in a declaration. Table and Column are empty where the fault concerns none in particular.
type Fault struct {
	Table, Column, Reason string
}

func (f Fault) String() string {
	text := f.Reason
	if f.Column != "" {
		text = "column " + f.Column + ": " + text
	}
	if f.Table != "" {
		text = "table " + f.Table + ": " + text
	}
	return text
}

// InvalidError says why a change cannot be written: a row or a call that the declaration does not allow. Nothing has
// been sent. It never holds a value of the row.
type InvalidError struct {
	Entity, Table, Column, Reason string
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("entity %s: %s", e.Entity, Fault{e.Table, e.Column, e.Reason})
}
