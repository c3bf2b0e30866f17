package differential

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cqltype"
	"github.com/denorm-go/denorm/schema"
)

// column is a column of a table.
type column struct {
	name string
	typ  typ
	desc bool // of a clustering column
}

// table is a table that statements are made for. The first column of its partition key is an int, so that every round
// has keys of its own.
type table struct {
	name       string
	partition  []column
	clustering []column
	static     []column
	regular    []column
	counter    bool
	lwt        bool // it is written to by lightweight transactions only
	brief      bool // what is written ends after some seconds
	expires    bool // it has a default_time_to_live
}

const definitions = `
CREATE TYPE place (city text, floor int, mark blob);
CREATE TABLE plain (k int PRIMARY KEY, a int, b text, c blob, d double, e boolean);
CREATE TABLE natives (k int, c timeuuid, ascii ascii, bigint bigint, date date, decimal decimal, dur duration, float float,
	inet inet, small smallint, time time, ts timestamp, tiny tinyint, uuid uuid, varint varint, PRIMARY KEY (k, c));
CREATE TABLE composite (k int, p text, c int, d text, v int, w text, PRIMARY KEY ((k, p), c, d))
	WITH CLUSTERING ORDER BY (c DESC, d ASC);
CREATE TABLE wide (k int, c bigint, d text, e int, s text static, t int static, v int, w text, PRIMARY KEY (k, c, d, e));
CREATE TABLE latest (k int, c timestamp, d timeuuid, e boolean, v blob, w bigint, PRIMARY KEY (k, c, d, e))
	WITH CLUSTERING ORDER BY (c DESC, d DESC, e DESC);
CREATE TABLE odd (k int, c uuid, d blob, e double, f inet, v decimal, PRIMARY KEY (k, c, d, e, f));
CREATE TABLE bare (k int, p blob, c text, d smallint, PRIMARY KEY ((k, p), c, d)) WITH CLUSTERING ORDER BY (c ASC, d DESC);
CREATE TABLE statics (k int, c text, s int static, t text static, u frozen<set<int>> static, v int, PRIMARY KEY (k, c));
CREATE TABLE elements (k int, c int, sm map<text, int> static, ss set<text> static, fl frozen<list<int>>,
	fm frozen<map<int, text>>, fs frozen<set<text>>, fu frozen<place>, l list<text>, m map<int, text>, s set<int>, u place,
	v int, PRIMARY KEY (k, c));
CREATE TABLE maps (k int PRIMARY KEY, m map<text, blob>, s set<uuid>, l list<int>, u place);
CREATE TABLE counters (k int, c int, s counter static, n counter, o counter, PRIMARY KEY (k, c));
CREATE TABLE tallies (k int, p text, n counter, PRIMARY KEY ((k, p)));
CREATE TABLE expiring (k int, c int, s text static, v int, w text, m map<int, int>, PRIMARY KEY (k, c))
	WITH default_time_to_live = 500000;
CREATE TABLE brief (k int, c int, s text static, v int, w text, m map<int, int>, u place, PRIMARY KEY (k, c));
CREATE TABLE cas (k int, c int, s int static, t text static, v int, w text, m map<text, int>, st set<int>,
	f frozen<list<int>>, PRIMARY KEY (k, c));
CREATE TABLE claims (k int, p text, v int, w text, x bigint, PRIMARY KEY ((k, p)));
CREATE TABLE scans (k int, c int, d text, s int static, v int, m map<int, text>, PRIMARY KEY (k, c, d));
CREATE TABLE pairs (k int, p text, v int, w text, st set<text>, PRIMARY KEY ((k, p)))`

// Definitions returns the statements that create all types and tables.
func Definitions() []string { return strings.Split(definitions, ";\n") }

var tables = func() (out []*table) {
	for _, d := range schema.Must(schema.Parse("tables", definitions)).Tables {
		of := func(kind schema.Kind) (columns []column) {
			for _, c := range d.Of(kind) {
				columns = append(columns, column{c.Name, typeOf(c.Type), c.Desc})
			}
			return columns
		}
		t := &table{
			name: d.Name, partition: of(schema.PartitionKey), clustering: of(schema.Clustering), static: of(schema.Static),
			regular: of(schema.Regular), lwt: d.Name == "cas" || d.Name == "claims", brief: d.Name == "brief", expires: d.TTL() > 0,
		}
		t.counter = slices.ContainsFunc(t.regular, func(c column) bool { return c.typ.String() == "counter" })
		out = append(out, t)
	}
	return out
}()

func typeOf(name string) typ {
	t, err := cqltype.ParseDefinition(strings.ReplaceAll(name, "place", "place{city text, floor int, mark blob}"))
	if err != nil {
		panic(err) // one of the types above
	}
	return typ{t}
}

// key are the columns of the primary key.
func (t *table) key() []column { return slices.Concat(t.partition, t.clustering) }

// data are the columns alongside the key.
func (t *table) data() []column { return slices.Concat(t.static, t.regular) }

// columns are all of them.
func (t *table) columns() []column { return append(t.key(), t.data()...) }

func names(columns []column) (out []string) {
	for _, c := range columns {
		out = append(out, c.name)
	}
	return out
}
