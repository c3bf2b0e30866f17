package layout

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/gocql/gocql"
)

// Bucket is a tables.Bucket.
type Bucket struct {
	Kind    BucketKind
	Width   time.Duration // of a bucket of time, months excepted
	N       int           // of hash
	Sources []string
}

// BucketKind is one of the functions of buckets.
type BucketKind uint8

// The functions.
const (
	NoBucket BucketKind = iota
	HourBucket
	DayBucket
	MonthBucket
	EveryBucket
	HashBucket
)

// timeBuckets are the functions of time: their names, and how the start of a bucket is written as text.
var timeBuckets = [...]struct{ name, layout string }{
	HourBucket:  {"hour", "2006-01-02-15"},
	DayBucket:   {"day", "2006-01-02"},
	MonthBucket: {"month", "2006-01"},
	EveryBucket: {"every", "2006-01-02T15:04:05Z"},
}

// String is the function as it is declared, for example hour(ts).
func (b Bucket) String() string {
	columns := strings.Join(b.Sources, ", ")
	switch b.Kind {
	case NoBucket:
		return "no function"
	case EveryBucket:
		return fmt.Sprintf("every(%v, %s)", b.Width, columns)
	case HashBucket:
		return fmt.Sprintf("hash(%d, %s)", b.N, columns)
	default:
		return timeBuckets[b.Kind].name + "(" + columns + ")"
	}
}

// maxBuckets bounds Hash: a read asks all of them.
const maxBuckets = 1024

// Valid says what is wrong with the function by itself, or nil.
func (b Bucket) Valid() error {
	switch {
	case b.Kind == NoBucket:
		return errors.New("the function is missing")
	case b.Kind == EveryBucket && (b.Width <= 0 || b.Width%time.Millisecond != 0):
		return fmt.Errorf("a period of %v: it must be positive and whole milliseconds, the resolution of a timestamp",
			b.Width)
	case b.Kind == HashBucket && (b.N < 1 || b.N > maxBuckets):
		return fmt.Errorf("%d buckets: 1 to %d can be, as a read asks each of them", b.N, maxBuckets)
	case b.Kind == HashBucket && len(b.Sources) == 0:
		return errors.New("a hash of no column")
	}
	return nil
}

// Type is the CQL type of the function where no other is declared.
func (b Bucket) Type() string {
	if b.Kind == HashBucket || b.Kind == EveryBucket {
		return "int"
	}
	return "text"
}

// Fits says why buckets cannot be written down as CQL type t, or nil.
func (b Bucket) Fits(t *cqltype.Type) error {
	if b.Kind == HashBucket {
		switch t.Kind() {
		case gocql.TypeTinyInt, gocql.TypeSmallInt, gocql.TypeInt, gocql.TypeBigInt:
			if bits := 8*t.Size() - 1; bits < 63 && int64(b.N) > 1<<bits {
				return fmt.Errorf("%d buckets do not fit into a %s", b.N, t)
			}
			return nil
		}
		return fmt.Errorf("a hash bucket is tinyint, smallint, int or bigint, not %s", t)
	}
	switch t.Kind() {
	case gocql.TypeInt, gocql.TypeBigInt:
		return nil
	case gocql.TypeVarchar:
		if b.Kind == EveryBucket && b.Width%time.Second != 0 {
			return fmt.Errorf("periods of %v cannot be distinguished as text, which has seconds: declare int or bigint", b.Width)
		}
		return nil
	case gocql.TypeDate:
		if b.Kind == HourBucket || b.Kind == EveryBucket && b.Width%day != 0 {
			return errors.New("several buckets would share a date: declare text, int or bigint")
		}
		return nil
	}
	return fmt.Errorf("a time bucket is text, int, bigint or date, not %s", t)
}

const day = 24 * time.Hour

// Number is how many buckets lie between 1970 and the one of t, in milliseconds; negative before 1970.
func (b Bucket) Number(t int64) int64 {
	if b.Kind == MonthBucket {
		y, m, _ := time.UnixMilli(t).UTC().Date()
		return int64(y-1970)*12 + int64(m) - 1
	}
	return FloorDiv(t, b.Width.Milliseconds())
}

// Start is the first millisecond of a bucket. It saturates at the ends of int64.
func (b Bucket) Start(number int64) int64 {
	if b.Kind == MonthBucket {
		return time.Date(1970, time.Month(1+number), 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	}
	switch width := b.Width.Milliseconds(); {
	case number > math.MaxInt64/width:
		return math.MaxInt64
	case number < math.MinInt64/width:
		return math.MinInt64
	default:
		return number * width
	}
}

// FloorDiv divides and rounds down.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Layout is how the start of a time bucket is written as text.
func (b Bucket) Layout() string { return timeBuckets[b.Kind].layout }

// Text is the bucket of t as text.
func (b Bucket) Text(t int64) (string, error) {
	start := time.UnixMilli(b.Start(b.Number(t))).UTC()
	if y := start.Year(); y < 0 || y > 9999 {
		return "", errors.New("the year of its bucket is not one of 0 to 9999, so it has no text")
	}
	return start.Format(b.Layout()), nil
}
