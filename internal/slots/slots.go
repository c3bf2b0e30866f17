// Package slots says which partitions can hold the rows of a query, by the buckets of a table. It is pure: no I/O, no
// session, no clock.
package slots

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/gocql/gocql"
)

// Bounds are what a query says of the key of a table.
type Bounds struct {
	Equal map[string]*cqltype.Value
	// Low and High limit the clustering column Ranged. Both have to be there if buckets follow from it.
	Ranged    string
	Low, High *Bound
}

// Bound is one end of a range.
type Bound struct {
	Value *cqltype.Value
	Open  bool // the value itself is out
}

// Slot is one partition that can hold rows of a query, as far as buckets tell it.
type Slot struct {
	Table   string           // physical
	Buckets []*cqltype.Value // the derived columns of the partition key, in its order
	Group   int              // slots of one group can hold rows of the same time
}

// Slots are the partitions that can hold rows of a query.
type Slots struct {
	List []Slot // no two of one table have equal buckets
	// Clock is the time column by which the groups follow each other, earlier ones first. It is empty if they do not: then
	// there is one group.
	Clock string
}

// Of lists the partitions that can hold rows within bounds, at most limit. Its errors are those that fail makes of what
// is wrong with a query, and of the column that it lacks.
func Of(l tablerow.Layout, bounds Bounds, limit int, fail func(column, reason string) error) (Slots, error) {
	e := enumeration{
		Layout: l, bounds: bounds, limit: limit, fail: fail, all: l.Derivations(), times: make(map[int]int64),
		seen: make(map[string]bool),
	}
	for _, i := range l.Table.Key[:l.Table.Part] {
		c := &l.Set.Columns[i]
		if c.Derived == nil {
			continue
		}
		e.columns = append(e.columns, i)
		if _, fixed := bounds.Equal[c.Name]; !fixed {
			e.addClock(c.Derived)
		}
	}
	if l.Table.Rotation != nil {
		e.addClock(l.Table.Rotation)
	}
	if err := e.clock(0); err != nil {
		return Slots{}, err
	}
	out := Slots{List: e.out}
	if len(e.clocks) == 1 && !e.repeated {
		out.Clock = l.Set.Columns[e.clocks[0]].Name
		return out, nil
	}
	for i := range out.List {
		out.List[i].Group = 0
	}
	return out, nil
}

// enumeration is one call of Slots.
type enumeration struct {
	tablerow.Layout
	bounds   Bounds
	limit    int
	fail     func(column, reason string) error
	all      []*layout.Derivation // what decides which partitions a row is in
	columns  []int                // the derived columns of the partition key
	clocks   []int                // the time columns that they and the table's name follow from
	times    map[int]int64        // of the clocks, milliseconds
	group    int
	out      []Slot
	seen     map[string]bool
	repeated bool
}

func (e *enumeration) tooMany() error {
	return e.fail("", fmt.Sprintf("the query asks more than %d partitions: narrow its range of time, or see the option "+
		"Partitions", e.limit))
}

func (e *enumeration) addClock(d *layout.Derivation) {
	if d.Clock >= 0 && !slices.Contains(e.clocks, d.Clock) {
		e.clocks = append(e.clocks, d.Clock)
	}
}

// clock goes through the time that column n of the clocks can have, from one moment at which something changes to the
// next.
func (e *enumeration) clock(n int) error {
	if n == len(e.clocks) {
		err := e.slots(0, nil)
		if e.group++; e.group > e.limit && err == nil { // buckets that no row can be in count too
			err = e.tooMany()
		}
		return err
	}
	i := e.clocks[n]
	t, last, err := e.span(i)
	if err != nil {
		return err
	}
	for t <= last {
		e.times[i] = t
		if err := e.clock(n + 1); err != nil {
			return err
		}
		next := e.next(i, t)
		if next <= t {
			break // the end of what can be counted
		}
		t = next
	}
	return nil
}

// bucketOf is a bucket of the partition key that follows from a time which the table has not in its key, empty if the
// time is there.
func (e *enumeration) bucketOf(clock int) string {
	if slices.Contains(e.Table.Key, clock) {
		return ""
	}
	for _, i := range e.Table.Key[:e.Table.Part] {
		if d := e.Set.Columns[i].Derived; d != nil && d.Clock == clock {
			return e.Set.Columns[i].Name
		}
	}
	return ""
}

// span is the first and the last millisecond that a time column can have.
func (e *enumeration) span(i int) (first, last int64, err error) {
	c := &e.Set.Columns[i]
	if v := e.bounds.Equal[c.Name]; v != nil {
		return v.Instant(), v.Instant(), nil
	}
	missing := func(what string) error {
		if of := e.bucketOf(i); of != "" {
			return e.fail(of, fmt.Sprintf("it follows from %s, which is not in the key of the table, so no range of its values "+
				"can be asked: give one value with Eq(%q, ...)", c.Name, of))
		}
		return e.fail(c.Name, what+": which buckets hold the rows follows from it")
	}
	low, high := e.bounds.Low, e.bounds.High
	switch {
	case low == nil, e.bounds.Ranged != c.Name:
		return 0, 0, missing("a lower bound is missing")
	case high == nil:
		return 0, 0, missing("an upper bound is missing")
	}
	first, last = low.Value.Instant(), high.Value.Instant()
	timestamp := c.CQL.Kind() == gocql.TypeTimestamp
	if low.Open && timestamp {
		if first == math.MaxInt64 {
			return 1, 0, nil
		}
		first++
	}
	switch {
	case !high.Open:
	case timestamp:
		if last == math.MinInt64 {
			return 1, 0, nil
		}
		last--
	case !slices.ContainsFunc(high.Value.Data[8:], func(b byte) bool { return b != tablerow.FirstByte }):
		last = layout.FloorDiv(cqltype.Ticks(high.Value.Data)-cqltype.UnixTicks-1, cqltype.TicksPerMilli)
	}
	return first, last, nil
}

// next is the first time after t at which something that follows from time column i changes.
func (e *enumeration) next(i int, t int64) int64 {
	next := int64(math.MaxInt64)
	for _, d := range e.all {
		if d.Clock == i {
			next = min(next, nextOf(d, t))
		}
	}
	return next
}

// next is the first time after t at which the value may be another one.
func nextOf(d *layout.Derivation, t int64) int64 {
	next := int64(math.MaxInt64)
	for i := range d.Versions {
		if v := &d.Versions[i]; i > 0 && v.From > t {
			next = min(next, v.From)
		}
	}
	if b := d.At(t).Bucket; b.Kind != layout.HashBucket {
		next = min(next, b.Start(b.Number(t)+1))
	}
	return next
}

// slots appends the product of the values that the derived columns can have at the times chosen.
func (e *enumeration) slots(n int, buckets []*cqltype.Value) error {
	if n == len(e.columns) {
		return e.add(buckets)
	}
	for _, v := range e.values(e.columns[n]) {
		if err := e.slots(n+1, append(buckets[:n:n], v)); err != nil {
			return err
		}
	}
	return nil
}

// values are those that derived column i can have at the times chosen. None: no row can be written there.
func (e *enumeration) values(i int) []*cqltype.Value {
	c := &e.Set.Columns[i]
	if v := e.bounds.Equal[c.Name]; v != nil {
		return []*cqltype.Value{v}
	}
	d := c.Derived
	var t int64
	if d.Clock >= 0 {
		t = e.times[d.Clock]
	}
	versions := d.Versions
	if !d.Swept() {
		versions = []layout.Version{*d.At(t)}
	}
	var out []*cqltype.Value
	add := func(data []byte, err error) {
		if err == nil && !slices.ContainsFunc(out, func(v *cqltype.Value) bool { return string(v.Data) == string(data) }) {
			out = append(out, &cqltype.Value{Type: c.CQL, Data: data})
		}
	}
	for i := range versions {
		switch v := &versions[i]; {
		case v.Bucket.Kind != layout.HashBucket:
			add(layout.EncodeBucket(v.Bucket, c.CQL, t))
		case e.known(v):
			add(d.Under(v, t, func(i int) *cqltype.Value { return e.bounds.Equal[e.Set.Columns[i].Name] }))
		default:
			for n := range v.Bucket.N {
				add(layout.EncodeNumber(c.CQL, int64(n)))
			}
		}
	}
	return out
}

// known says whether the query fixes everything that a hash is computed from.
func (e *enumeration) known(v *layout.Version) bool {
	return !slices.ContainsFunc(v.Sources, func(i int) bool { return e.bounds.Equal[e.Set.Columns[i].Name] == nil })
}

func (e *enumeration) add(buckets []*cqltype.Value) error {
	s := Slot{Table: e.Table.Name, Buckets: buckets, Group: e.group}
	if d := e.Table.Rotation; d != nil {
		t := e.times[d.Clock]
		if _, err := d.Versions[0].Bucket.Text(t); err != nil {
			return nil //nolint:nilerr // no row of that time can be written
		}
		s.Table = e.Table.Rotated(t)
	}
	id := s.Table + "\x00" + string(statement.PartitionKey(buckets))
	if e.seen[id] {
		// In the same group it is one of two functions without a time; in another, functions of different times
		// have a bucket in common.
		e.repeated = true
		return nil
	}
	e.seen[id] = true
	if len(e.out) >= e.limit {
		return e.tooMany()
	}
	e.out = append(e.out, s)
	return nil
}

// BucketFault says why a derived column of the table never has value v, and is empty where it may, and for other
// columns.
func BucketFault(l tablerow.Layout, column string, v *cqltype.Value) string {
	c := l.Column(column)
	if c == nil || c.Derived == nil {
		return ""
	}
	reason := ""
	for i := range c.Derived.Versions {
		b := c.Derived.Versions[i].Bucket
		if b.Kind == layout.HashBucket {
			if n := cqltype.Number(v.Data); n >= 0 && n < int64(b.N) {
				return ""
			}
			reason = fmt.Sprintf("no bucket of %s: they are 0 to %d", b, b.N-1)
			continue
		}
		if has(b, v) {
			return ""
		}
		if example, err := b.Text(0); err == nil && v.Type.Kind() == gocql.TypeVarchar {
			reason = fmt.Sprintf("no bucket of %s: want text as in %s", b, example)
		} else {
			reason = fmt.Sprintf("no bucket of %s: want the date on which one begins", b)
		}
	}
	return reason
}

// has says whether a value of a derived column is a bucket of time. Of numbers all are.
func has(b layout.Bucket, v *cqltype.Value) bool {
	var t int64
	switch v.Type.Kind() {
	case gocql.TypeVarchar:
		begins, err := time.Parse(b.Layout(), string(v.Data))
		if err != nil {
			return false
		}
		t = begins.UnixMilli()
	case gocql.TypeDate:
		t = cqltype.Day(v.Data).UnixMilli()
	default:
		return true
	}
	data, err := layout.EncodeBucket(b, v.Type, t)
	return err == nil && bytes.Equal(data, v.Data)
}
