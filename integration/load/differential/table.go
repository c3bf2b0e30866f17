package differential

import (
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/cqltype"
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
	ttl        int  // default_time_to_live, in seconds
}

// of reads columns as "name type", of clustering columns "name type DESC".
func of(definitions ...string) (out []column) {
	for _, d := range definitions {
		name, rest, _ := strings.Cut(d, " ")
		rest, desc := strings.CutSuffix(rest, " DESC")
		out = append(out, column{name, typeOf(rest), desc})
	}
	return out
}

func typeOf(name string) typ {
	t, err := cqltype.ParseDefinition(strings.ReplaceAll(name, "place", "place{city text, floor int, mark blob}"))
	if err != nil {
		panic(err) // one of the types below
	}
	return typ{t}
}

// types are the definitions of the user-defined types.
var types = []string{"CREATE TYPE place (city text, floor int, mark blob)"}

var tables = []*table{
	{name: "plain", partition: of("k int"), regular: of("a int", "b text", "c blob", "d double", "e boolean")},
	{name: "natives", partition: of("k int"), clustering: of("c timeuuid"), regular: of("ascii ascii", "bigint bigint", "date date",
		"decimal decimal", "dur duration", "float float", "inet inet", "small smallint", "time time", "ts timestamp", "tiny tinyint",
		"uuid uuid", "varint varint")},
	{
		name: "composite", partition: of("k int", "p text"), clustering: of("c int DESC", "d text"),
		regular: of("v int", "w text"),
	},
	{
		name: "wide", partition: of("k int"), clustering: of("c bigint", "d text", "e int"), static: of("s text", "t int"),
		regular: of("v int", "w text"),
	},
	{
		name: "latest", partition: of("k int"), clustering: of("c timestamp DESC", "d timeuuid DESC", "e boolean DESC"),
		regular: of("v blob", "w bigint"),
	},
	{
		name: "odd", partition: of("k int"), clustering: of("c uuid", "d blob", "e double", "f inet"), regular: of("v decimal"),
	},
	{name: "bare", partition: of("k int", "p blob"), clustering: of("c text", "d smallint DESC")},
	{name: "statics", partition: of("k int"), clustering: of("c text"), static: of("s int", "t text", "u frozen<set<int>>"), regular: of("v int")},
	{
		name: "elements", partition: of("k int"), clustering: of("c int"), static: of("sm map<text, int>", "ss set<text>"),
		regular: of("fl frozen<list<int>>", "fm frozen<map<int, text>>", "fs frozen<set<text>>", "fu frozen<place>", "l list<text>",
			"m map<int, text>", "s set<int>", "u place", "v int"),
	},
	{name: "maps", partition: of("k int"), regular: of("m map<text, blob>", "s set<uuid>", "l list<int>", "u place")},
	{name: "counters", partition: of("k int"), clustering: of("c int"), static: of("s counter"), regular: of("n counter", "o counter"), counter: true},
	{name: "tallies", partition: of("k int", "p text"), regular: of("n counter"), counter: true},
	{
		name: "expiring", partition: of("k int"), clustering: of("c int"), static: of("s text"),
		regular: of("v int", "w text", "m map<int, int>"), ttl: 500_000,
	},
	{
		name: "brief", partition: of("k int"), clustering: of("c int"), static: of("s text"),
		regular: of("v int", "w text", "m map<int, int>", "u place"), brief: true,
	},
	{
		name: "cas", partition: of("k int"), clustering: of("c int"), static: of("s int", "t text"),
		regular: of("v int", "w text", "m map<text, int>", "st set<int>", "f frozen<list<int>>"), lwt: true,
	},
	{name: "claims", partition: of("k int", "p text"), regular: of("v int", "w text", "x bigint"), lwt: true},
	{
		name: "scans", partition: of("k int"), clustering: of("c int", "d text"), static: of("s int"), regular: of("v int", "m map<int, text>"),
	},
	{name: "pairs", partition: of("k int", "p text"), regular: of("v int", "w text", "st set<text>")},
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

// definition is its CREATE TABLE.
func (t *table) definition() string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (", t.name)
	for _, c := range t.key() {
		fmt.Fprintf(&b, "%s %v, ", c.name, c.typ)
	}
	for _, c := range t.static {
		fmt.Fprintf(&b, "%s %v static, ", c.name, c.typ)
	}
	for _, c := range t.regular {
		fmt.Fprintf(&b, "%s %v, ", c.name, c.typ)
	}
	fmt.Fprintf(&b, "PRIMARY KEY ((%s)", strings.Join(names(t.partition), ", "))
	if len(t.clustering) > 0 {
		fmt.Fprintf(&b, ", %s", strings.Join(names(t.clustering), ", "))
	}
	fmt.Fprintf(&b, ")) WITH default_time_to_live = %d", t.ttl)
	for i, c := range t.clustering {
		word := ", %s %s"
		if i == 0 {
			word = " AND CLUSTERING ORDER BY (%s %s"
		}
		fmt.Fprintf(&b, word, c.name, map[bool]string{true: "DESC", false: "ASC"}[c.desc])
	}
	if len(t.clustering) > 0 {
		b.WriteString(")")
	}
	return b.String()
}

// Definitions are those of all types and tables.
func Definitions() []string {
	out := append([]string{}, types...)
	for _, t := range tables {
		out = append(out, t.definition())
	}
	return out
}
