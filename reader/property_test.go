package reader

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/testutil/length"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

var seed = flag.Uint64("reader.seed", 1, "seed of the property tests")

type reading struct {
	Sensor string
	Level  int32
	At     time.Time
	Seq    gocql.UUID
	N      int32
}

// shapes are the clustering keys that are tried, with the column that a query may range over and those before it, which
// it fixes or must not range beyond.
var shapes = [][]string{
	{"at", "n"},
	{"at DESC", "n"},
	{"at", "n DESC"},
	{"at DESC", "n DESC"},
	{"level", "at DESC", "n"},
	{"level DESC", "at", "n DESC"},
	{"seq", "n"},
	{"seq DESC", "n DESC"},
	{"level", "n DESC", "at"},
}

type trial struct {
	rnd     *rand.Rand
	text    string
	set     *tables.Set[reading]
	fake    *fakeSource
	rows    []reading
	columns []string // of the clustering key
	desc    []bool
	from    time.Time // the stretch of time in which rows are
	step    time.Duration
}

func pick[V any](r *rand.Rand, values ...V) V { return values[r.IntN(len(values))] }

// bucket draws a function of time, with the length of its buckets, or a hash.
func (x *trial) bucket(source string) tables.Bucket {
	switch x.rnd.IntN(6) {
	case 0:
		if x.step > 10*time.Hour {
			return tables.Day(source)
		}
		return tables.Hour(source)
	case 1:
		return tables.Day(source)
	case 2:
		return tables.Month(source)
	case 3:
		return tables.Every(x.step/4*time.Duration(1+x.rnd.IntN(30)), source)
	case 4:
		return tables.Every(7*24*time.Hour, source)
	}
	return tables.Hash(1+x.rnd.IntN(7), pick(x.rnd, []string{"n"}, []string{"sensor"}, []string{source, "n"},
		[]string{"level"})...)
}

func newTrial(t *testing.T, n uint64) *trial {
	t.Helper()
	x := &trial{rnd: rand.New(rand.NewPCG(*seed, n))}
	shape := pick(x.rnd, shapes...)
	clock := "at"
	for _, s := range shape {
		var name, order string
		_, _ = fmt.Sscan(s, &name, &order)
		x.columns, x.desc = append(x.columns, name), append(x.desc, order == "DESC")
		if name == "seq" {
			clock = "seq"
		}
	}
	x.from = time.Date(pick(x.rnd, 1969, 1970, 2024), 12, 31, 20, 0, 0, 0, time.UTC)
	x.step = pick(x.rnd, time.Minute, 30*time.Minute, 5*time.Hour, 9*24*time.Hour)
	options := []tables.Option{tables.Type("seq", "timeuuid")}
	table := tables.Table{Name: "readings", PartKey: []string{"sensor"}, SortKey: shape}
	x.text = fmt.Sprint(shape)
	for i := range x.rnd.IntN(3) {
		name := fmt.Sprintf("b%c", 'a'+i)
		table.PartKey = append(table.PartKey, name)
		first := x.bucket(clock)
		var later []tables.Since
		for v := range pick(x.rnd, 0, 0, 1, 2) {
			later = append(later, tables.Since{
				Time: x.from.Add(time.Duration(v+1) * 20 * x.step).Truncate(time.Millisecond), Of: clock, Bucket: x.bucket(clock),
			})
		}
		options = append(options, tables.Derive(name, first, later...), tables.Type(name, "int"))
		x.text += fmt.Sprint(" ", first, later)
	}
	if x.rnd.IntN(4) == 0 {
		table.Rotate = pick(x.rnd, tables.Month(clock), tables.Day(clock), tables.Every(3*24*time.Hour, clock))
		x.text += " rotate " + table.Rotate.String()
	}
	set, err := tables.New[reading]("reading", append(options, table)...)
	if err != nil {
		t.Fatalf("case %d, %s: %v", n, x.text, err)
	}
	x.set, x.fake = set, newFake(describe.Of(set.Internal()))
	x.fill(t)
	return x
}

// moment is often at the edge of something.
func (x *trial) moment() time.Time {
	t := x.from.Add(time.Duration(x.rnd.IntN(60)) * x.step)
	switch x.rnd.IntN(4) {
	case 0:
		t = t.Truncate(time.Hour)
	case 1:
		t = t.Truncate(24 * time.Hour)
	}
	return t.Add(time.Duration(pick(x.rnd, -1, 0, 0, 1)) * time.Millisecond)
}

func (x *trial) fill(t *testing.T) {
	t.Helper()
	for range x.rnd.IntN(120) {
		at := x.moment()
		row := reading{
			pick(x.rnd, "s", "s", "s", "other"), x.rnd.Int32N(3) - 1, at.UTC(), seqOf(at, byte(x.rnd.IntN(3))),
			x.rnd.Int32N(4) - 1,
		}
		if len(x.rows) > 0 && x.rnd.IntN(3) == 0 { // the clustering key of another row, perhaps in another bucket
			level := row.Level
			row = pick(x.rnd, x.rows...)
			row.Level = level
		}
		if x.fake.write(t, x.set.Insert(row)) { // else there is a row with this key
			x.rows = append(x.rows, row)
		}
	}
	// A rotating table is there for any time.
	if r, ok := x.set.Internal().Tables[0].Rotates(); ok {
		for at := x.from.Add(-100 * 24 * time.Hour); at.Before(x.from.Add(70 * x.step)); {
			name, _, next := r.At(at)
			if x.fake.tables[name] == nil {
				x.fake.tables[name] = x.fake.table(name)
			}
			at = next
		}
	}
}

// seqOf is a timeuuid with bytes behind the time of which the server compares the sign.
func seqOf(at time.Time, n byte) gocql.UUID {
	u := gocql.UUIDFromTime(at)
	copy(u[8:], []byte{0x80 + 0x3f*(n&1), 0x7f + n, 1, 2, 3, 4, 5, n})
	return u
}

// compareRows orders rows as the table, or against it.
func (x *trial) compareRows(a, b reading, reverse bool) int {
	for i, name := range x.columns {
		var c int
		switch name {
		case "level":
			c = cmp.Compare(a.Level, b.Level)
		case "at":
			c = a.At.Compare(b.At)
		case "seq":
			c = compareFake(gocql.TypeTimeUUID, a.Seq[:], b.Seq[:])
		case "n":
			c = cmp.Compare(a.N, b.N)
		}
		if c != 0 {
			if x.desc[i] != reverse {
				return -c
			}
			return c
		}
	}
	return 0
}

// For any bucket functions, range and data, in any order, with pages of any size, continued anywhere: what a query
// gives is what filtering and sorting all rows gives.
func TestFanInEqualsFiltering(t *testing.T) {
	t.Parallel()
	var stats struct{ rows, partitions, ties, tokens int }
	cases := max(60, length.Of(t, 300))
	for n := range uint64(cases) {
		x := newTrial(t, n)
		q, keep, reverse := x.query()
		var want []reading
		for _, row := range x.rows {
			if keep(row) {
				want = append(want, row)
			}
		}
		slices.SortStableFunc(want, func(a, b reading) int { return x.compareRows(a, b, reverse) })

		r := newReader(x.fake, "shop", PageSize(1+x.rnd.IntN(5)), Parallel(1+x.rnd.IntN(5)), Partitions(100_000))
		got, _, err := List(t.Context(), r, "list", q)
		if err != nil {
			t.Fatalf("case %d, %s: %v", n, x.text, err)
		}
		x.compare(t, n, "all at once", got, want, reverse)
		if most := int(x.fake.most.Load()); most > r.parallel {
			t.Fatalf("case %d: %d requests at once, %d are allowed", n, most, r.parallel)
		}
		for i := 1; i < len(got); i++ {
			if x.compareRows(got[i-1], got[i], reverse) == 0 {
				stats.ties++
			}
		}

		// In pieces, each by a reader that knows nothing but the token.
		var pieces []reading
		var token Token
		for {
			limit := 1 + x.rnd.IntN(6)
			other := newReader(x.fake, "shop", PageSize(1+x.rnd.IntN(3)), Parallel(1+x.rnd.IntN(20)), Partitions(100_000))
			piece, next, err := List(t.Context(), other, "list", q.Limit(limit).After(token))
			if err != nil {
				t.Fatalf("case %d, %s: %v", n, x.text, err)
			}
			if len(piece) > limit {
				t.Fatalf("case %d: %d rows, the limit is %d", n, len(piece), limit)
			}
			pieces = append(pieces, piece...)
			if token = next; token == "" {
				break
			}
			stats.tokens++
		}
		if !slices.Equal(pieces, got) {
			t.Fatalf("case %d, %s: in pieces\n%v\nall at once\n%v", n, x.text, pieces, got)
		}
		stats.rows += len(got)
		if p, err := r.plan(&q.query); err == nil {
			stats.partitions += p.partitions
		}
	}
	t.Logf("%d cases: %d rows, %d of them equal to the one before, %d partitions, continued %d times", cases, stats.rows,
		stats.ties, stats.partitions, stats.tokens)
	if stats.ties == 0 || stats.rows < cases {
		t.Error("too little was compared")
	}
}

// compare holds rows against what is wanted; rows with equal clustering keys may come in any order.
func (x *trial) compare(t *testing.T, n uint64, how string, got, want []reading, reverse bool) {
	t.Helper()
	fail := func(what string) {
		t.Helper()
		t.Fatalf("case %d, %s, %s: %s: %d rows\n%v\nwant %d\n%v", n, x.text, how, what, len(got), got, len(want), want)
	}
	for i := 1; i < len(got); i++ {
		if x.compareRows(got[i-1], got[i], reverse) > 0 {
			fail("disorder")
		}
	}
	full := func(a, b reading) int {
		return cmp.Or(x.compareRows(a, b, false), cmp.Compare(a.Level, b.Level), a.At.Compare(b.At), cmp.Compare(a.N, b.N),
			compareFake(gocql.TypeTimeUUID, a.Seq[:], b.Seq[:]))
	}
	a, b := slices.SortedFunc(slices.Values(got), full), slices.SortedFunc(slices.Values(want), full)
	if !slices.EqualFunc(a, b, func(p, q reading) bool {
		return p.At.Equal(q.At) && p.Seq == q.Seq && p.N == q.N && p.Level == q.Level && p.Sensor == q.Sensor
	}) {
		fail("other rows")
	}
}

// query draws a query of sensor s, with the filter that says the same.
func (x *trial) query() (q Query[reading], keep func(reading) bool, reverse bool) {
	q = From(x.set, "readings").Eq("sensor", "s")
	filters := []func(reading) bool{func(r reading) bool { return r.Sensor == "s" }}
	free := 0
	if x.columns[0] == "level" { // the buckets need a range of time, so what stands before it is fixed
		level := x.rnd.Int32N(3) - 1
		q, free = q.Eq("level", level), 1
		filters = append(filters, func(r reading) bool { return r.Level == level })
		if x.columns[1] == "n" {
			number := x.rnd.Int32N(3) - 1
			q, free = q.Eq("n", number), 2
			filters = append(filters, func(r reading) bool { return r.N == number })
		}
	}
	column := x.columns[free]
	of := func(r reading) time.Time {
		if column == "seq" {
			return r.Seq.Time()
		}
		return r.At
	}
	low, high := x.moment(), x.moment()
	switch {
	case high.Before(low): // else the query is rejected
		low, high = high, low
	case x.rnd.IntN(10) == 0:
		high = low
	}
	if x.rnd.IntN(5) == 0 { // finer than the column
		low, high = low.Add(300*time.Nanosecond), high.Add(300*time.Nanosecond)
	}
	if x.rnd.IntN(2) == 0 {
		q = q.Gt(column, low)
		filters = append(filters, func(r reading) bool { return of(r).After(low) })
	} else {
		q = q.GtOrEq(column, low)
		filters = append(filters, func(r reading) bool { return !of(r).Before(low) })
	}
	if x.rnd.IntN(2) == 0 {
		q = q.Lt(column, high)
		filters = append(filters, func(r reading) bool { return of(r).Before(high) })
	} else {
		q = q.LtOrEq(column, high)
		filters = append(filters, func(r reading) bool { return !of(r).After(high) })
	}
	if reverse = x.rnd.IntN(2) == 0; reverse {
		order := " DESC"
		if x.desc[free] {
			order = " ASC"
		}
		q = q.OrderBy(column + order)
	}
	x.text += fmt.Sprintf("; %s from %v to %v, reverse %v", column, low, high, reverse)
	return q, func(r reading) bool {
		return !slices.ContainsFunc(filters, func(keep func(reading) bool) bool { return !keep(r) })
	}, reverse
}
