package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/testutil/pairs"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type typeTests struct {
	*Place
	grown *Place // whose rows may be Versioned
}

func ptr[V any](v V) *V { return &v }

var lastUUID = gocql.UUID(bytes.Repeat([]byte{0xff}, 16))

// day is so many days after 1970-01-01.
func day(n int64) time.Time { return time.Unix(n*86400, 0).UTC() }

var place = Town{
	City: "By", Floor: ptr[int32](-2), Since: day(-1), Geo: &Geo{Lat: -90, Lon: 180},
	Other: Geo{Lat: math.SmallestNonzeroFloat64},
	Tags:  []string{"a", "b"}, Prices: map[string]int{"x": -1}, Pair: Pair{Count: math.MinInt32, Name: ptr("n")},
}

// nested are rows without columns of simple types: full, empty, with the least, and with null inside.
var nested = []Row{
	{
		Map: map[string]int32{"\U0010ffff": math.MaxInt32, "b": 1}, UUIDs: []gocql.UUID{{1}, lastUUID},
		SetOfTimes: []time.Time{day(-1), day(0), day(1)}, FrozenList: []string{"b", "a", "b"},
		FrozenMap: map[int32][]string{1: {"x"}, -1: {"y", "z"}},
		Dates:     map[string]time.Time{"d": day(math.MaxInt32), "e": day(0)}, Place: &place, LoosePlace: &place,
		Places: map[string]Town{"a": place, "b": {}}, FrozenPlace: []Town{place, {}}, Pairs: []Pair{place.Pair, {Count: 1}},
	},
	{
		Map: map[string]int32{}, UUIDs: []gocql.UUID{}, FrozenList: []string{}, FrozenMap: map[int32][]string{},
		Place: &Town{}, LoosePlace: &Town{}, Places: map[string]Town{}, FrozenPlace: []Town{}, Pairs: []Pair{},
	},
	{
		Map: map[string]int32{"": math.MinInt32}, UUIDs: []gocql.UUID{{}}, SetOfTimes: []time.Time{day(-1)},
		FrozenList: []string{""}, FrozenMap: map[int32][]string{-1: {}}, Dates: map[string]time.Time{"d": day(math.MinInt32)},
		Place: &Town{Since: day(-1)}, LoosePlace: &Town{Floor: ptr[int32](math.MinInt32)},
		Places: map[string]Town{"": {}}, FrozenPlace: []Town{{}}, Pairs: []Pair{{}},
	},
	{Dates: map[string]time.Time{"d": day(-1)}, LoosePlace: &Town{City: "By"}, Place: &Town{City: "By"}},
	{Place: &Town{Pair: Pair{Count: 1}}, FrozenPlace: []Town{{Geo: &Geo{}}}, Pairs: []Pair{{Name: ptr("")}}},
}

// typeRows begin with a row of nothing and a full one. The columns of simple types have all of [pairs.Values]; in the
// last rows some of them are null.
var typeRows = func() []Row {
	out, whole := []Row{{}}, 2*len(nested)
	for i := range whole + 2 {
		row := nested[i%len(nested)]
		fields := reflect.ValueOf(&row).Elem()
		for n, c := range describe.Of(Rows.Internal()).Tables[0].Columns[1:] { // without the id
			field := fields.FieldByNameFunc(func(name string) bool {
				return strings.EqualFold(name, strings.ReplaceAll(c.Name, "_", ""))
			})
			if slices.Contains(pairs.CQLTypes, c.Type) && (i < whole || n%3 > 0) {
				simple := field.Type()
				if simple.Kind() == reflect.Pointer {
					simple = simple.Elem()
				}
				values := slices.DeleteFunc(pairs.Values(simple, c.Type), func(v pairs.Value) bool { return v.Null })
				if len(values) > whole {
					panic("column " + c.Name + ": more values than rows")
				}
				field.Set(fill(field.Type(), values[len(values)-1-i%len(values)].Go))
			}
		}
		out = append(out, row)
	}
	return out
}()

// fullRow has a value in every column.
func fullRow() Row {
	row := typeRows[1]
	row.ID = gocql.MustRandomUUID()
	return row
}

// Every value of every row comes back as it was written: inserted, in place of another row's, and after that one's.
func (p typeTests) RoundTrip(t *testing.T) {
	p.check(t, Rows)
	for n, row := range typeRows {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			row.ID = gocql.MustRandomUUID()
			store(t, p.Place, Rows.Insert(row), row)
			for _, next := range []Row{fullRow(), typeRows[0], typeRows[2], typeRows[3]} {
				next.ID = row.ID
				store(t, p.Place, Rows.Update(row, next), next)
				store(t, p.Place, Rows.Update(next, row), row)
			}
			Write(t, p.Writer, "store", Rows.Delete(row))
			p.wantCount(t, 0, "SELECT count(*) FROM rows WHERE id = ?", row.ID)
		})
	}
}

// store writes a change and reads the entity back from its tables.
func store(t *testing.T, p *Place, change tables.Change, want Row) {
	t.Helper()
	Write(t, p.Writer, "store", change)
	_, text, key, err := Rows.Internal().SelectRow("", Row{ID: want.ID})
	must(t, err)
	found := map[string][]Row{"rows": value(rowsOf[Row](p.Session.Reads().Query(text, statement.AppendArgs(nil, key)...)))(t)}
	if want.Int != nil {
		found["rows_by_int"] = List(t, p, reader.From(Rows, "rows_by_int").Eq("int", *want.Int).Eq("id", want.ID))
	}
	for table, rows := range found {
		if len(rows) != 1 {
			t.Fatalf("%s: %d rows", table, len(rows))
		}
		compare(t, table, rows[0], want)
	}
}

func compare(t *testing.T, table string, got, want Row) {
	t.Helper()
	for i := range reflect.TypeFor[Row]().NumField() {
		f := reflect.TypeFor[Row]().Field(i)
		g, w := show(reflect.ValueOf(got).Field(i)), show(reflect.ValueOf(want).Field(i))
		wrong(t, g != w, "%s: %s is\n\t%s, want\n\t%s", table, f.Name, g, w)
	}
}

// show prints a value so that what is equal in CQL is equal. The driver reads null and nothing alike as nil where a
// slice or a map is meant.
func show(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case *inf.Dec:
		if x != nil {
			return x.String()
		}
	case *big.Int:
		if x != nil {
			return x.String()
		}
	case net.IP:
		return x.String()
	case time.Time:
		return fmt.Sprint(x.Unix(), x.Nanosecond(), x.IsZero())
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "nil"
		}
		return "&" + show(v.Elem())
	case reflect.Struct:
		var parts []string
		for i := range v.NumField() {
			parts = append(parts, v.Type().Field(i).Name+":"+show(v.Field(i)))
		}
		return fmt.Sprint(parts)
	case reflect.Slice:
		var parts []string
		for i := range v.Len() {
			parts = append(parts, show(v.Index(i)))
		}
		return fmt.Sprint(parts)
	case reflect.Map:
		parts := make(map[string]string)
		for entry := v.MapRange(); entry.Next(); {
			parts[show(entry.Key())] = show(entry.Value())
		}
		return fmt.Sprint(parts) // in the order of the keys
	}
	return fmt.Sprintf("%#v", v.Interface())
}

// fixed is a set in which no key can change.
var fixed = tables.Must(tables.New[Row]("row",
	append([]tables.Option{tables.Table{Name: "rows", PartKey: []string{"id"}}}, typeOptions...)...))

// Elements of user-defined and other types are put and removed without reading.
func (p typeTests) Elements(t *testing.T) {
	row := fullRow()
	put := Row{
		ID: row.ID, Places: map[string]Town{"c": place}, Dates: map[string]time.Time{"d": day(-1)}, UUIDs: []gocql.UUID{{2}},
	}
	for _, change := range []tables.Change{
		fixed.Insert(row),
		fixed.Patch(put, tables.Elements("places"), tables.Without("places", "a"), tables.Elements("dates"),
			tables.Without("uuids", gocql.UUID{1}),
			tables.Elements("uuids"), tables.Without("map", "b", "unknown"), tables.Without("set_of_times", day(0), day(7)),
			tables.Column("varint"),
			tables.Column("loose_place")),
	} {
		Write(t, p.Writer, "store", change)
	}
	want := row
	want.Places = map[string]Town{"b": {}, "c": place}
	want.Dates = map[string]time.Time{"d": day(-1), "e": day(0)}
	want.UUIDs = []gocql.UUID{{2}, lastUUID}
	want.Map = map[string]int32{"\U0010ffff": math.MaxInt32}
	want.SetOfTimes = []time.Time{day(-1), day(1)}
	want.Varint, want.LoosePlace = nil, nil
	p.compareBase(t, want)
}

// compareBase reads the base row of an entity.
func (p typeTests) compareBase(t *testing.T, want Row) {
	t.Helper()
	keep := func(r Row) (Row, error) { return r, nil }
	compare(t, "rows", value(writer.Modify(t.Context(), p.Writer, "read", fixed, Row{ID: want.ID}, keep))(t), want)
}

// What another process reads out of storage, which knows no Go types, writes the same.
func (p typeTests) Stored(t *testing.T) {
	row := fullRow()
	put := Row{ID: row.ID, Places: map[string]Town{"c": place}}
	at := time.Now().UnixMicro()
	for n, change := range []tables.Change{
		fixed.Insert(row), fixed.Patch(put, tables.Elements("places"), tables.Without("uuids", gocql.UUID{1}),
			tables.Column("loose_place")),
	} {
		rendered := value(change.Internal().Render(at+int64(n), nil))(t)
		for i := range rendered.Mutations {
			data := value(rendered.Mutations[i].MarshalBinary())(t)
			var m statement.Mutation
			must(t, m.UnmarshalBinary(data))
			wantError(t, m.String(), p.Session.Reads().Query(m.Statement, m.Args...).Exec(), nil)
		}
	}
	row.Places = map[string]Town{"a": place, "b": {}, "c": place}
	row.UUIDs, row.LoosePlace = row.UUIDs[1:], nil
	p.compareBase(t, row)
}

// Package schema creates types and tables as they are declared.
func (p typeTests) DeclaredSchema(t *testing.T) {
	p.Place = p.Open(t, 3)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // other tests change the schema meanwhile
	defer cancel()
	must(t, schema.Ensure(ctx, testsession.New(t, nil, p.Dial(t, p.Keyspace, patient)), schemaOf(Rows)))
	p.check(t, Rows)
	row := fullRow()
	store(t, p.Place, Rows.Insert(row), row)
}

// Why a tuple is rejected as a column: gocql wants a value for each of its elements, and finds one column for all of
// them.
func (p typeTests) TupleColumn(t *testing.T) {
	err := p.Session.Reads().Query(`INSERT INTO pairs (id, pair) VALUES (?, ?)`, 1, Pair{Count: 1}).Exec()
	wrong(t, err == nil || err.Error() != "gocql: expected 3 values send got 2",
		"gocql binds a tuple now, so it can be a column: %v", err)
}

type appointment struct {
	Name string
	Day  time.Time
	At   time.Time
}

var appointments = tables.Must(tables.New[appointment]("appointment",
	tables.Table{Name: "appointments", PartKey: []string{"name"}, SortKey: []string{"day"}}, tables.Type("day", "date")))

// A date is the day of a time in UTC, whatever its time of day, and a timestamp is the moment, to the millisecond. Both
// come back in UTC.
func (p typeTests) TimesWithAZone(t *testing.T) {
	for name, test := range map[string]struct{ given, day, at time.Time }{
		"early in Berlin": {
			time.Date(2024, 5, 6, 1, 30, 15, 123_999_999, time.FixedZone("", 2*60*60)),
			time.Date(2024, 5, 5, 0, 0, 0, 0, time.UTC), time.Date(2024, 5, 5, 23, 30, 15, 123_000_000, time.UTC),
		},
		"late in Lima": {
			time.Date(2024, 5, 6, 20, 0, 0, 0, time.FixedZone("", -5*60*60)),
			time.Date(2024, 5, 7, 0, 0, 0, 0, time.UTC), time.Date(2024, 5, 7, 1, 0, 0, 0, time.UTC),
		},
		"before 1970": {
			time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC),
			time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC),
		},
	} {
		_, offset := test.given.Zone()
		_, err := p.Writer.Write(t.Context(), "make", appointments.Insert(appointment{name, test.given, test.given}))
		wrong(t, (offset != 0) != errors.Is(err, writer.ErrInvalid), "%s, not in UTC: %v", name, err)
		q := reader.From(appointments, "appointments").Eq("name", name).Eq("day", test.given)
		_, _, err = reader.List(t.Context(), p.Reader, "find", q)
		wrong(t, (offset != 0) != (err != nil), "%s, read with a day that is not in UTC: %v", name, err)
		given := appointment{name, test.given.UTC(), test.given}
		Write(t, p.Writer, "make", appointments.Insert(given))
		want := appointment{name, test.day, test.at}
		got := value(writer.Load(t.Context(), p.Writer, "find", appointments, given))(t)
		wrong(t, got != want, "%s: Load: %v, want %v", name, got, want)
		q = reader.From(appointments, "appointments").Eq("name", name).Eq("day", test.given.UTC())
		wantRows(t, name, List(t, p.Place, q), []appointment{want})
		text := test.day.Format(time.DateOnly)
		p.wantCount(t, 1, "SELECT count(*) FROM appointments WHERE name = ? AND day = '"+text+"'", name)
	}
}

// Row has a column of every type, each of which may be absent.
type Row struct {
	ID gocql.UUID

	ASCII     *string
	Bigint    *int64
	Blob      []byte
	Boolean   *bool
	Date      *time.Time
	Decimal   *inf.Dec
	Double    *float64
	Duration  *gocql.Duration
	Float     *float32
	Inet      *net.IP
	Int       *int32
	Smallint  *int16
	Text      *string
	Time      *time.Duration
	Timestamp *time.Time
	Timeuuid  *gocql.UUID
	Tinyint   *int8
	UUID      *gocql.UUID
	Varint    *big.Int

	Map        map[string]int32
	UUIDs      []gocql.UUID `db:"uuids"`
	SetOfTimes []time.Time
	FrozenList []string
	FrozenMap  map[int32][]string
	Dates      map[string]time.Time

	Place       *Town
	LoosePlace  *Town
	Places      map[string]Town
	FrozenPlace []Town
	Pairs       []Pair
}

// Town is a user-defined type with a nested one, a tuple, and times.
type Town struct {
	City   string         `cql:"city"`
	Floor  *int32         `cql:"floor"`
	Since  time.Time      `cql:"since"`
	Geo    *Geo           `cql:"geo"`
	Other  Geo            `cql:"other"`
	Tags   []string       `cql:"tags"`
	Prices map[string]int `cql:"prices"`
	Pair   Pair           `cql:"pair"`
}

// Geo is a user-defined type inside another one.
type Geo struct {
	Lat float64 `cql:"lat"`
	Lon float64 `cql:"lon"`
}

// Pair is a tuple.
type Pair struct {
	Count int
	Name  *string
}

var typeOptions = []tables.Option{
	tables.UserType[Geo]("geo"),
	tables.UserType[Town]("place", tables.Type("since", "date"), tables.Type("tags", "set<text>"),
		tables.Type("prices", "map<text, int>"), tables.Type("pair", "tuple<int, text>")),
	tables.Type("ascii", "ascii"), tables.Type("date", "date"), tables.Type("time", "time"),
	tables.Type("timeuuid", "timeuuid"),
	tables.Type("set_of_times", "set<timestamp>"), tables.Type("frozen_list", "frozen<list<text>>"),
	tables.Type("frozen_map", "frozen<map<int, list<text>>>"), tables.Type("dates", "map<text, date>"),
	tables.Type("uuids", "set<uuid>"),
	tables.Type("loose_place", "place"), tables.Type("frozen_place", "frozen<list<place>>"),
	tables.Type("pairs", "frozen<list<tuple<int, text>>>"),
}

// Rows are in two tables, so that a write of them is a fan-out or a logged batch.
var Rows = tables.Must(tables.New[Row]("row", slices.Concat([]tables.Option{
	tables.Table{Name: "rows", PartKey: []string{"id"}},
	tables.Table{Name: "rows_by_int", PartKey: []string{"int"}, SortKey: []string{"id"}},
	tables.SingleWriter("int"),
}, typeOptions)...))

// VersionedRow is a row of before its set became Versioned.
type VersionedRow struct {
	Row
	Kind    string
	Version gocql.UUID
}

// VersionedRows have the base table of Rows.
var VersionedRows = tables.Must(tables.New[VersionedRow]("row", slices.Concat([]tables.Option{
	tables.Table{Name: "rows", PartKey: []string{"id"}}, tables.Versioned("version"),
}, typeOptions)...))

const typeColumns = `id uuid, ascii ascii, bigint bigint, blob blob, boolean boolean, date date, decimal decimal, double double,
	duration duration, float float, inet inet, int int, smallint smallint, text text, time time, timestamp timestamp,
	timeuuid timeuuid, tinyint tinyint, uuid uuid, varint varint, map map<text, int>, uuids set<uuid>, set_of_times set<timestamp>,
	frozen_list frozen<list<text>>, frozen_map frozen<map<int, list<text>>>, dates map<text, date>, place frozen<place>,
	loose_place place, places map<text, frozen<place>>, frozen_place frozen<list<place>>, pairs frozen<list<tuple<int, text>>>`

// typeTables are types and tables.
var typeTables = []string{
	`CREATE TYPE IF NOT EXISTS geo (lat double, lon double)`,
	`CREATE TYPE IF NOT EXISTS place (city text, floor int, since date, geo frozen<geo>, other frozen<geo>, tags frozen<set<text>>,
		prices frozen<map<text, int>>, pair frozen<tuple<int, text>>)`,
	`CREATE TABLE IF NOT EXISTS rows (` + typeColumns + `, PRIMARY KEY (id))`,
	`CREATE TABLE IF NOT EXISTS rows_by_int (` + typeColumns + `, PRIMARY KEY (int, id))`,
	`CREATE TABLE pairs (id int PRIMARY KEY, pair tuple<int, text>)`,
	`CREATE TABLE appointments (name text, day date, at timestamp, PRIMARY KEY (name, day))`,
}
