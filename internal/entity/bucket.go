package entity

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// Bucket is a tables.Bucket.
type Bucket struct {
	kind    bucketKind
	width   time.Duration // of a bucket of time, months excepted
	n       int           // of hash
	sources []string
}

type bucketKind uint8

const (
	noBucket bucketKind = iota
	hourBucket
	dayBucket
	monthBucket
	everyBucket
	hashBucket
)

// Hour is the hour of a timestamp or timeuuid column.
func Hour(column string) Bucket { return Bucket{hourBucket, hour, 0, []string{column}} }

// Day is the day of a timestamp or timeuuid column.
func Day(column string) Bucket { return Bucket{dayBucket, day, 0, []string{column}} }

// Month is the calendar month of a timestamp or timeuuid column.
func Month(column string) Bucket { return Bucket{monthBucket, 0, 0, []string{column}} }

// Every is tables.Every.
func Every(d time.Duration, column string) Bucket { return Bucket{everyBucket, d, 0, []string{column}} }

// Hash is tables.Hash.
func Hash(n int, columns ...string) Bucket { return Bucket{hashBucket, 0, n, slices.Clone(columns)} }

// timeBuckets are the functions of time: their names, and how the start of a bucket is written as text.
var timeBuckets = [...]struct{ name, layout string }{
	hourBucket:  {"hour", "2006-01-02-15"},
	dayBucket:   {"day", "2006-01-02"},
	monthBucket: {"month", "2006-01"},
	everyBucket: {"every", "2006-01-02T15:04:05Z"},
}

// String is the function as it is declared, for example hour(ts).
func (b Bucket) String() string {
	columns := strings.Join(b.sources, ", ")
	switch b.kind {
	case noBucket:
		return "no function"
	case everyBucket:
		return fmt.Sprintf("every(%v, %s)", b.width, columns)
	case hashBucket:
		return fmt.Sprintf("hash(%d, %s)", b.n, columns)
	default:
		return timeBuckets[b.kind].name + "(" + columns + ")"
	}
}

// maxBuckets bounds Hash: a read asks all of them.
const maxBuckets = 1024

// valid says what is wrong with the function by itself, or nil.
func (b Bucket) valid() error {
	switch {
	case b.kind == noBucket:
		return errors.New("the function is missing")
	case b.kind == everyBucket && (b.width <= 0 || b.width%time.Millisecond != 0):
		return fmt.Errorf("a period of %v: it must be positive and whole milliseconds, the resolution of a timestamp", b.width)
	case b.kind == hashBucket && (b.n < 1 || b.n > maxBuckets):
		return fmt.Errorf("%d buckets: 1 to %d can be, as a read asks each of them", b.n, maxBuckets)
	case b.kind == hashBucket && len(b.sources) == 0:
		return errors.New("a hash of no column")
	}
	return nil
}

// typ is the CQL type of the function where no other is declared.
func (b Bucket) typ() string {
	if b.kind == hashBucket || b.kind == everyBucket {
		return "int"
	}
	return "text"
}

// fits says why buckets cannot be written down as CQL type t, or nil.
func (b Bucket) fits(t *cqltype.Type) error {
	if b.kind == hashBucket {
		switch t.Kind() {
		case gocql.TypeTinyInt, gocql.TypeSmallInt, gocql.TypeInt, gocql.TypeBigInt:
			if bits := 8*t.Size() - 1; bits < 63 && int64(b.n) > 1<<bits {
				return fmt.Errorf("%d buckets do not fit into a %s", b.n, t)
			}
			return nil
		}
		return fmt.Errorf("a hash bucket is tinyint, smallint, int or bigint, not %s", t)
	}
	switch t.Kind() {
	case gocql.TypeInt, gocql.TypeBigInt:
		return nil
	case gocql.TypeVarchar:
		if b.kind == everyBucket && b.width%time.Second != 0 {
			return fmt.Errorf("periods of %v cannot be distinguished as text, which has seconds: declare int or bigint", b.width)
		}
		return nil
	case gocql.TypeDate:
		if b.kind == hourBucket || b.kind == everyBucket && b.width%day != 0 {
			return errors.New("several buckets would share a date: declare text, int or bigint")
		}
		return nil
	}
	return fmt.Errorf("a time bucket is text, int, bigint or date, not %s", t)
}

const (
	hour = time.Hour
	day  = 24 * time.Hour
)

// number is how many buckets lie between 1970 and the one of t, in milliseconds; negative before 1970.
func (b Bucket) number(t int64) int64 {
	if b.kind == monthBucket {
		y, m, _ := time.UnixMilli(t).UTC().Date()
		return int64(y-1970)*12 + int64(m) - 1
	}
	return floorDiv(t, b.width.Milliseconds())
}

// start is the first millisecond of a bucket. It saturates at the ends of int64.
func (b Bucket) start(number int64) int64 {
	if b.kind == monthBucket {
		return time.Date(1970, time.Month(1+number), 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	}
	switch width := b.width.Milliseconds(); {
	case number > math.MaxInt64/width:
		return math.MaxInt64
	case number < math.MinInt64/width:
		return math.MinInt64
	default:
		return number * width
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// layout is how the start of a time bucket is written as text.
func (b Bucket) layout() string { return timeBuckets[b.kind].layout }

// text is the bucket of t as text.
func (b Bucket) text(t int64) (string, error) {
	start := time.UnixMilli(b.start(b.number(t))).UTC()
	if y := start.Year(); y < 0 || y > 9999 {
		return "", errors.New("the year of its bucket is not one of 0 to 9999, so it has no text")
	}
	return start.Format(b.layout()), nil
}
