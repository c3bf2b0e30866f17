package tables

import (
	"time"

	"github.com/denorm-go/denorm/internal/declare"
	"github.com/denorm-go/denorm/internal/layout"
)

// Bucket is a function from columns of a row to the value of a key column. [Derive] declares that column, which splits
// what would be one partition into several. Times are in UTC and rounded down: the moment before 1970 belongs to the
// bucket before that of 1970. The zero value is no function.
//
// The CQL type of the derived column says how a bucket is written down, see [Derive]:
//
//	           text (default)        int, bigint                  date
//	Hour       2024-01-31-15         hours since 1970             -
//	Day        2024-01-31            days since 1970              the day
//	Month      2024-01               months since January 1970    the first day
//	Every(d)   2024-01-31T15:30:00Z  periods of d since 1970 (*)  the first day, if d is whole days
//	Hash(n)    -                     0 to n-1 (*)                 -
//
// (*) is the default. Hash may also be tinyint or smallint. Text is for years 0 to 9999; a row outside of what its type
// can hold is rejected.
type Bucket struct{ bucket layout.Bucket }

// Hour is the hour of a timestamp or timeuuid column.
func Hour(column string) Bucket { return Bucket{layout.Hour(column)} }

// Day is the day of a timestamp or timeuuid column.
func Day(column string) Bucket { return Bucket{layout.Day(column)} }

// Month is the calendar month of a timestamp or timeuuid column.
func Month(column string) Bucket { return Bucket{layout.Month(column)} }

// Every is the period of a timestamp or timeuuid column. Each period lasts d, and one begins with 1970. d must be whole milliseconds.
func Every(d time.Duration, column string) Bucket { return Bucket{layout.Every(d, column)} }

// Hash spreads rows over n buckets, 0 to n-1, by the values of columns. It is the same in every version of this library
// and easy to compute elsewhere: the first 8 bytes, most significant first, of the SHA-256 of the columns as Cassandra
// encodes a partition key of them, modulo n. For one column that is its encoded value alone (a uuid its 16 bytes, a text
// its UTF-8); for several, each value is preceded by its length, as two bytes, and followed by a zero byte. A user-defined
// type has no hash: its bytes change once it gets a field.
//
// To split a partition, hash a column that differs within it, such as the id of the row: a hash of columns of the partition
// key alone splits nothing.
func Hash(n int, columns ...string) Bucket { return Bucket{layout.Hash(n, columns...)} }

// String is the function as it is declared, for example hour(ts).
func (b Bucket) String() string { return b.bucket.String() }

// Derive declares a key column whose value follows from other columns of the row:
//
//	tables.Derive("hour", tables.Hour("ts"))
//	tables.Derive("bucket", tables.Hash(10, "message_id"))
//
// It need not be a field of the entity. If it is, the library fills the column and ignores what the field holds. Two writes with
// one timestamp mix cell by cell: the base row may then hold the derived value of one write and the source columns of the other.
// The query tables have the row under the value that follows from the base row's other columns.
//
// [Type] declares another CQL type than the function's own. The derived column can change as the columns that it follows
// from can. Those count as key columns: a row whose bucket changes moves.
//
// # Another function
//
// A function that has rows must not be replaced, nor removed from the list: the rows would not be found. schema.Validate rejects
// a function in place of another one. If the list only lacks a function that is in the table's fingerprint, that is a note: a
// process that does not know a new function yet looks the same.
//
// later lists the functions that came after the first one, each with the time from which it is valid. That is the row's own
// time, not the time of writing, so the bucket of a row never changes, and a reader knows which buckets can hold a range:
//
//	tables.Derive("bucket", tables.Every(10*24*time.Hour, "message_time"),
//		tables.Since{Time: march, Bucket: tables.Every(24*time.Hour, "message_time")})
//
// Choose a time later than those in today's rows, and deploy the list everywhere before that time comes.
//
// The number of hash buckets can be changed for rows without a time, too. Without Time, the last function of the list is the
// one in use. The others are, or were, in use elsewhere, and every write, inserts included, deletes what is stored under
// them. Deletes are sent in a logged batch, so writes cost more as long as there are several functions:
//
//	tables.Derive("bucket", tables.Hash(10, "message_id"), tables.Since{Bucket: tables.Hash(40, "message_id")})
//
// Deploy the list everywhere with the new function first, then with the new function last. Reads query the buckets of
// all functions listed. Rows that are never written again stay where they are.
func Derive(column string, bucket Bucket, later ...Since) Option {
	return optionFunc(func(d *declare.Declaration) {
		o := declare.Derive{Column: column, Versions: []declare.Since{{Bucket: bucket.bucket}}}
		for _, s := range later {
			o.Versions = append(o.Versions, declare.Since{Time: s.Time, Of: s.Of, Bucket: s.Bucket.bucket})
		}
		d.Derived = append(d.Derived, o)
	})
}

// Since is a bucket function that replaced another one; see [Derive].
type Since struct {
	// Time is the first row time for which the function is used, whole milliseconds. The zero value stands for
	// none. Choose it later than the time of every row that exists when the first process that declares it starts. A process that
	// does not declare it puts rows of that time and later into the old buckets, where the other processes do not look for them. So
	// first run the statement of schema.Migration, or of denorm ddl --migrate, which puts the Since into
	// the table's fingerprint: until then schema.Validate returns an error in a process with the Since. From Time
	// on, it returns one in a process without it.
	Time time.Time
	// Of names the timestamp or timeuuid column that holds a row's time. It may be left out if a time bucket is among
	// the functions.
	Of string
	// Bucket is the function.
	Bucket Bucket
}
