package tables

import (
	"reflect"

	"github.com/denorm-go/denorm/internal/declare"
)

// Option is an argument of [New]: a [Table] or a rule of the set.
type Option interface{ apply(*declare.Declaration) }

type optionFunc func(*declare.Declaration)

func (f optionFunc) apply(d *declare.Declaration) { f(d) }

// OneOf lets a key column change within a list of values. Every update and delete then also deletes the entity's rows
// under all other values, so concurrent moves leave no ghost and the last write wins in every table. It needs [Stamp],
// and before-images with the stamp. A nil pointer means that the entity has no row in the tables keyed by the column.
// Deploy a new value everywhere before it is first written. Each other value costs a tombstone a write:
// docs/why/costs.md.
func OneOf[V any](column string, values ...V) Option {
	return optionFunc(func(d *declare.Declaration) {
		o := declare.OneOf{Column: column}
		for _, v := range values {
			o.Values = append(o.Values, v)
		}
		d.OneOf = append(d.OneOf, o)
	})
}

// SingleWriter lets a key column change; a row is moved by the before-image alone. Two moves of an entity at the same
// time leave a ghost although both are acknowledged, even of different columns. So does a before-image with another
// value than the row was written with. If moves may overlap use [OneOf], or read with Confirm of reader.Query, which
// leaves ghosts out.
func SingleWriter(column string) Option {
	return optionFunc(func(d *declare.Declaration) { d.SingleWriters = append(d.SingleWriters, column) })
}

// ID names the columns of the base key that alone tell entities apart, for tables that share no more than an id. Each
// query table needs them in its key, and the rest of the base key in any column, which leads to the base row. That no
// two entities have one ID is your promise: package reconcile reports those that do. The base key never changes:
// Delete the entity, then Insert it, in two writes. Without ID the key of each query table contains the base key.
func ID(columns ...string) Option {
	return optionFunc(func(d *declare.Declaration) { d.IDs = append(d.IDs, columns...) })
}

// Stamp names the bigint column (Go int64) that holds the write timestamp of the row, in microseconds since the Unix
// epoch. The library fills it. The stamp of a before-image orders the write after the one that was read, whatever the
// clocks say; without it, a writer whose clock is behind is acknowledged and changes nothing. So a set with [OneOf]
// rejects a before-image without a stamp, unless it declares [UnstampedRows]; every set rejects a stamp in another
// unit. A stamp is not a version: a write from an old stamp replaces what others have written since. For conflicts use
// [Versioned] or [Compare].
func Stamp(column string) Option {
	return optionFunc(func(d *declare.Declaration) { d.Stamps = append(d.Stamps, column) })
}

// UnstampedRows lets a set with [OneOf] update and delete rows without a stamp, such as those from before the library
// was used. Such a write is ordered by the clocks alone. Remove the option when all rows have a stamp.
func UnstampedRows() Option {
	return optionFunc(func(d *declare.Declaration) { d.UnstampedRows = true })
}

// ExpiresAt names the timestamp column (Go time.Time or *time.Time) that holds the moment at which the entity ends in
// all tables, in seconds, rounded up, and at most 20 years ahead; zero or nil is never. Each attempt sends the
// remaining time as TTL, or a delete once the moment has passed. A write that begins after it is rejected, but for a
// Delete and an Update to a later expiry. A cluster in the storage format of Cassandra 4, also the default of 5.0
// (storage_compatibility_mode), rejects what ends after 2038-01-19T03:14:06Z: such a write is not applied.
func ExpiresAt(column string) Option {
	return optionFunc(func(d *declare.Declaration) { d.Expiries = append(d.Expiries, column) })
}

// Type declares the CQL type of a column if it is not the one that follows from the Go type, for example timeuuid for a gocql.UUID
// or date for a time.Time. The package documentation has a table of these types. See [UserType] for user-defined
// types.
//
// A time.Time in a date column must be in UTC, and its day is written. Any other time is an [*InvalidError], as its day may be another
// one in UTC. To write the day of t in its own time zone, give midnight UTC of that day:
//
//	y, m, d := t.Date()
//	day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
func Type(column, cqlType string) Option {
	return optionFunc(func(d *declare.Declaration) {
		d.Types = append(d.Types, declare.TypeOption{Column: column, CQL: cqlType})
	})
}

// ReadOnly lets a set read a list column that is not frozen, as live tables have. No write binds it, as a list that is
// sent twice has its elements twice. A change that gives it another value, or that moves a row in a table with the
// column, is an [*InvalidError]. A delete removes the list. To write such lists, copy them into a frozen column: Copy of
// package reconcile (denorm adopt --copy).
func ReadOnly(column string) Option {
	return optionFunc(func(d *declare.Declaration) { d.ReadOnly = append(d.ReadOnly, column) })
}

// SweepInserts makes Insert delete rows under other values, and write absent values as null, like Update. It also
// allows Upsert in a set with [OneOf] columns: the entity may then exist, under any key.
func SweepInserts() Option { return optionFunc(func(d *declare.Declaration) { d.SweepInserts = true }) }

// Atomic demands a logged batch for every write of the set that needs more than one request: once the batchlog has
// stored it, the server completes it even if the client dies. It is strict: while no batchlog can be written, the
// write fails instead of falling back to a fan-out. It holds for the processes that declare it: schema.Validate does not compare it.
func Atomic() Option { return optionFunc(func(d *declare.Declaration) { d.Atomic = true }) }

// Versioned names the timeuuid column (Go gocql.UUID) that holds the version of the row, and lets every key column
// except those of the base key change to any value. The base row is written by lightweight transactions: an update or
// delete applies only to the version it was made from, and an insert only if there is no such entity; anything else is
// a conflict. The query tables follow at the version's timestamp, and the next writer finishes what a client that died
// has left. There are no ghosts and no lost updates. docs/why/costs.md has the cost. The library keeps the columns pending,
// done and recent in the base table, which are not fields: docs/ref/glossary.md.
//
// A deleted entity leaves a base row for 24 hours that has a version and nothing else. So some column alongside the
// base key must never be absent: no pointer, time, slice or map. writer.Load and package reader know such rows; whoever
// reads the base table by other means has to know them, too.
//
// All writes of the set must go through the library, without plain writes; schema.Validate rejects a plain set over
// these tables. Rows from before the declaration have no version, and cannot be updated until Adopt of package
// reconcile has given them one.
func Versioned(column string) Option {
	return optionFunc(func(d *declare.Declaration) { d.Versions = append(d.Versions, column) })
}

// Compare makes every change of the set, which must have one table, a lightweight transaction. An update or delete
// applies only if the named columns are as in its before-image, an insert only if there is no row. It is for
// reservations: whoever finds the slot free takes it. An update must change one of the columns, as Cassandra compares
// values (10 and 10.00 are equal). One must be a column that is never absent. Changes of rows of one partition may be
// given to one Write, which applies all of them or none.
//
// There is no version: a change that is sent again or resumed after a lost answer applies a second time if the columns
// have returned to their former values, and an insert if its row was deleted. So name a column whose values do not
// recur, such as an expiry, and mark a row as ended instead of deleting it. A change is recognised by its [Mark],
// except a delete. Without a Mark a write whose answer was lost, and that finds the row as it would have made it, is
// Unknown and matches ErrConflict; writer.Current returns the row.
func Compare(columns ...string) Option {
	return optionFunc(func(d *declare.Declaration) { d.Compare = append(d.Compare, columns...) })
}

// Mark names a column (Go gocql.UUID) of a set with [Compare] in which the library notes which change has made the row: a
// UUID per write, in all of its rows, which is random unless writer.At is given. What the field holds in a change is ignored.
func Mark(column string) Option {
	return optionFunc(func(d *declare.Declaration) { d.Marks = append(d.Marks, column) })
}

// LocalSerial makes the conditions of a [Versioned] or [Compare] set hold within one datacentre (LOCAL_SERIAL), so that
// they do not wait for others. Default: SERIAL, which holds in the whole cluster. If two datacentres write one entity,
// updates are lost, a unique key gets two owners, and a row may block. It needs session.LocalDC: without it
// schema.Validate fails where the keyspace has replicas in several datacentres.
func LocalSerial() Option { return optionFunc(func(d *declare.Declaration) { d.LocalSerial = true }) }

// Transactional makes every write of a [Versioned] set one transaction of Cassandra 6 (Accord) over all tables of the
// set, Unique tables included, in one request: it is applied to all tables or to none. Several entities, also of other
// Transactional sets, may change in one write. A write that meets another version is a conflict; a write of deletes
// that finds none of the rows is a success. It is experimental, tested on 6.0-alpha2: see docs/why/accord.md.
//
// The tables must have transactional_mode = 'full', and the library alone may write them. Writer and reader use ONE in
// place of LOCAL_ONE, and QUORUM in place of all other levels but ONE and ALL. A deleted entity leaves its base row
// with a version until it is inserted again. Not possible with it are LocalSerial, package reconcile, and other sets in
// the same write.
func Transactional() Option {
	return optionFunc(func(d *declare.Declaration) { d.Transactional = true })
}

// UserType declares a user-defined type, as CREATE TYPE makes it in the keyspace of each table that uses it. Its fields
// are the exported fields of T, a struct, in order, named by their cql tag, by which gocql reads them back. (In a T
// that is a gocql.UDTUnmarshaler, fields without one are named as columns are.) An option gives the CQL type of a field
// that does not follow from its Go type: Type("zipcode", "int").
//
// A column of Go type T or *T is frozen<name>, one cell. Type(column, name) makes it non-frozen, which gains nothing,
// as rows are written whole. A nil pointer and a zero time.Time inside are null. The live type must have these fields
// in this order. If it gets another one, processes that do not know it write values without it, so add a field in two
// releases (docs/change-schema.md). In a set with conditions writer.Modify and Load reject a value that has such a field.
func UserType[T any](name string, fields ...Option) Option {
	return optionFunc(func(d *declare.Declaration) {
		u := declare.UserType{Name: name, Go: reflect.TypeFor[T]()}
		for _, f := range fields {
			if f != nil {
				f.apply(&u.Fields)
			}
		}
		d.UserTypes = append(d.UserTypes, u)
	})
}
