package tables

import (
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/declare"
	"github.com/denorm-go/denorm/internal/layout"
)

// Bucket computes the value of a key column from other columns of the row. [Derive] declares that column, which splits
// what would be one partition into several. A zero Bucket is rejected. Times are in UTC and rounded down, also before
// 1970. The CQL type of the column decides how a bucket is written:
//
//	           text (default)        int, bigint                  date
//	Hour       2024-01-31-15         hours since 1970             -
//	Day        2024-01-31            days since 1970              the day
//	Month      2024-01               months since January 1970    the first day
//	Every(d)   2024-01-31T15:30:00Z  periods of d since 1970 (*)  the first day, if d is whole days
//	Hash(n)    -                     0 to n-1 (*)                 -
//
// (*) is int by default. Hash may also be tinyint or smallint. Text is for years 0 to 9999; other years are rejected.
type Bucket struct{ bucket layout.Bucket }

// Hour derives a key column that holds the hour of a timestamp or timeuuid column.
func Hour(column string) Bucket { return timeBucket(layout.HourBucket, time.Hour, column) }

// Day derives a key column that holds the day of a timestamp or timeuuid column.
func Day(column string) Bucket { return timeBucket(layout.DayBucket, 24*time.Hour, column) }

// Month derives a key column that holds the calendar month of a timestamp or timeuuid column.
func Month(column string) Bucket { return timeBucket(layout.MonthBucket, 0, column) }

// Every derives a key column that holds the period of a timestamp or timeuuid column. Periods last d, in whole
// milliseconds, and one of them begins with 1970.
func Every(d time.Duration, column string) Bucket { return timeBucket(layout.EveryBucket, d, column) }

func timeBucket(kind layout.BucketKind, width time.Duration, column string) Bucket {
	return Bucket{layout.Bucket{Kind: kind, Width: width, Sources: []string{column}}}
}

// Hash spreads rows over n buckets, 0 to n-1, by the values of columns. Hash a column that differs within the
// partition, such as the id of the row. A user-defined type has no hash: its bytes change once it gets a field.
//
// The bucket is a number modulo n: the first 8 bytes, most significant first, of the SHA-256 of the encoded columns.
// One column is hashed as encoded, several as in a composite partition key: length in two bytes, value, zero byte.
func Hash(n int, columns ...string) Bucket {
	return Bucket{layout.Bucket{Kind: layout.HashBucket, N: n, Sources: slices.Clone(columns)}}
}

// String returns the function as it is declared, for example hour(ts).
func (b Bucket) String() string { return b.bucket.String() }

// Derive declares a key column whose value follows from other columns of the row: Derive("hour", Hour("ts")). The
// column need not be a field; the value of such a field is ignored. [Type] declares another CQL type. A row moves when
// its bucket changes. Never replace or remove a function under which rows are stored: they would not be found. Append
// the next function as a [Since], with the row time from which it is used. Without a time column a Hash needs none.
// docs/choose-rules.md has the steps.
func Derive(column string, bucket Bucket, later ...Since) Option {
	return optionFunc(func(d *declare.Declaration) {
		o := declare.Derive{Column: column, Versions: []declare.Since{{Bucket: bucket.bucket}}}
		for _, s := range later {
			o.Versions = append(o.Versions, declare.Since{Time: s.Time, Of: s.Of, Bucket: s.Bucket.bucket})
		}
		d.Derived = append(d.Derived, o)
	})
}

// Since replaces the bucket function before it; see [Derive].
type Since struct {
	// Time is the first row time for which the function is used, in whole milliseconds; the zero time means none. It
	// must be later than all rows that exist when the first process with this Since starts. First run the statement of
	// schema.Migration, or of denorm ddl --migrate, which puts the Since into the table's fingerprint:
	// docs/choose-rules.md.
	Time time.Time
	// Of names the timestamp or timeuuid column that holds a row's time. It may be left out if a time bucket is among
	// the functions.
	Of string
	// Bucket is the function.
	Bucket Bucket
}
