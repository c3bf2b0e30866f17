package tables

import (
	"reflect"

	"github.com/denorm-go/denorm/internal/declare"
)

// Option is an argument of [New]: a [Table] or a rule of the set.
type Option interface{ apply(*declare.Declaration) }

type optionFunc func(*declare.Declaration)

func (f optionFunc) apply(d *declare.Declaration) { f(d) }

// OneOf lets a key column change within a closed domain. Every update and delete then sweeps: in addition to writing the
// row under its new key it deletes the entity's rows under all other values, so that concurrent movers leave no ghost and
// the last write wins in every table. It needs [Stamp], and the before-image of an update or delete must hold the stamp.
//
// A pointer column may also be nil, which means that the entity has no row in the tables keyed by it.
//
// All processes must know the same domain: deploy a new value everywhere before it is first written. schema.Validate rejects
// a process whose domain contradicts that of the others, and accepts one that has fewer values or more. Each other value
// costs a tombstone per write, and a read of LIMIT n of value v crosses about n / share(v) of them until gc_grace.
func OneOf[V any](column string, values ...V) Option {
	return optionFunc(func(d *declare.Declaration) {
		o := declare.OneOf{Column: column}
		for _, v := range values {
			o.Values = append(o.Values, v)
		}
		d.OneOf = append(d.OneOf, o)
	})
}

// SingleWriter lets a key column change; a row is moved by the before-image alone. There is no ghost only if each move of an entity is
// completed before the next one starts, wherever the writers run. Two concurrent movers leave a ghost although both writes are acknowledged,
// even if each moves a different SingleWriter column of one key. If you cannot rule that out use [OneOf], or read with Confirm of
// reader.Query, which leaves ghosts out. A before-image with another value than the row was written with leaves a ghost, too.
func SingleWriter(column string) Option {
	return optionFunc(func(d *declare.Declaration) { d.SingleWriters = append(d.SingleWriters, column) })
}

// Stamp names the bigint column (Go int64) that holds the write timestamp of the row, in microseconds since the Unix
// epoch. The library fills it, and ignores what the field holds in an Insert or in the after-image of an Update. The stamp of a
// before-image orders the write after the one that was read, whatever the clocks say. Without a stamp the write is ordered by
// the clocks alone: a writer whose clock is behind is acknowledged and changes nothing. So a set with [OneOf]
// rejects an Update or Delete whose before-image has a stamp of zero, unless it declares [UnstampedRows]: pass the row as it was
// read, or as it was written with Result.Timestamp in the stamp. A stamp in seconds, milliseconds or
// nanoseconds is rejected in every set.
//
// A stamp is not a version: a write from an old stamp is not a conflict. It is made at a later timestamp and
// replaces what others have written since. Use [Versioned] or [Compare] for conflicts.
func Stamp(column string) Option {
	return optionFunc(func(d *declare.Declaration) { d.Stamps = append(d.Stamps, column) })
}

// UnstampedRows lets a set with [OneOf] update and delete rows that have no stamp, such as those that were written before the
// library was used. Such a write is ordered by the clocks alone. Without this option a stamp of zero counts as forgotten. Remove
// the option when all rows have a stamp.
func UnstampedRows() Option {
	return optionFunc(func(d *declare.Declaration) { d.UnstampedRows = true })
}

// ExpiresAt names the timestamp column (Go time.Time or *time.Time) that holds the moment at which the entity ends in
// all tables. At every attempt the remaining time is sent as the TTL of every row; once the moment has passed, a delete is sent
// instead. A write that begins after the moment, by the writer's clock, is rejected: it would write nothing of the row, and remove
// what is in the tables. Only a Delete, and an Update to a later expiry, may follow the moment. Zero or nil means that the entity
// does not expire. The resolution is one second, rounded up. The expiry is at most 20 years from now. A cluster in the storage
// format of Cassandra 4, also the default of 5.0 (storage_compatibility_mode), rejects what ends after 2038-01-19T03:14:06Z, and
// the write is then not applied.
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

// SweepInserts makes Insert sweep, and write absent values as null, like Update. It also allows blind Upsert in a set with
// [OneOf] columns: an entity may then be written without knowing whether, and under which key, it already exists.
func SweepInserts() Option { return optionFunc(func(d *declare.Declaration) { d.SweepInserts = true }) }

// Atomic demands a logged batch for every write of the set that needs more than one request: once the batchlog has
// stored it, the server completes it even if the client dies. It is strict: while no batchlog can be written, the
// write fails instead of falling back to a fan-out. It holds for the processes that declare it: schema.Validate does not compare it.
func Atomic() Option { return optionFunc(func(d *declare.Declaration) { d.Atomic = true }) }

// Versioned names the timeuuid column (Go gocql.UUID) that holds the version of the row, and lets every key column except those of the
// base key change, in any domain. The base row is written by lightweight transactions: an update or delete
// applies only to the version it was made from, and anything else is a conflict. The query tables follow at the timestamp in the
// version. If a client dies before it has written them all, the next one does the rest. There are no ghosts and no lost updates. An
// update takes longer than a plain one: docs/changes.md has the figures.
//
// The library fills the version. It also keeps the columns pending (blob), done (timeuuid) and recent (map<tinyint, timeuuid>) in the base table,
// which are not fields. A deleted entity leaves a base row for 24 hours that has a version and nothing else: a base row whose columns are all
// null counts as absent. So some column alongside the base key must never be absent: it must not be a pointer, time, slice or map.
//
// writer.Load and package reader know the rows of deleted entities; whoever reads the base table by other means has
// to know them, too.
//
// All writes of the set must go through the library: lightweight transactions and plain writes must not be mixed, and
// schema.Validate rejects a plain set over these tables. Rows that are older than the declaration have no version, and cannot be
// updated until Adopt of package reconcile has given them one. An insert of such an entity is a conflict, as for any entity
// that exists, whichever of the columns that the set declares it has.
func Versioned(column string) Option {
	return optionFunc(func(d *declare.Declaration) { d.Versions = append(d.Versions, column) })
}

// Compare makes every change of the set, which must have one table, a lightweight transaction. An update or delete applies only if the named
// columns are as in its before-image, and an insert only if there is no row. It is for reservations: whoever finds the slot free takes it. An
// update must change at least one of the named columns, as Cassandra compares values (10 and 10.00 are equal, and so are {a, b} and {b, a}). At
// least one must be a column that is never absent, or a row that does not exist could pass for one that is free.
//
// Changes of rows of one partition, such as two nights of one room, may be given to one Write: one transaction holds the conditions of
// all, and applies all of them or none.
//
// There is no version: a change whose answer was lost, and that is sent again or resumed, applies a second time if the columns
// have returned to their former values. So does an insert if its row has been deleted. Where that matters, name a column whose
// values do not recur, such as an expiry, and mark a row as ended instead of deleting it.
// After a lost answer a change is recognised by its [Mark]; a delete leaves none, and is then Unknown. Without a Mark only the
// service can say whether a row that looks as the change would have made it was made by this change or by another one like it.
// The write is then Unknown, it matches ErrConflict, and writer.Current returns the row.
func Compare(columns ...string) Option {
	return optionFunc(func(d *declare.Declaration) { d.Compare = append(d.Compare, columns...) })
}

// Mark names a column (Go gocql.UUID) of a set with [Compare] in which the library notes which change has made the row: a
// UUID per write, in all of its rows, which is random unless writer.At is given. What the field holds in a change is ignored.
func Mark(column string) Option {
	return optionFunc(func(d *declare.Declaration) { d.Marks = append(d.Marks, column) })
}

// LocalSerial makes the conditions of a [Versioned] or [Compare] set hold within each datacentre alone (LOCAL_SERIAL). The
// default, SERIAL, holds in the whole cluster. All writers of the set agree on it, as it is declared here.
func LocalSerial() Option { return optionFunc(func(d *declare.Declaration) { d.LocalSerial = true }) }

// Transactional makes every write of a [Versioned] set one transaction of Cassandra 6 (Accord) over all tables of the set, Unique tables
// included, in one request. It is applied to all tables or to none, and whoever reads several tables in one transaction never sees a part
// of it. Several entities, also of other Transactional sets, may change in one write. A write that meets another version is a conflict, as
// in a set that is Versioned alone; a write of deletes that finds none of the rows is a success.
//
// A transaction holds in the whole cluster, and tables of transactions take no consistency level of one datacentre: writer and reader use ONE
// in place of LOCAL_ONE, and QUORUM in place of all other levels but ONE and ALL.
//
// It is experimental, as Cassandra 6 is an alpha: it was tested on 6.0-alpha2. The tables must have the option
// transactional_mode = 'full', which package schema declares and schema.Validate compares. All writes of the tables must go through the
// library: a plain write with a timestamp ahead of the servers' clocks hides later transactions from readers until that time.
//
// A deleted entity leaves its base row with a version and nothing else, as in a Versioned set. It stays there, as a transaction cannot set a
// TTL, until the entity is inserted again. Not possible with it are LocalSerial, package reconcile, and other sets in the same write.
func Transactional() Option {
	return optionFunc(func(d *declare.Declaration) { d.Transactional = true })
}

// UserType declares a user-defined type, as CREATE TYPE makes it in the keyspace of each table that uses it. Its fields are
// the exported fields of T, a struct, in order. They are named by their cql tag, by which gocql reads them back; in a T that is
// a gocql.UDTUnmarshaler, fields without a cql tag are named as columns are. If the CQL type of a field does not follow from
// its Go type, an option declares it: Type("zipcode", "int").
//
// A column of Go type T or *T is frozen<name>, which is one cell. Type(column, name) makes it non-frozen, with a cell for every
// field. As rows are always written whole, that gains nothing, and costs a range tombstone with every write of a value.
//
// A nil pointer and a zero time.Time inside a value are null. The fields of the live type must be these, in this order. Processes that run
// while the type gets another field (ALTER TYPE ... ADD) go on, and write values without it. In a set with conditions
// [github.com/denorm-go/denorm/writer.Modify] and Load do not remove that field: a value that has it is an error there. In other sets it is
// lost with the next write by such a process, so add a field in two releases, like a column (see the package documentation).
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
