package suite

import (
	"math/big"
	"net"
	"slices"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/tables"
)

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
