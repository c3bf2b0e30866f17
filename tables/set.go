package tables

import (
	"reflect"

	"github.com/denorm-go/denorm/internal/declare"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/layout"
)

// Set holds an entity's tables, declared once and used by every write of the entity. Its verbs are pure: a writer
// carries out the changes that they return. A Set is immutable and safe for concurrent use.
type Set[T any] struct{ set *layout.Set }

// New declares the tables of an entity whose rows are T, a struct. Columns are the exported fields of T, named as
// gocqlx names them: snake case, or the db tag; db:"-" leaves a field out. The error names every fault at once. New
// checks everything that can be checked without a cluster.
//
// Never change the name of the entity or of a table. Versions and marks depend on the entity's name, so a request that
// is repeated across the change would not be recognised.
func New[T any](name string, options ...Option) (*Set[T], error) {
	var d declare.Declaration
	var faults []layout.Fault
	for _, o := range options {
		if o == nil {
			faults = append(faults, layout.Fault{Reason: "an option is nil"})
			continue
		}
		o.apply(&d)
	}
	set, err := declare.New(name, reflect.TypeFor[T](), d, faults...)
	if err != nil {
		return nil, err
	}
	return &Set[T]{set}, nil
}

// Must returns the value, or panics with the error: for what [New] and [Set.Metadata] return, in package variables.
func Must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// Insert writes a new entity, under a fresh id, to every table without reading first. Absent values (nil pointer, nil
// slice or map, zero time.Time, empty map or set) are left out, without tombstones. A client that repeats its request
// must repeat the first try's timestamp (writer.At).
//
// To change an entity use [Set.Update]. If the entity exists, its rows under other keys stay, unless the set has
// [SweepInserts] or is [Versioned]. After a Delete by a process whose clock is ahead, the Insert is acknowledged and
// never seen, as it is older. So use a fresh id, or a [Versioned] set.
func (s *Set[T]) Insert(row T) Change { return s.change(Insert, nil, row) }

// Update writes after in place of before, the row as it was read or last written. The whole row is written to every
// table. Each absent value is sent as null and costs a cell tombstone. If a key changes, the row moves. Both must be
// whole rows: a row of a table with [Table.Columns] has zero values for the other columns. The write uses the key
// columns and the stamp of before, and in a [Versioned] or [Compare] set the version or the compared columns.
//
// The write encodes both rows, so do not modify before until it returns, also not behind pointers, slices or maps that
// both rows share. Otherwise before no longer names its former keys. A [Versioned] set then rejects the write; in other
// sets the row under the former keys stays. To change before in place use [Set.Updating]. An Update is not an
// optimistic lock: of two Updates from one before-image the later one wins as a whole. If the second must fail, declare
// [Versioned] or [Compare].
func (s *Set[T]) Update(before, after T) Change { return s.change(Update, before, after) }

// Updating is [Set.Update] in two steps. It encodes what it needs of before, and returns a function that takes after.
// So you may modify before, also behind pointers, and pass it as after.
func (s *Set[T]) Updating(before T) func(after T) Change {
	frozen := entity.Freeze(s.Internal(), before)
	return func(after T) Change {
		c := s.Update(before, after)
		c.change.Frozen = frozen
		return c
	}
}

// Upsert writes the row whether or not the entity exists. It writes the whole row: absent values are sent as null. To
// write single columns use [Set.Patch]. Upsert is for sets whose key columns never change, or that declare
// [SweepInserts].
func (s *Set[T]) Upsert(row T) Change { return s.change(Upsert, nil, row) }

// Delete removes the entity from every table. It uses the same columns of before as [Set.Update]. Pass the row as it
// was read. In a row made from its id alone the other key columns are zero, so the tables keyed by them keep their
// rows.
func (s *Set[T]) Delete(before T) Change { return s.change(Delete, before, nil) }

// Add adds to the counters of a row, in every table of a set that counts. [Type] declares all columns of such a set
// outside of the keys as counters; their fields are of kind int64. The fields hold what to add, which may be negative.
// A counter whose field is zero is left out, and an Add of zeros alone is rejected.
//
// A counter has no timestamp, so an Add is never sent again once it may have been applied. Add is the only verb of such
// a set: a counter cannot be set, and a deleted counter cannot safely be used again. In a table whose key leaves out
// columns of the base key, a row holds the sum over all their values.
func (s *Set[T]) Add(row T) Change { return s.change(Add, nil, row) }

// Patch changes some columns, or elements of maps and sets, without a before-image, in sets where no key column can
// change. It uses the key columns, stamp and expiry of row, and the fields that the edits name. It also writes, if the
// set has them, stamp, expiry and (with [ID]) the other base key columns. A stamp that is not zero counts as the stamp
// of a before-image.
//
// Every table gets its edited columns and, if row has no expiry, the row marker. So all tables agree after patches,
// inserts and deletes at distinct timestamps. If the entity does not exist, Patch makes a row of these columns. A
// failed Patch that is not resumed stays half done until the same columns are written again.
//
// In a set with [ExpiresAt] give row its expiry; every table must then hold the expiry or the stamp. If the row never
// ends, add the edit [Column] of the expiry. To remove an expiry use Update. If query tables hold base key columns
// outside of their key ([ID]), a row with an expiry is rejected: use Update.
func (s *Set[T]) Patch(row T, edits ...Edit) Change {
	c := s.change(Patch, nil, row)
	for _, e := range edits {
		c.change.Edits = append(c.change.Edits, e.edit)
	}
	return c
}

// change is not valid if the set is nil.
func (s *Set[T]) change(kind Kind, before, after any) Change {
	c := Change{entity.Change{Kind: entity.Kind(kind), Before: before, After: after, Set: s.Internal()}}
	if c.change.Set != nil {
		c.change.Entity = c.change.Set.Entity()
	}
	return c
}

// Select returns the CQL that reads an entity's base row by its key, and the names of the values to bind. The row is a
// before-image for an Update. The CQL names the declared keyspace. In a [Versioned] set it also finds the row that a
// deleted entity leaves, which writer.Load does not return. If the base table rotates use writer.Load.
func (s *Set[T]) Select() (stmt string, names []string) { return s.set.Select() }

// Key encodes the base key of row, as the values to bind to [Set.Select], in order. It returns an *[InvalidError] if
// the row has no valid key. Other fields of row are ignored.
func (s *Set[T]) Key(row T) ([]any, error) { return s.set.Key(row) }

// SetStamp stores timestamp, in microseconds, in the stamp field of row. It does nothing in a set without [Stamp].
func (s *Set[T]) SetStamp(row *T, timestamp int64) { s.set.SetStamp(row, timestamp) }

// Metadata describes a table of the set for gocqlx, for reads: the result can be given to table.New of gocqlx as it is.
//
//	var ordersByUser = table.New(tables.Must(Orders.Metadata("orders_by_user")))
//
// Name includes the declared keyspace, if any; change it for another keyspace. Columns are the fields of T: read them
// with SelectQuery(session, m.Columns...). Derived columns are in PartKey and SortKey. docs/gocqlx.md has more. table
// is the declared name, alone or as in keyspace.table. An unknown or ambiguous name, a table with Rotate and a nil set
// are errors.
func (s *Set[T]) Metadata(table string) (struct {
	Name                      string
	Columns, PartKey, SortKey []string
}, error,
) {
	return s.Internal().Metadata(table)
}

// Internal is for the other packages of this module. Its type has no promise of compatibility.
func (s *Set[T]) Internal() *layout.Set {
	if s == nil {
		return nil
	}
	return s.set
}

// Described is a set of any row type: a *[Set].
type Described interface{ Internal() *layout.Set }

// InvalidError says why a change cannot be written: a row or a call that the declaration does not allow. Nothing has
// been sent. It never holds a value of the row. Its fields are the strings Entity, Table, Column and Reason; Table and
// Column may be empty.
type InvalidError = layout.InvalidError
