package tables_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

// This file makes up declarations and changes of them for TestReference.

// referenceNow is the time of all changes.
var referenceNow = time.Date(2024, 2, 29, 23, 59, 58, 0, time.UTC)

type (
	refStatus string

	refPlace struct {
		City  string     `cql:"city"`
		Floor *int32     `cql:"floor"`
		Built time.Time  `cql:"built"`
		Owner gocql.UUID `cql:"owner"`
	}

	refRow struct {
		ID        gocql.UUID       `db:"id"`
		Seq       int32            `db:"seq"`
		Region    string           `db:"region"`
		Owner     *gocql.UUID      `db:"owner"`
		Status    refStatus        `db:"status"`
		Lane      int16            `db:"lane"`
		Due       time.Time        `db:"due"`
		Born      gocql.UUID       `db:"born"`
		Email     *string          `db:"email"`
		Day       time.Time        `db:"day"`
		Flag      bool             `db:"flag"`
		Total     *inf.Dec         `db:"total"`
		Price     float64          `db:"price"`
		Ratio     float32          `db:"ratio"`
		Big       *big.Int         `db:"big"`
		Note      *string          `db:"note"`
		Tiny      int8             `db:"tiny"`
		Tags      []string         `db:"tags"`
		Steps     []int64          `db:"steps"`
		Attrs     map[string]int32 `db:"attrs"`
		Blob      []byte           `db:"blob"`
		Addr      *net.IP          `db:"addr"`
		Took      gocql.Duration   `db:"took"`
		Place     *refPlace        `db:"place"`
		Places    []refPlace       `db:"places"`
		Version   gocql.UUID       `db:"version"`
		Maker     gocql.UUID       `db:"maker"`
		Slot      int32            `db:"slot"`
		Bucket    string           `db:"bucket"`
		UpdatedAt int64            `db:"updated_at"`
		Ends      *time.Time       `db:"ends"`
	}

	refCount struct {
		ID     gocql.UUID `db:"id"`
		Region string     `db:"region"`
		Day    time.Time  `db:"day"`
		Hits   int64      `db:"hits"`
		Bytes  int64      `db:"bytes"`
	}
)

// referenceSet makes up a declaration, and gives what makes changes of it up, and its kind. Declarations that New
// rejects are passed over.
func referenceSet(r *rand.Rand) (changes func() tables.Change, kind string) {
	for {
		switch n := r.IntN(20); {
		case n < 2:
			if s, err := tables.New[refCount]("page", counterOptions(r)...); err == nil {
				return func() tables.Change { return s.Add(refCounted(r)) }, "counters"
			}
		default:
			kind := "plain"
			if n > 12 {
				kind = "versioned"
			}
			if n > 17 {
				kind = "compared"
			}
			if s, err := tables.New[refRow]("thing", rowOptions(r, kind)...); err == nil {
				return func() tables.Change { return refChange(r, s, kind) }, kind
			}
		}
	}
}

func counterOptions(r *rand.Rand) []tables.Option {
	options := []tables.Option{
		tables.Type("hits", "counter"), tables.Type("bytes", "counter"), tables.Type("day", "date"),
		tables.Table{Name: "pages", Keyspace: "shop", PartKey: []string{"id"}, SortKey: someOf(r, "day", "region DESC")},
	}
	if r.IntN(2) == 0 {
		options = append(options, tables.Table{
			Name: "pages_by_region", Keyspace: "shop", PartKey: []string{"region"},
			SortKey: []string{"day DESC", "id"}, Columns: []string{one(r, "hits", "bytes")},
		})
	}
	return options
}

// someOf gives none, some or all of the words, in their order.
func someOf(r *rand.Rand, words ...string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(string) bool { return r.IntN(2) == 0 })
}

func rowOptions(r *rand.Rand, kind string) []tables.Option {
	options := []tables.Option{
		tables.UserType[refPlace]("place"), tables.Type("born", "timeuuid"), tables.Type("day", "date"),
		tables.Type("version", "timeuuid"),
		tables.Type("tags", one(r, "set<text>", "frozen<list<text>>", "frozen<set<text>>")),
		tables.Type("steps", one(r, "frozen<list<bigint>>", "set<bigint>")),
		tables.Type("places", one(r, "set<frozen<place>>", "frozen<list<frozen<place>>>")),
	}
	base := tables.Table{Name: "things", Keyspace: "shop", PartKey: []string{"id"}}
	switch r.IntN(5) {
	case 0:
		base.PartKey, base.SortKey = []string{"region"}, []string{"id"}
	case 1:
		base.PartKey, base.SortKey = []string{"id", "region"}, []string{"seq DESC"}
	}
	if r.IntN(8) == 0 && kind == "plain" {
		base.Rotate, base.SortKey = tables.Month("born"), append(base.SortKey, "born")
	}
	options = append(options, base)
	if kind != "plain" && r.IntN(3) == 0 {
		options = append(options, tables.LocalSerial())
	}
	if kind == "compared" {
		if r.IntN(2) == 0 {
			options = append(options, tables.Mark("maker"))
		}
		return append(options, tables.Compare(one(r, []string{"status", "price"}, []string{"lane", "note"},
			[]string{"status", "total", "tags"})...))
	}
	clock := one(r, "due", "born")
	if slices.Contains(base.SortKey, "born") {
		clock = "born" // which every key needs
	}
	list := queryTables(r, clock)
	keys := slices.Concat(base.PartKey, base.SortKey)
	for _, t := range list {
		options, keys = append(options, t), slices.Concat(keys, t.PartKey, t.SortKey)
	}
	if slices.Contains(keys, "slot") {
		options = append(options, one(r,
			tables.Derive("slot", tables.Hash(7, "id")),
			tables.Derive("slot", tables.Hash(4, "id"), tables.Since{Bucket: tables.Hash(9, "id")}),
			tables.Derive("slot", tables.Hash(3, "region", "seq")),
		))
	}
	if slices.Contains(keys, "bucket") {
		options = append(options, one(r,
			tables.Derive("bucket", tables.Month(clock)), tables.Derive("bucket", tables.Hour(clock)),
			tables.Derive("bucket", tables.Day(clock), tables.Since{
				Time:   referenceNow.Add(-time.Hour).Truncate(time.Hour),
				Bucket: tables.Every(90*time.Minute, clock),
			}),
		))
	}
	if kind == "versioned" {
		options = append(options, tables.Versioned("version"))
		if r.IntN(2) == 0 {
			options = append(options, tables.Table{
				Name: "things_by_email", Keyspace: "shop", PartKey: []string{"email"},
				Unique: true,
			})
		}
		return options
	}
	if r.IntN(4) == 0 {
		options = append(options, tables.ExpiresAt("ends"))
	}
	return append(options, rulesOf(r, keys)...)
}

// rulesOf says how the key columns of a plain set change.
func rulesOf(r *rand.Rand, keys []string) []tables.Option {
	var options []tables.Option
	key := func(name string) bool {
		return slices.ContainsFunc(keys, func(s string) bool { return strings.Fields(s)[0] == name })
	}
	if key("status") && r.IntN(4) > 0 {
		options = append(options, tables.OneOf("status", refStatus("open"), refStatus("paid"), refStatus("shipped")))
	}
	if key("lane") && r.IntN(2) == 0 {
		options = append(options, tables.OneOf("lane", int16(1), int16(2)))
	}
	if len(options) > 0 && r.IntN(3) == 0 {
		options = append(options, tables.SweepInserts())
	}
	if len(options) > 0 && r.IntN(4) == 0 {
		options = append(options, tables.UnstampedRows())
	}
	if name := one(r, "due", "email"); key(name) && r.IntN(2) == 0 {
		options = append(options, tables.SingleWriter(name))
	}
	if len(options) > 0 || r.IntN(2) == 0 {
		options = append(options, tables.Stamp("updated_at"))
	}
	if r.IntN(4) == 0 {
		options = append(options, tables.Atomic())
	}
	return options
}

func queryTables(r *rand.Rand, clock string) []tables.Table {
	keys := []string{"region", "owner", "status", "lane", "due", "email", "day", "seq", "flag", "status", "lane"}
	var list []tables.Table
	for n := range r.IntN(4) {
		r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		t := tables.Table{
			Name: fmt.Sprintf("things_%d", n), Keyspace: one(r, "shop", "shop", "archive"),
			PartKey: slices.Clone(keys[:1+r.IntN(2)]),
		}
		t.PartKey = slices.Compact(append(t.PartKey, someOf(r, "slot", "bucket")...))
		for _, k := range append(keys[2:2+r.IntN(2)], clock, "id", "region", "seq") { // so that the key identifies the entity
			if !slices.ContainsFunc(slices.Concat(t.PartKey, t.SortKey), func(s string) bool {
				return strings.Fields(s)[0] == k
			}) {
				t.SortKey = append(t.SortKey, k+one(r, "", " DESC", " ASC"))
			}
		}
		switch r.IntN(6) {
		case 0:
			t.Columns = []string{"note", "total", "updated_at", "ends"}
		case 1:
			t.Columns = []string{"tags", "attrs", "place", "version", "ends"}
		}
		list = append(list, t)
	}
	return list
}

func refCounted(r *rand.Rand) refCount {
	return refCount{refUUID(r), one(r, "eu", "us"), refTime(r), r.Int64N(3), r.Int64N(5) - 2}
}

func refUUID(r *rand.Rand) gocql.UUID { return uuidAt(byte(1 + r.IntN(250))) }

func refTime(r *rand.Rand) time.Time {
	return referenceNow.Add(time.Duration(r.Int64N(int64(90*24*time.Hour))) - 60*24*time.Hour).Truncate(time.Millisecond)
}

func refPlaced(r *rand.Rand) refPlace {
	p := refPlace{City: one(r, "By", "Åby", ""), Floor: perhaps(r, int32(-2), 30), Owner: refUUID(r)}
	if r.IntN(2) == 0 {
		p.Built = refTime(r)
	}
	return p
}

func refThing(r *rand.Rand) refRow {
	row := refRow{
		ID: refUUID(r), Seq: r.Int32N(5) - 2, Region: one(r, "eu", "us", "ü"), Owner: perhaps(r, refUUID(r)),
		Status: one[refStatus](r, "open", "paid", "shipped"), Lane: one[int16](r, 1, 2), Due: refTime(r), Born: refUUID(r),
		Email: perhaps(r, "a@x.org", "b@x.org", "c@x.org"), Day: refTime(r), Flag: r.IntN(2) == 0,
		Price: float64(r.IntN(100)) / 7, Ratio: float32(r.IntN(9)) / 3,
		Note: perhaps(r, "", "note", "a longer note"), Tiny: int8(r.IntN(256) - 128),
		Took:    gocql.Duration{Months: r.Int32N(3), Days: r.Int32N(3), Nanoseconds: r.Int64N(1e12)},
		Version: timeuuidAt(referenceNow.UnixMicro() - 1 - r.Int64N(1e9)), Maker: refUUID(r),
		UpdatedAt: referenceNow.UnixMicro() - 1 - r.Int64N(1e9),
	}
	if r.IntN(3) > 0 {
		row.Total = inf.NewDec(r.Int64N(1e6), inf.Scale(r.IntN(4)))
		row.Big = big.NewInt(r.Int64N(1e15) - 5e14)
		row.Blob = []byte(one(r, "\x00\xff", "bytes"))
	}
	for n := range r.IntN(3) {
		row.Tags, row.Steps = append(row.Tags, fmt.Sprint("t", n)), append(row.Steps, r.Int64N(1e9))
		row.Places = append(row.Places, refPlaced(r))
		row.Attrs = map[string]int32{one(r, "a", "b"): r.Int32N(9)} // one: the order of several is Go's
	}
	if r.IntN(2) == 0 {
		p, ip := refPlaced(r), net.IPv4(10, 0, 0, byte(r.IntN(9))).To4()
		row.Place, row.Addr = &p, &ip
	}
	if r.IntN(3) == 0 {
		ends := referenceNow.Add(time.Duration(1 + r.Int64N(int64(24*time.Hour)))).Truncate(time.Millisecond)
		row.Ends = &ends
	}
	return row
}

// refChanged is row with other values in some fields. Those of the base key are as they were, most of the time.
func refChanged(r *rand.Rand, row refRow) refRow {
	other := refThing(r)
	after := other
	after.ID, after.Region, after.Seq, after.Born = row.ID, row.Region, row.Seq, row.Born
	if r.IntN(4) > 0 { // immutable keys of most declarations
		after.Owner, after.Day, after.Flag, after.Email, after.Due = row.Owner, row.Day, row.Flag, row.Email, row.Due
	}
	if r.IntN(3) > 0 {
		after.Lane = row.Lane
	}
	if r.IntN(3) > 0 {
		after.Status = row.Status
	}
	if r.IntN(20) == 0 {
		after.Seq = other.Seq
	}
	return after
}

func refChange(r *rand.Rand, s *tables.Set[refRow], kind string) tables.Change {
	row := refThing(r)
	if kind != "plain" {
		switch r.IntN(4) {
		case 0:
			return s.Insert(row)
		case 1:
			return s.Delete(row)
		}
		return s.Update(row, refChanged(r, row))
	}
	switch r.IntN(7) {
	case 0:
		row.UpdatedAt = 0
		return s.Insert(row)
	case 1:
		return s.Upsert(row)
	case 2:
		return s.Delete(row)
	case 3:
		edits := refEdits(r)
		if row.Ends == nil && len(edits) > 0 && len(s.Internal().Statements(0, "")) == 3 { // the set has ExpiresAt
			edits = append(edits, tables.Column("ends")) // the row never ends
		}
		return s.Patch(row, edits...)
	}
	return s.Update(row, refChanged(r, row))
}

func refEdits(r *rand.Rand) []tables.Edit {
	var edits []tables.Edit
	for _, name := range someOf(r, "note", "total", "price", "place") {
		edits = append(edits, tables.Column(name))
	}
	switch r.IntN(5) {
	case 0:
		edits = append(edits, tables.Elements("attrs"))
	case 1:
		edits = append(edits, tables.Without("attrs", "c", "d"))
	case 2:
		edits = append(edits, tables.Elements("attrs"), tables.Without("attrs", "c"))
	case 3:
		edits = append(edits, tables.Elements("tags"))
	}
	return edits
}

func uuidAt(b byte) gocql.UUID {
	return gocql.UUID{0xa0, 1, 2, 3, 4, 5, 0x16, 7, 0x88, 9, 10, 11, 12, 13, 14, b} // version 1
}

func one[V any](r *rand.Rand, values ...V) V { return values[r.IntN(len(values))] }

// perhaps is nil a third of the time.
func perhaps[V any](r *rand.Rand, values ...V) *V {
	if r.IntN(3) == 0 {
		return nil
	}
	return ptr(one(r, values...))
}
