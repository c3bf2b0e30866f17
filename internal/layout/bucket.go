package layout

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
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

// Check says what is wrong with the function by itself, or nil.
func (b Bucket) Check() error {
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

// Derivation is a validated Derive.
type Derivation struct {
	Versions []Version // by time; not by time, the one in use is the last
	Clock    int       // column of the row's time, which chooses the version; -1 without one
	Sources  []int     // all columns it follows from
	Type     *cqltype.Type
}

// Version is one bucket function of a derived column, and from when on it is used.
type Version struct {
	From    int64 // milliseconds
	Bucket  Bucket
	Sources []int
}

// Swept says whether rows may be stored under several functions.
func (d *Derivation) Swept() bool { return d.Clock < 0 && len(d.Versions) > 1 }

// At is the one in use for a row of time t, in milliseconds.
func (d *Derivation) At(t int64) *Version {
	for i := len(d.Versions) - 1; i > 0; i-- {
		if d.Clock < 0 || d.Versions[i].From <= t {
			return &d.Versions[i]
		}
	}
	return &d.Versions[0]
}

// Latest is the last of the functions.
func (d *Derivation) Latest() Bucket { return d.Versions[len(d.Versions)-1].Bucket }

// ErrAbsent says that a source is null: the row has no place in tables keyed by the derived column.
var ErrAbsent = errors.New("a column that it follows from is absent")

// Value is the encoded value for a row. of gives the columns of the row.
func (d *Derivation) Value(of func(column int) *cqltype.Value) ([]byte, error) {
	t, ok := d.time(of)
	if !ok {
		return nil, ErrAbsent
	}
	return d.Under(d.At(t), t, of)
}

// time is that of a row, 0 if there is no clock. It is false where it is absent.
func (d *Derivation) time(of func(column int) *cqltype.Value) (t int64, ok bool) {
	if d.Clock < 0 {
		return 0, true
	}
	v := of(d.Clock)
	if len(v.Data) == 0 { // also the empty value that the driver by itself makes of a zero time.Time
		return 0, false
	}
	return v.Instant(), true
}

// Gives says whether one of the functions gives the value for a row, or none can, as what it follows from is absent.
func (d *Derivation) Gives(data []byte, of func(column int) *cqltype.Value) bool {
	t, ok := d.time(of)
	return !ok || slices.ContainsFunc(d.Versions, func(v Version) bool {
		value, err := d.Under(&v, t, of)
		return errors.Is(err, ErrAbsent) || err == nil && bytes.Equal(value, data)
	})
}

// Under is value under one version.
func (d *Derivation) Under(v *Version, t int64, of func(column int) *cqltype.Value) ([]byte, error) {
	if v.Bucket.Kind != HashBucket {
		return EncodeBucket(v.Bucket, d.Type, t)
	}
	var array [4]*cqltype.Value
	values := array[:0]
	for _, i := range v.Sources {
		source := of(i)
		if source.Data == nil {
			return nil, ErrAbsent
		}
		values = append(values, source)
	}
	sum := sha256.Sum256(statement.PartitionKey(values))
	return EncodeNumber(d.Type, int64(binary.BigEndian.Uint64(sum[:8])%uint64(v.Bucket.N))) // n fits into the type
}

// EncodeBucket is the time bucket of t as a value of type typ.
func EncodeBucket(b Bucket, typ *cqltype.Type, t int64) ([]byte, error) {
	switch typ.Kind() {
	case gocql.TypeVarchar:
		text, err := b.Text(t)
		return []byte(text), err
	case gocql.TypeDate:
		days := FloorDiv(b.Start(b.Number(t)), day.Milliseconds()) + 1<<31
		if days < 0 || days > math.MaxUint32 {
			return nil, errors.New("its bucket is beyond what a date can hold")
		}
		return binary.BigEndian.AppendUint32(nil, uint32(days)), nil
	}
	return EncodeNumber(typ, b.Number(t))
}

// EncodeNumber is a number as a value of type typ.
func EncodeNumber(typ *cqltype.Type, n int64) ([]byte, error) {
	size := typ.Size()
	if bits := 8*size - 1; bits < 63 && (n < -1<<bits || n > 1<<bits-1) {
		return nil, fmt.Errorf("its bucket is beyond what a CQL %s can hold", typ)
	}
	return cqltype.Int64(n)[8-size:], nil
}

// Derive fills the derived columns of an encoded row, those that wanted says.
func (s *Set) Derive(row []cqltype.Value, wanted func(i int) bool) error {
	for _, i := range s.Derived {
		if !wanted(i) {
			continue
		}
		c := &s.Columns[i]
		row[i].Type = c.CQL
		data, err := c.Derived.Value(func(i int) *cqltype.Value { return &row[i] })
		switch {
		case errors.Is(err, ErrAbsent):
		case err != nil:
			return s.Invalid(nil, c.Name, err.Error())
		default:
			row[i].Data = data
		}
	}
	return nil
}
