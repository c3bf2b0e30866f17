package tables

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/gocql/gocql"
)

// Layout is one declared table as a reader sees it: keys, types, and which partitions can hold what. It is immutable and
// safe for concurrent use. The zero value is no layout; see [Set.Layout].
type Layout struct {
	set   *set
	table *table
}

// Layout gives that of the table declared under name, and false if there is none.
func (s *Set[T]) Layout(name string) (Layout, bool) {
	for _, t := range slices.Concat(s.def.tables, s.def.unique) {
		if t.name == name {
			return Layout{s.def, t}, true
		}
	}
	return Layout{}, false
}

// Entity is the name of the set.
func (l Layout) Entity() string { return l.set.entity }

// Name and Keyspace are as declared.
func (l Layout) Name() string { return l.table.name }

// Keyspace is the logical keyspace, empty for the session's.
func (l Layout) Keyspace() string { return l.table.keyspace }

// Partition are the columns of the partition key, in order.
func (l Layout) Partition() []string { return slices.Clone(l.table.keyNames[:l.table.part]) }

// Clustering are the clustering columns, in order.
func (l Layout) Clustering() []string { return slices.Clone(l.table.keyNames[l.table.part:]) }

// Desc says whether clustering column i is declared DESC.
func (l Layout) Desc(i int) bool { return l.table.desc[l.table.part+i] }

// Columns are the columns to select: the clustering columns, then the other ones that are fields.
func (l Layout) Columns() []string {
	out := l.Clustering()
	for _, name := range l.table.fieldNames {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Field is the index of the column's field in the row type, as for [reflect.Value.FieldByIndex]; nil if it is none.
func (l Layout) Field(column string) []int {
	if c := l.column(column); c != nil {
		return c.index
	}
	return nil
}

// Derived says whether the column is derived.
func (l Layout) Derived(column string) bool {
	c := l.column(column)
	return c != nil && c.derived != nil
}

// Functions are the bucket functions that decide which partitions a row stands in, as text.
func (l Layout) Functions() []string {
	var out []string
	add := func(d *derivation) {
		for _, v := range d.versions {
			out = append(out, fmt.Sprintf("%s from %d", v.bucket, v.from))
		}
	}
	for _, i := range l.table.key[:l.table.part] {
		if d := l.set.columns[i].derived; d != nil {
			add(d)
		}
	}
	if l.table.rotation != nil {
		add(l.table.rotation)
	}
	return out
}

// Compare orders two encoded values of clustering column i as the server does, ascending.
func (l Layout) Compare(i int, a, b []byte) int {
	return l.clustering(i).cql.Compare(a, b)
}

// Raw makes a value of clustering column i of what is encoded already, and Fits says whether data can be one.
func (l Layout) Raw(i int, data []byte) *Value {
	return &Value{typ: l.clustering(i).cql, data: data}
}

// Fits is the check that goes before [Layout.Raw].
func (l Layout) Fits(i int, data []byte) bool {
	c := l.clustering(i)
	return keyFault(c, data) == "" && malformed(c.cql, data) == ""
}

// PartitionKey encodes the columns of the partition key, in order.
func (l Layout) PartitionKey(values []*Value) []byte { return partitionKey(values) }

func (l Layout) clustering(i int) *column { return &l.set.columns[l.table.key[l.table.part+i]] }

func (l Layout) column(name string) *column {
	for _, i := range l.table.columns {
		if c := &l.set.columns[i]; c.name == name {
			return c
		}
	}
	return nil
}

// Encode encodes a value of a key column. The value is of the field's Go type, or of one like it. The error holds no
// value.
func (l Layout) Encode(column string, value any) (*Value, error) {
	c := l.column(column)
	if c == nil {
		return nil, l.set.invalid(l.table, column, "is no column of the table")
	}
	want := deref(c.goType)
	v := reflect.ValueOf(value)
	if v.IsValid() && v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().Elem() == want {
		v = v.Elem()
	}
	if !v.IsValid() || !like(v, want) {
		return nil, l.set.invalid(l.table, column, fmt.Sprintf("a value of Go type %T, it must be %s", value, want))
	}
	field := reflect.New(want)
	field.Elem().Set(v.Convert(want))
	if c.goType.Kind() != reflect.Pointer {
		field = field.Elem()
	}
	data, err := encodeField(c, field)
	if err != nil {
		return nil, l.set.invalid(l.table, column, err.Error())
	}
	if data == nil {
		return nil, l.set.invalid(l.table, column, "the value is absent, as the zero time is")
	}
	if reason := keyFault(c, data); reason != "" {
		return nil, l.set.invalid(l.table, column, reason)
	}
	return &Value{typ: c.cql, data: data}, nil
}

// like says whether v can stand for a value of type want: it is of its kind, or a whole number that fits.
func like(v reflect.Value, want reflect.Type) bool {
	if v.Type() == want || v.Kind() == want.Kind() && v.CanConvert(want) {
		return true
	}
	return v.CanInt() && want.Kind() >= reflect.Int && want.Kind() <= reflect.Int64 && !reflect.New(want).Elem().OverflowInt(v.Int())
}

// Moment is the first or the last timeuuid of the moment t, which has a resolution of 100 ns, and false if the column is
// not a timeuuid.
func (l Layout) Moment(column string, t time.Time, last bool) (*Value, bool) {
	c := l.column(column)
	if c == nil || c.cql.Kind() != gocql.TypeTimeUUID {
		return nil, false
	}
	n := t.Unix()*1e7 + int64(t.Nanosecond()/100) + unixTicks
	n = max(0, min(n, 1<<60-1))
	data := make([]byte, 16)
	binary.BigEndian.PutUint32(data, uint32(n))
	binary.BigEndian.PutUint16(data[4:], uint16(n>>32))
	binary.BigEndian.PutUint16(data[6:], uint16(n>>48)|1<<12)
	for i := 8; i < 16; i++ { // the server compares these bytes as signed ones
		data[i] = firstByte
		if last {
			data[i] = lastByte
		}
	}
	return &Value{typ: c.cql, data: data}, true
}

const (
	firstByte = 0x80
	lastByte  = 0x7f
)

// Ceil is the first time that is not before t and that the column can hold exactly: timestamps have milliseconds, timeuuids
// 100 ns, dates days. What t is encoded as is the last one not after it.
func (l Layout) Ceil(column string, t time.Time) time.Time {
	c := l.column(column)
	if c == nil {
		return t
	}
	switch c.cql.Kind() {
	case gocql.TypeTimestamp:
		return t.Add(time.Millisecond - 1)
	case gocql.TypeTimeUUID:
		return t.Add(timeUUIDResolution - 1)
	case gocql.TypeDate:
		return t.Add(day - 1)
	}
	return t
}

// timeUUIDResolution is that of the time in a timeuuid.
const timeUUIDResolution = 100 * time.Nanosecond

// Bounds are what a query says of the key of a table.
type Bounds struct {
	Equal map[string]*Value
	// Low and High limit a clustering column. Both have to be there for the time that buckets follow from.
	Low, High map[string]Bound
}

// Bound is one end of a range.
type Bound struct {
	Value *Value
	Open  bool // the value itself is out
}

// Slot is one partition that can hold rows of a query, as far as buckets tell it.
type Slot struct {
	Table   string   // physical
	Buckets []*Value // the derived columns of the partition key, in its order
	Group   int      // slots of one group can hold rows of the same time
}

// Slots are the partitions that can hold rows of a query.
type Slots struct {
	List []Slot // no two of one table have equal buckets
	// Clock is the time column by which the groups follow each other, earlier ones first. It is empty if they do not: then
	// there is one group.
	Clock string
}

// MissingError says which column a query lacks.
type MissingError struct{ Table, Column, Reason string }

func (e *MissingError) Error() string { return Fault(*e).String() }

// TooManyError says that a query would ask more partitions than allowed.
type TooManyError struct {
	Table string
	Limit int
}

func (e *TooManyError) Error() string {
	return fmt.Sprintf("table %s: the query asks more than %d partitions: narrow its range of time", e.Table, e.Limit)
}

// Slots lists the partitions that can hold rows within bounds, at most limit. The error is a [*MissingError] or a
// [*TooManyError].
func (l Layout) Slots(bounds Bounds, limit int) (Slots, error) {
	e := enumeration{Layout: l, bounds: bounds, limit: limit, times: make(map[int]int64), seen: make(map[string]bool)}
	for _, i := range l.table.key[:l.table.part] {
		c := &l.set.columns[i]
		if c.derived == nil {
			continue
		}
		e.columns = append(e.columns, i)
		if _, fixed := bounds.Equal[c.name]; !fixed {
			e.addClock(c.derived)
		}
	}
	if l.table.rotation != nil {
		e.addClock(l.table.rotation)
	}
	if err := e.clock(0); err != nil {
		return Slots{}, err
	}
	out := Slots{List: e.out}
	if len(e.clocks) == 1 && !e.repeated {
		out.Clock = l.set.columns[e.clocks[0]].name
		return out, nil
	}
	for i := range out.List {
		out.List[i].Group = 0
	}
	return out, nil
}

// enumeration is one call of Slots.
type enumeration struct {
	Layout
	bounds   Bounds
	limit    int
	columns  []int         // the derived columns of the partition key
	clocks   []int         // the time columns that they and the table's name follow from
	times    map[int]int64 // of the clocks, milliseconds
	group    int
	out      []Slot
	seen     map[string]bool
	repeated bool
}

func (e *enumeration) addClock(d *derivation) {
	if d.clock >= 0 && !slices.Contains(e.clocks, d.clock) {
		e.clocks = append(e.clocks, d.clock)
	}
}

// clock goes through the time that column n of the clocks can have, from one moment at which something changes to the
// next.
func (e *enumeration) clock(n int) error {
	if n == len(e.clocks) {
		err := e.slots(0, nil)
		if e.group++; e.group > e.limit && err == nil { // buckets that no row can be in count too
			err = &TooManyError{e.table.name, e.limit}
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

// span is the first and the last millisecond that a time column can have.
func (e *enumeration) span(i int) (first, last int64, err error) {
	c := &e.set.columns[i]
	if v := e.bounds.Equal[c.name]; v != nil {
		return instantOf(v), instantOf(v), nil
	}
	missing := func(what string) error {
		return &MissingError{e.table.name, c.name, what + ": which buckets hold the rows follows from it"}
	}
	low, ok := e.bounds.Low[c.name]
	if !ok {
		return 0, 0, missing("a lower bound is missing")
	}
	high, ok := e.bounds.High[c.name]
	if !ok {
		return 0, 0, missing("an upper bound is missing")
	}
	first, last = instantOf(low.Value), instantOf(high.Value)
	timestamp := c.cql.Kind() == gocql.TypeTimestamp
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
	case !slices.ContainsFunc(high.Value.data[8:], func(b byte) bool { return b != firstByte }):
		last = floorDiv(ticks(high.Value.data)-unixTicks-1, ticksPerMilli)
	}
	return first, last, nil
}

// next is the first time after t at which something that follows from time column i changes.
func (e *enumeration) next(i int, t int64) int64 {
	next := int64(math.MaxInt64)
	for _, c := range e.columns {
		if d := e.set.columns[c].derived; d.clock == i {
			next = min(next, d.next(t))
		}
	}
	if d := e.table.rotation; d != nil && d.clock == i {
		next = min(next, d.next(t))
	}
	return next
}

// next is the first time after t at which the value may be another one.
func (d *derivation) next(t int64) int64 {
	next := int64(math.MaxInt64)
	for i := range d.versions {
		if v := &d.versions[i]; i > 0 && v.from > t {
			next = min(next, v.from)
		}
	}
	if b := d.version(t).bucket; b.kind != hashBucket {
		next = min(next, b.start(b.number(t)+1))
	}
	return next
}

// slots appends the product of the values that the derived columns can have at the times chosen.
func (e *enumeration) slots(n int, buckets []*Value) error {
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
func (e *enumeration) values(i int) []*Value {
	c := &e.set.columns[i]
	if v := e.bounds.Equal[c.name]; v != nil {
		return []*Value{v}
	}
	d := c.derived
	var t int64
	if d.clock >= 0 {
		t = e.times[d.clock]
	}
	versions := []*version{d.version(t)}
	if d.swept() {
		versions = versions[:0]
		for v := range d.versions {
			versions = append(versions, &d.versions[v])
		}
	}
	var out []*Value
	add := func(data []byte, err error) {
		if err == nil && !slices.ContainsFunc(out, func(v *Value) bool { return string(v.data) == string(data) }) {
			out = append(out, &Value{typ: c.cql, data: data})
		}
	}
	for _, v := range versions {
		switch {
		case v.bucket.kind != hashBucket:
			add(encodeBucket(v.bucket, c.cql, t))
		case e.known(v):
			add(d.under(v, t, func(i int) *Value { return e.bounds.Equal[e.set.columns[i].name] }))
		default:
			for n := range v.bucket.n {
				add(encodeNumber(c.cql, int64(n)))
			}
		}
	}
	return out
}

// known says whether the query fixes everything that a hash is computed from.
func (e *enumeration) known(v *version) bool {
	for _, i := range v.sources {
		if e.bounds.Equal[e.set.columns[i].name] == nil {
			return false
		}
	}
	return true
}

func (e *enumeration) add(buckets []*Value) error {
	s := Slot{Table: e.table.name, Buckets: buckets, Group: e.group}
	if d := e.table.rotation; d != nil {
		t := e.times[d.clock]
		if _, err := d.versions[0].bucket.text(t); err != nil {
			return nil //nolint:nilerr // no row of that time can be written
		}
		s.Table = e.table.rotated(t)
	}
	id := s.Table + "\x00" + string(partitionKeyOf(buckets))
	if e.seen[id] {
		// In the same group it is one of two functions without a time; in another, functions of different times
		// have a bucket in common.
		e.repeated = true
		return nil
	}
	e.seen[id] = true
	if len(e.out) >= e.limit {
		return &TooManyError{e.table.name, e.limit}
	}
	e.out = append(e.out, s)
	return nil
}

func partitionKeyOf(values []*Value) []byte {
	if len(values) == 0 {
		return nil
	}
	return partitionKey(values)
}
