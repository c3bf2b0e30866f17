package tables

import (
	"reflect"

	"github.com/denorm-go/denorm/internal/declare"
	"github.com/denorm-go/denorm/internal/each"
)

// Option is an argument of [New]: a [Table] or a rule of the set.
type Option interface{ apply(*declare.Declaration) }

type optionFunc func(*declare.Declaration)

func (f optionFunc) apply(d *declare.Declaration) { f(d) }

// OneOf lets a key column change within a list of values. Every update and delete also deletes the entity's rows under
// all other values: a tombstone each, see docs/why/costs.md. So concurrent moves leave no ghost, and the last write
// wins in every table. It needs [Stamp], and before-images with the stamp. A nil pointer means that the entity has no
// row in the tables keyed by the column. Deploy a new value everywhere before it is first written.
func OneOf[V any](column string, values ...V) Option {
	return optionFunc(func(d *declare.Declaration) {
		list := each.Of(values, func(v V) any { return v })
		d.OneOf = append(d.OneOf, declare.OneOf{Column: column, Values: list})
	})
}

// SingleWriter lets a key column change to any value. An update deletes the row under the key that its before-image
// has. Two moves at the same time, even of different columns, leave a ghost although both are acknowledged. A
// before-image whose key differs from the row's leaves one, too. If changes may overlap use [OneOf], or read with
// Confirm of reader.Query, which leaves ghosts out.
func SingleWriter(column string) Option {
	return optionFunc(func(d *declare.Declaration) { d.SingleWriters = append(d.SingleWriters, column) })
}

// ID names base key columns that alone identify an entity. Query tables need only these in their key, and the rest of
// the base key as any column. No two entities may share an ID: package reconcile reports such entities, a
// [Table.Unique] table of the ID rejects them. To change the base key, Delete the entity, then Insert it, in two
// writes. Without ID the key of each query table must contain the base key.
func ID(columns ...string) Option {
	return optionFunc(func(d *declare.Declaration) { d.IDs = append(d.IDs, columns...) })
}

// Stamp names the bigint column (Go int64) that holds the write timestamp of the row, in microseconds since the Unix
// epoch. Other units are rejected. The library fills it. A write is ordered after the row it is based on, whatever the
// clocks say. A set with [OneOf] rejects a before-image without a stamp, unless it declares [UnstampedRows]. A stamp is
// not a version: a write based on an old row replaces what others have written since. To detect conflicts use
// [Versioned] or [Compare].
func Stamp(column string) Option {
	return optionFunc(func(d *declare.Declaration) { d.Stamps = append(d.Stamps, column) })
}

// UnstampedRows lets a set with [OneOf] update and delete rows without a stamp, such as those from before the library
// was used. Only the clocks order such a write. Remove the option when all rows have a stamp.
func UnstampedRows() Option {
	return optionFunc(func(d *declare.Declaration) { d.UnstampedRows = true })
}

// ExpiresAt names the timestamp column (Go time.Time or *time.Time) that holds the moment at which the entity ends in
// all tables. Unit: seconds, rounded up, at most 20 years ahead; zero or nil means never. Each attempt sends the
// remaining time as TTL; if it is over, a delete. A row that has expired cannot be written: Delete it, or give it a
// later expiry. Not possible with [Versioned] or [Compare]. docs/expire.md has the limits of servers.
func ExpiresAt(column string) Option {
	return optionFunc(func(d *declare.Declaration) { d.Expiries = append(d.Expiries, column) })
}

// Type declares the CQL type of a column if it does not follow from the Go type, such as timeuuid for a gocql.UUID. The
// package documentation has a table of these types; for user-defined types see [UserType]. A time.Time in a date column
// must be in UTC, or the write fails with an [*InvalidError]. To write the local day of t, give midnight UTC of y, m, d
// := t.Date(): time.Date(y, m, d, 0, 0, 0, 0, time.UTC).
func Type(column, cqlType string) Option {
	return optionFunc(func(d *declare.Declaration) {
		d.Types = append(d.Types, declare.TypeOption{Column: column, CQL: cqlType})
	})
}

// ReadOnly lets a set read a list column that is not frozen. No write sends it: a list that is sent twice has its
// elements twice. A change fails with an [*InvalidError] if it gives the list another value, or moves the row in a
// table with the column. A delete removes the list. To write such lists, copy them into a frozen column: Copy of package reconcile
// (denorm adopt --copy).
func ReadOnly(column string) Option {
	return optionFunc(func(d *declare.Declaration) { d.ReadOnly = append(d.ReadOnly, column) })
}

// SweepInserts makes Insert, like Update, delete rows under other [OneOf] values and write absent values as null. It
// also allows Upsert in a set with OneOf columns. The entity may then exist already, under any of the values.
func SweepInserts() Option { return optionFunc(func(d *declare.Declaration) { d.SweepInserts = true }) }

// Atomic demands a logged batch for every write of the set that needs more than one request. Once the batchlog has
// stored the batch, the server completes it even if the client dies, except as writer.LoggedBatch says. While Cassandra
// cannot write the batchlog, the write fails instead of falling back to a fan-out.
func Atomic() Option { return optionFunc(func(d *declare.Declaration) { d.Atomic = true }) }

// Versioned names the timeuuid column (Go gocql.UUID) that holds the version of the row. Key columns, except of the
// base key, may then take any value, without ghosts or lost updates. A lightweight transaction decides: an update or
// delete from an older version, or an insert of an entity that exists, is a conflict. At least one column outside of
// the base key must be no pointer, time, slice or map. Not possible with it: [Compare], OneOf, SingleWriter, Stamp,
// ExpiresAt, SweepInserts, Atomic. See the package documentation and docs/why/costs.md.
func Versioned(column string) Option {
	return optionFunc(func(d *declare.Declaration) { d.Versions = append(d.Versions, column) })
}

// Compare makes every change of a set of one table a lightweight transaction, as for reservations. An update or delete
// applies only if the named columns are as in its before-image, an insert only if there is no row. Each update must
// change a named column (10 to 10.00 does not). At least one of them must be no pointer, time, slice or map. The
// package documentation says when a change applies twice. Not possible with it: Versioned, OneOf, SingleWriter, Stamp,
// ExpiresAt, SweepInserts, Atomic, a Unique table, Rotate.
func Compare(columns ...string) Option {
	return optionFunc(func(d *declare.Declaration) { d.Compare = append(d.Compare, columns...) })
}

// Mark names a column (Go gocql.UUID) of a [Compare] set by which a writer recognises its insert or update after a lost
// answer. The library fills it: a UUID per write, in all of its rows, random unless writer.At is given. The value of
// the field in a change is ignored. Without Mark such a write may be both Unknown and ErrConflict: writer.Current
// returns the row.
func Mark(column string) Option {
	return optionFunc(func(d *declare.Declaration) { d.Marks = append(d.Marks, column) })
}

// LocalSerial makes the conditions of a [Versioned] or [Compare] set hold within one datacentre (LOCAL_SERIAL), so that
// writes do not wait for others. Default: SERIAL, which holds in the whole cluster. If two datacentres write one
// entity, updates are lost, unique keys get two owners, or a row stays blocked. It needs session.LocalDC: otherwise
// schema.Validate fails if the keyspace has replicas in several datacentres.
func LocalSerial() Option { return optionFunc(func(d *declare.Declaration) { d.LocalSerial = true }) }

// Transactional makes every write of a [Versioned] set one transaction of Cassandra 6 (Accord), applied to all tables
// or to none. Several entities, also of other Transactional sets, may change in one write. A write of deletes succeeds
// if all their rows are gone. Not possible with it: LocalSerial, package reconcile, changes of sets without it in the
// write. Experimental, tested on 6.0-alpha2: docs/why/accord.md has what the tables need.
func Transactional() Option {
	return optionFunc(func(d *declare.Declaration) { d.Transactional = true })
}

// UserType declares a user-defined type, made by CREATE TYPE in the keyspace of each table that uses it. Its fields are
// the fields of T, a struct, in order, named by their cql tag. To give a field another CQL type, add an option, such as
// Type("zipcode", "int"). A column of T or *T is frozen<name>; a nil pointer and a zero time inside are null. The live
// type must have these fields in this order. To add a field see docs/change-schema.md.
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
