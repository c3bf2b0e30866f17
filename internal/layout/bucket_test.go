package layout_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/internal/testutil/bucket"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

type event struct {
	ID   gocql.UUID
	Name string
	At   time.Time
	Seq  gocql.UUID
}

func eventAt(at time.Time) event {
	return event{ID: gocql.UUID{1}, Name: "n", At: at, Seq: gocql.UUIDFromTime(at)}
}

// bucketOf gives the encoded value of the derived column b of a set, and its CQL type.
func bucketOf(t *testing.T, set *tables.Set[event], row event) (*cqltype.Value, error) {
	t.Helper()
	r, err := set.Insert(row).Internal().Render(1, nil)
	if err != nil {
		return nil, err
	}
	for i, name := range r.Mutations[1].Names {
		if name == "b" {
			return r.Mutations[1].Args[i].(*cqltype.Value), nil
		}
	}
	t.Fatalf("no column b in %s", r.Mutations[1].Statement)
	return nil, nil
}

func eventSet(t *testing.T, options ...tables.Option) *tables.Set[event] {
	t.Helper()
	set, err := tables.New[event]("event", append([]tables.Option{
		tables.Table{Name: "events", PartKey: []string{"id"}},
		tables.Table{Name: "events_by_b", PartKey: []string{"b", "name"}, SortKey: []string{"at", "id"}},
		tables.Type("seq", "timeuuid"),
	}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// What a bucket of time is at the edges of hours, days and months, of a leap year, and before 1970, where rounding
// towards zero would put two hours into one bucket.
func TestTimeBuckets(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	at := func(y int, m time.Month, d, h, minute, s int) time.Time {
		return time.Date(y, m, d, h, minute, s, 0, time.UTC)
	}
	tests := []struct {
		bucket tables.Bucket
		typ    string
		at     time.Time
		want   any // string, or a number
	}{
		{tables.Hour("at"), "text", at(2024, 1, 2, 15, 59, 59), "2024-01-02-15"},
		{tables.Hour("at"), "text", at(2024, 1, 2, 16, 0, 0).Add(-ms), "2024-01-02-15"},
		{tables.Hour("at"), "text", at(2024, 1, 2, 16, 0, 0), "2024-01-02-16"},
		{tables.Hour("at"), "int", at(1970, 1, 1, 1, 0, 0), 1},
		{tables.Hour("at"), "int", at(1970, 1, 1, 0, 0, 0).Add(-ms), -1},
		{tables.Hour("at"), "bigint", at(1969, 12, 31, 22, 59, 59), -2},
		{tables.Hour("at"), "text", at(1969, 12, 31, 23, 30, 0), "1969-12-31-23"},
		{tables.Day("at"), "text", at(2024, 2, 29, 23, 59, 59), "2024-02-29"},
		{tables.Day("at"), "text", at(2024, 3, 1, 0, 0, 0).Add(-ms), "2024-02-29"},
		{tables.Day("at"), "int", at(1970, 1, 2, 0, 0, 0).Add(-ms), 0},
		{tables.Day("at"), "int", at(1969, 12, 31, 23, 59, 59), -1},
		{tables.Day("at"), "date", at(1970, 1, 1, 12, 0, 0), int64(1 << 31)},
		{tables.Day("at"), "date", at(1969, 12, 31, 12, 0, 0), int64(1<<31 - 1)},
		{tables.Day("at"), "text", time.Date(2024, 1, 1, 0, 30, 0, 0, time.FixedZone("east", 3600)), "2023-12-31"},
		{tables.Month("at"), "text", at(2023, 12, 31, 23, 59, 59), "2023-12"},
		{tables.Month("at"), "text", at(2024, 1, 1, 0, 0, 0), "2024-01"},
		{tables.Month("at"), "int", at(1971, 2, 1, 0, 0, 0), 13},
		{tables.Month("at"), "int", at(1969, 12, 31, 0, 0, 0), -1},
		{tables.Month("at"), "date", at(1970, 2, 28, 0, 0, 0), int64(1<<31 + 31)},
		{tables.Every(15*time.Minute, "at"), "text", at(2024, 1, 2, 3, 14, 59), "2024-01-02T03:00:00Z"},
		{tables.Every(15*time.Minute, "at"), "int", at(1970, 1, 1, 0, 15, 0), 1},
		{tables.Every(15*time.Minute, "at"), "int", at(1969, 12, 31, 23, 44, 59), -2},
		{tables.Every(10*ms, "at"), "bigint", time.UnixMilli(-1), -1},
		{tables.Every(7*24*time.Hour, "at"), "date", at(1970, 1, 7, 23, 0, 0), int64(1 << 31)},
		{tables.Every(7*24*time.Hour, "at"), "date", at(1970, 1, 8, 0, 0, 0), int64(1<<31 + 7)},
		{tables.Hour("seq"), "text", at(2024, 1, 2, 15, 59, 59), "2024-01-02-15"},
		{tables.Hour("seq"), "int", at(1970, 1, 1, 0, 0, 0).Add(-100), -1}, // a timeuuid has 100 ns
		{tables.Month("seq"), "text", at(1582, 12, 1, 0, 0, 0), "1582-12"},
		{tables.Month("at"), "text", at(-1, 12, 31, 0, 0, 0), "column b: the year of its bucket is not one of 0 to 9999"},
		{tables.Day("at"), "text", at(10000, 1, 1, 0, 0, 0), "column b: the year of its bucket is not one of 0 to 9999"},
		{tables.Every(ms, "at"), "int", at(2024, 1, 1, 0, 0, 0), "column b: its bucket is beyond what a CQL int can hold"},
	}
	for _, tc := range tests {
		set := eventSet(t, tables.Derive("b", tc.bucket), tables.Type("b", tc.typ))
		v, err := bucketOf(t, set, eventAt(tc.at))
		if err != nil {
			if want, ok := tc.want.(string); !ok || !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %v: %v, want %v", tc.bucket, tc.at, err, tc.want)
			}
			continue
		}
		var want []byte
		switch w := tc.want.(type) {
		case string:
			want = []byte(w)
		case int:
			if want = binary.BigEndian.AppendUint64(nil, uint64(w)); tc.typ != "bigint" {
				want = want[4:]
			}
		case int64: // a date, beyond the int of a machine of 32 bits
			want = binary.BigEndian.AppendUint32(nil, uint32(w))
		}
		if !bytes.Equal(v.Data, want) || v.Type.String() != tc.typ {
			t.Errorf("%s as %s of %v: %q (%x) of type %s, want %q", tc.bucket, tc.typ, tc.at, v.Data, v.Data, v.Type.String(),
				want)
		}
	}
}

// The hash is forever: rows are found by it. These values were computed by another program.
func TestHashIsWhatItWas(t *testing.T) {
	t.Parallel()
	type row struct {
		T    string
		U    gocql.UUID
		B    int64
		I    int32
		V, W string
	}
	r := row{
		T: "sensor-1", U: gocql.UUID{
			0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee,
			0xff,
		},
		B: -1, I: 42, V: "a", W: "bc",
	}
	for n, want := range map[int][5]int64{
		1: {0, 0, 0, 0, 0}, 2: {0, 0, 1, 0, 0}, 10: {2, 6, 5, 0, 8}, 16: {12, 2, 13, 2, 8}, 1000: {772, 746, 325, 450, 368},
		1024: {156, 18, 605, 322, 56},
	} {
		for i, columns := range [][]string{{"t"}, {"u"}, {"b"}, {"i"}, {"v", "w"}} {
			set := tables.Must(tables.New[row]("row",
				tables.Table{Name: "rows", PartKey: []string{"bucket"}, SortKey: columns},
				tables.Derive("bucket", tables.Hash(n, columns...)),
				tables.Type("bucket", "bigint")))
			key, err := set.Key(r)
			if err != nil {
				t.Fatal(err)
			}
			if got := int64(binary.BigEndian.Uint64(key[0].(*cqltype.Value).Data)); got != want[i] {
				t.Errorf("hash(%d) of %v: %d, want %d", n, columns, got, want[i])
			}
		}
	}
}

// Rows spread evenly, also where ids are counted up.
func TestHashSpreads(t *testing.T) {
	t.Parallel()
	set := eventSet(t, tables.Derive("b", tables.Hash(10, "at")))
	var counts [10]int
	for i := range 20_000 {
		v, err := bucketOf(t, set, eventAt(time.UnixMilli(int64(i)*1000)))
		if err != nil {
			t.Fatal(err)
		}
		counts[binary.BigEndian.Uint32(v.Data)]++
	}
	for b, n := range counts {
		if n < 1800 || n > 2200 { // 2000 with a standard deviation of 42
			t.Errorf("%d of 20000 rows in bucket %d", n, b)
		}
	}
}

// A derived column need not be a field; if it is one, what the field holds does not matter, and it is read back.
func TestDerivedIsAFieldOrNot(t *testing.T) {
	t.Parallel()
	type with struct {
		ID     gocql.UUID
		At     time.Time
		Bucket string
	}
	type without struct {
		ID gocql.UUID
		At time.Time
	}
	options := []tables.Option{
		tables.Table{Name: "events", PartKey: []string{"id", "bucket"}, SortKey: []string{"at"}},
		tables.Derive("bucket", tables.Day("at")),
	}
	at := time.Date(2024, 1, 31, 23, 0, 0, 0, time.UTC)
	a := tables.Must(tables.New[with]("event", options...))
	b := tables.Must(tables.New[without]("event", options...))
	for _, c := range []tables.Change{
		a.Insert(with{gocql.UUID{1}, at, "nonsense"}),
		b.Insert(without{gocql.UUID{1}, at}),
	} {
		r, err := c.Internal().Render(1, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := r.Mutations[0]
		if m.Statement != "INSERT INTO events (id,bucket,at) VALUES (?,?,?) USING TIMESTAMP ?" {
			t.Error(m.Statement)
		}
		if got := string(m.Args[1].(*cqltype.Value).Data); got != "2024-01-31" {
			t.Errorf("bucket %q", got)
		}
	}
	if s, _ := a.Select(); s != "SELECT id,bucket,at FROM events WHERE id=? AND bucket=? AND at=?" {
		t.Error(s)
	}
	if s, names := b.Select(); s != "SELECT id,at FROM events WHERE id=? AND bucket=? AND at=?" || len(names) != 3 {
		t.Error(s, names)
	}
	key, err := b.Key(without{gocql.UUID{1}, at})
	if err != nil || string(key[1].(*cqltype.Value).Data) != "2024-01-31" {
		t.Errorf("key %v, %v", key, err)
	}
}

// A bucket is as immutable as what it follows from, and a row moves with it.
func TestBucketMovesWithItsSource(t *testing.T) {
	t.Parallel()
	type delivery struct {
		ID       int64
		Customer string
		Due      time.Time
	}
	options := []tables.Option{
		tables.Table{Name: "deliveries", PartKey: []string{"id"}},
		tables.Table{Name: "deliveries_by_month", PartKey: []string{"customer", "month"}, SortKey: []string{"id"}},
		tables.Derive("month", tables.Month("due")),
	}
	jan, feb := time.Date(2024, 1, 31, 0, 0, 0, 0, time.UTC), time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC)
	fixed := tables.Must(tables.New[delivery]("delivery", options...))
	if _, err := fixed.Update(delivery{1, "c", jan}, delivery{1, "c", feb}).Internal().Render(1, nil); err == nil ||
		!strings.Contains(err.Error(), "column due: a key column is immutable") {
		t.Errorf("%v, want a refusal: the month follows from due", err)
	}
	moving := tables.Must(tables.New[delivery]("delivery", append(options, tables.SingleWriter("due"))...))
	for after, want := range map[time.Time]string{
		feb:                 "put deliveries, put deliveries_by_month, remove deliveries_by_month",
		jan.Add(-time.Hour): "put deliveries, put deliveries_by_month", // the same month
	} {
		r, err := moving.Update(delivery{1, "c", jan}, delivery{1, "c", after}).Internal().Render(1, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range r.Mutations {
			got = append(got, m.String())
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("to %v: %s, want %s", after, s, want)
		}
	}
}

// While the number of buckets changes, services write with the one list or with the other, in which another function is
// in use. Whatever the order in which their writes arrive, a row is left under one key only: that of the last write.
func TestBucketsChangeWithoutGhosts(t *testing.T) {
	t.Parallel()
	type row struct {
		ID   int64
		Note string
	}
	a, b, c := tables.Hash(3, "id"), tables.Hash(5, "id"), tables.Hash(7, "id")
	set := func(f tables.Bucket, more ...tables.Since) *tables.Set[row] {
		return tables.Must(tables.New[row]("row", tables.Table{Name: "rows", PartKey: []string{"id"}},
			tables.Table{Name: "rows_by_bucket", PartKey: []string{"bucket"}, SortKey: []string{"id"}},
			tables.Derive("bucket", f, more...)))
	}
	sets := []*tables.Set[row]{
		set(c, tables.Since{Bucket: b}, tables.Since{Bucket: a}), set(a, tables.Since{Bucket: c}, tables.Since{Bucket: b}),
		set(a, tables.Since{Bucket: b}, tables.Since{Bucket: c}),
	}
	functions := []uint64{3, 5, 7}
	rnd := rand.New(rand.NewPCG(1, 1))
	for n := range 3000 {
		id := int64(n)
		encoded := binary.BigEndian.AppendUint64(nil, uint64(id))
		var last, deleted int64
		want := int32(-1)
		var all []statement.Mutation
		for range 1 + rnd.IntN(5) {
			which, at := rnd.IntN(len(sets)), 1000+rnd.Int64N(6)*10
			if at == last {
				continue // distinct timestamps
			}
			change := sets[which].Update(row{id, "a"}, row{id, "b"})
			if rnd.IntN(4) == 0 {
				change = sets[which].Delete(row{id, "a"})
			} else if rnd.IntN(4) == 0 {
				change = sets[which].Insert(row{id, "b"})
			}
			r, err := change.Internal().Render(at, nil)
			if err != nil {
				t.Fatal(err)
			}
			if at > last {
				if want, deleted = bucket.Hash(functions[which], encoded), 0; change.Kind() == tables.Delete {
					want, deleted = -1, at
				}
				last = at
			} else if at == deleted {
				continue
			}
			all = append(all, r.Mutations...)
		}
		type state struct {
			at    int64
			lives bool
		}
		model := make(map[int32]state)
		rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, m := range all {
			if m.Table != "rows_by_bucket" {
				continue
			}
			k := int32(binary.BigEndian.Uint32(m.PartitionKey))
			s := model[k]
			if m.Timestamp > s.at || m.Timestamp == s.at && m.Kind == statement.Remove {
				model[k] = state{m.Timestamp, m.Kind == statement.Put}
			}
		}
		var live []int32
		for k, s := range model {
			if s.lives {
				live = append(live, k)
			}
		}
		if want < 0 && len(live) > 0 || want >= 0 && (len(live) != 1 || live[0] != want) {
			t.Fatalf("row %d: rows in buckets %v, want %d", id, live, want)
		}
	}
}

// Whether the id of an entity says where its rows may be.
func TestFollowsKey(t *testing.T) {
	t.Parallel()
	type row struct {
		ID, Team, State string
		Stamp           int64
		ByID, ByTeam    int32 // derived
	}
	set := tables.Must(tables.New[row]("row", tables.Table{Name: "rows", PartKey: []string{"id"}},
		tables.Table{Name: "a", PartKey: []string{"by_id"}, SortKey: []string{"id"}},
		tables.Table{Name: "b", PartKey: []string{"state"}, SortKey: []string{"id"}},
		tables.Table{Name: "c", PartKey: []string{"team"}, SortKey: []string{"id"}},
		tables.Table{Name: "d", PartKey: []string{"by_team"}, SortKey: []string{"id"}},
		tables.OneOf("state", "on", "off"), tables.Stamp("stamp"),
		tables.Derive("by_id", tables.Hash(4, "id")), tables.Derive("by_team", tables.Hash(4, "team"))))
	for _, l := range tablerow.Layouts(set.Internal()) {
		if want := l.Name() != "c" && l.Name() != "d"; l.FollowsKey() != want {
			t.Errorf("%s: %t", l.Name(), !want)
		}
	}
}
