package tables_test

import (
	"fmt"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

// cell is a row of one value alongside its key.
type cell[V any] struct {
	ID int64
	V  V
}

var cells = tables.Table{Name: "cells", PartKey: []string{"id"}}

// cellsByV has the value in its key.
var cellsByV = tables.Table{Name: "cells_by_v", PartKey: []string{"v"}, SortKey: []string{"id"}}

type (
	// token has its encoding in methods of the value, secret in methods of the pointer.
	token  string
	secret string

	plainID  [16]byte
	duration int64
)

func (t token) MarshalCQL(gocql.TypeInfo) ([]byte, error) {
	if t == "" {
		return nil, nil
	}
	return []byte("<" + t + ">"), nil
}

func (s *secret) MarshalCQL(gocql.TypeInfo) ([]byte, error) {
	if *s == "fail" {
		return nil, fmt.Errorf("cannot marshal %s", *s)
	}
	return []byte("(" + *s + ")"), nil
}

func TestRefuseTypes(t *testing.T) {
	t.Parallel()
	const pointer = ": its MarshalCQL has a pointer receiver, and is called for pointers only: declare the field as a " +
		"pointer"
	as := func(cql string) tables.Option { return tables.Type("v", cql) }
	unread := func(goType, cql, as string) []string {
		return []string{"column v: Go type " + goType + " cannot be encoded as CQL type " + cql +
			": the driver could not read it; declare the field as " + as}
	}
	no := func(goType, cql string) []string {
		return []string{"column v: Go type " + goType + " cannot be encoded as CQL type " + cql +
			": the driver has no such encoding"}
	}
	const doubles = `column v: a list that is not frozen doubles when it is sent twice: for a live column declare ReadOnly("v"), for a new one `
	runFaultCases(t, []faultCase{
		{"list", declaring[cell[[]string]](cells), []string{
			doubles + `Type("v", "frozen<list<text>>") or "set<text>"`,
		}},
		{"list of lists", declaring[cell[[][]string]](cells), []string{
			doubles + `Type("v", "frozen<list<frozen<list<text>>>>") or "set<frozen<list<text>>>"`,
		}},
		{"list of what no set holds", declaring[cell[[]gocql.Duration]](cells), []string{
			doubles + `Type("v", "frozen<list<duration>>")`,
		}},
		{"frozen list", declaring[cell[[]string]](cells, as("frozen<list<text>>")), nil},
		{"set of frozen lists", declaring[cell[[][]string]](cells, as("set<frozen<list<text>>>")), nil},
		{"set as a slice", declaring[cell[[]string]](cells, as("set<text>")), nil},
		{
			"pointer to a pointer", declaring[cell[**string]](cells),
			[]string{"column v: a pointer to a pointer: one is enough for an absent value"},
		},
		{"interface", declaring[cell[any]](cells, as("text")), []string{
			"column v: Go type interface {} cannot be encoded as CQL type text: an interface holds values of many types",
		}},
		{"interface that encodes", declaring[cell[gocql.Marshaler]](cells, as("text")), []string{
			"column v: Go type gocql.Marshaler cannot be encoded as CQL type text: an interface holds values of many types",
		}},
		{"interface inside", declaring[cell[map[string]any]](cells, as("map<text, text>")), []string{
			"column v: Go type map[string]interface {} cannot be encoded as CQL type map<text, text>: an interface holds " +
				"values of many types",
		}},

		{"Marshaler", declaring[cell[token]](cells, as("text")), nil},
		{"pointer to a Marshaler", declaring[cell[*token]](cells, as("text")), nil},
		{"pointer Marshaler", declaring[cell[*secret]](cells, as("text")), nil},
		{"pointer Marshaler by value", declaring[cell[secret]](cells, as("text")), []string{
			"column v: Go type tables_test.secret cannot be encoded as CQL type text" + pointer,
		}},
		{"pointer Marshaler inside", declaring[cell[[]secret]](cells, as("set<text>")), []string{
			"column v: Go type []tables_test.secret cannot be encoded as CQL type set<text>" + pointer,
		}},
		{"pointer Marshalers inside", declaring[cell[[]*secret]](cells, as("set<text>")), nil},

		{"string for every type read from one", declaring[struct {
			ID                                               int64
			Uuid, Time, Net, Day, Tiny, Small, Int, Big, Var string
			Text, ASCII, Blob                                string
		}](cells, tables.Type("uuid", "uuid"), tables.Type("time", "timeuuid"), tables.Type("net", "inet"),
			tables.Type("day", "date"),
			tables.Type("tiny", "tinyint"), tables.Type("small", "smallint"), tables.Type("int", "int"),
			tables.Type("big", "bigint"),
			tables.Type("var", "varint"), tables.Type("ascii", "ascii"), tables.Type("blob", "blob")), nil},
		{
			"string as duration", declaring[cell[string]](cells, as("duration")),
			unread("string", "duration", "gocql.Duration"),
		},
		{"string type of one's own", declaring[cell[Status]](cells, as("uuid")), nil},
		{"string as timestamp", declaring[cell[string]](cells, as("timestamp")), no("string", "timestamp")},
		{"string as double", declaring[cell[string]](cells, as("double")), no("string", "double")},
		{"array type of one's own", declaring[cell[plainID]](cells), nil},
		{"in a list", declaring[cell[[]plainID]](cells, as("frozen<list<timeuuid>>")), nil},
		{"unknown type of a list", declaring[cell[[]float32]](cells, as("vector<float, 3>")), []string{
			`column v: CQL type "vector<float, 3>": unknown or unsupported type "vector<float, 3>"`,
		}},
		{"integer as date", declaring[cell[int64]](cells, as("date")), unread("int64", "date", "time.Time")},
		{"IP as text", declaring[cell[net.IP]](cells, as("text")), no("net.IP", "text")},
		{"bytes as uuid", declaring[cell[[]byte]](cells, as("uuid")), nil},
		{"bytes as int", declaring[cell[[]byte]](cells, as("int")), no("[]uint8", "int")},
		{"bytes as inet", declaring[cell[net.IP]](cells), nil},
		{"time as date", declaring[cell[time.Time]](cells, as("date")), nil},
		{"time as text", declaring[cell[time.Time]](cells, as("text")), no("time.Time", "text")},
		{"time as time", declaring[cell[time.Time]](cells, as("time")), no("time.Time", "time")},
		{"Duration as time", declaring[cell[time.Duration]](cells, as("time")), nil},
		{
			"Duration as duration", declaring[cell[time.Duration]](cells, as("duration")),
			unread("time.Duration", "duration", "gocql.Duration"),
		},
		{"Duration as bigint", declaring[cell[time.Duration]](cells, as("bigint")), nil},
		{
			"own integer as duration", declaring[cell[duration]](cells, as("duration")),
			unread("tables_test.duration", "duration", "gocql.Duration"),
		},
		{"big.Int", declaring[cell[*big.Int]](cells), nil},
		// The driver encodes a big.Int in as many bytes as it needs, and the server wants eight.
		{"big.Int as bigint", declaring[cell[*big.Int]](cells, as("bigint")), no("*big.Int", "bigint")},
		{"decimal", declaring[cell[inf.Dec]](cells), nil},
		{"float64 as float", declaring[cell[float64]](cells, as("float")), no("float64", "float")},
		{"unsigned", declaring[cell[uint32]](cells, as("bigint")), nil},
		{"map as set", declaring[cell[map[string]struct{}]](cells), nil},
		{"map as map", declaring[cell[map[string]int32]](cells), nil},
		{
			"map as list", declaring[cell[map[string]bool]](cells, as("frozen<list<text>>")),
			no("map[string]bool", "frozen<list<text>>"),
		},
		{"slice as map", declaring[cell[[]string]](cells, as("map<text, text>")), no("[]string", "map<text, text>")},
		// An empty map encodes whatever its elements are.
		{
			"map of other values", declaring[cell[map[string]int]](cells, as("map<text, text>")),
			no("map[string]int", "map<text, text>"),
		},
		{
			"map of other keys", declaring[cell[map[int]string]](cells, as("map<text, text>")),
			no("map[int]string", "map<text, text>"),
		},
		{"set of other values", declaring[cell[[]float64]](cells, as("set<int>")), no("[]float64", "set<int>")},
		{"text as set", declaring[cell[string]](cells, as("set<text>")), no("string", "set<text>")},
		{"struct", declaring[cell[Geo]](cells, as("text")), no("tables_test.Geo", "text")},
	})
}

func TestRefuseKeyTypes(t *testing.T) {
	t.Parallel()
	as := func(cql string) tables.Option { return tables.Type("v", cql) }
	unordered := []string{
		"column v: a frozen set or map in a key: its bytes depend on the order in which Go walks it, Cassandra's " +
			"comparison does not",
	}
	decimal := []string{
		"column v: decimal in a key: 1.0 and 1.00 differ in bytes and are one row, so a move between them would erase it",
	}
	noOrder := []string{"column v: Cassandra has no order for duration and refuses it in a key"}
	multiCell := []string{"column v: a key column cannot be a non-frozen collection"}
	runFaultCases(t, []faultCase{
		{"text", declaring[cell[string]](cells, cellsByV), nil},
		{"blob", declaring[cell[[]byte]](cells, cellsByV), nil},
		{"time", declaring[cell[time.Time]](cells, cellsByV), nil},
		{"sparse", declaring[cell[*string]](cells, cellsByV), nil},
		{"frozen list", declaring[cell[[]string]](cells, cellsByV, as("frozen<list<text>>")), nil},
		{"decimal", declaring[cell[*inf.Dec]](cells, cellsByV), decimal},
		{"decimal inside", declaring[cell[[]*inf.Dec]](cells, cellsByV, as("frozen<list<decimal>>")), decimal},
		{"duration", declaring[cell[gocql.Duration]](cells, cellsByV), noOrder},
		{"duration inside", declaring[cell[[]gocql.Duration]](cells, cellsByV, as("frozen<list<duration>>")), noOrder},
		{"list", declaring[cell[[]string]](cells, cellsByV), multiCell},
		{"set", declaring[cell[[]string]](cells, cellsByV, as("set<text>")), multiCell},
		{"frozen set", declaring[cell[[]string]](cells, cellsByV, as("frozen<set<text>>")), unordered},
		{"frozen map", declaring[cell[map[string]string]](cells, cellsByV, as("frozen<map<text, text>>")), unordered},
		{"frozen set inside", declaring[cell[[][]string]](cells, cellsByV, as("frozen<list<set<text>>>")), unordered},
	})
}

func TestRefuseKeys(t *testing.T) {
	t.Parallel()
	const shared = "the key of a query table must contain the base key, or two entities could share a row: add it; or " +
		"add an id to all keys, and declare ID; if no two may have one key, declare the table Unique"
	runFaultCases(t, []faultCase{
		{"base key of two", declaring[thing](tables.Table{
			Name: "things", PartKey: []string{"id"},
			SortKey: []string{"owner"},
		},
			tables.Table{Name: "t", PartKey: []string{"kind", "owner"}, SortKey: []string{"id"}}), nil},
		{"base key missing", declaring[thing](tables.Table{Name: "things", PartKey: []string{"id", "owner"}},
			tables.Table{Name: "t", PartKey: []string{"kind"}}, tables.Table{
				Name: "u", PartKey: []string{"kind"},
				SortKey: []string{"id"},
			}), []string{
			"table t: column id: " + shared,
			"table t: column owner: " + shared,
			"table u: column owner: " + shared,
		}},
		{"base key pointer", declaring[thing](tables.Table{Name: "things", PartKey: []string{"level"}}), []string{
			"table things: column level: a column of the base key cannot be a pointer: every entity has a base row",
		}},
	})
}

func TestRefuseSweep(t *testing.T) {
	t.Parallel()
	type row struct {
		ID, A, B, C int64
		UpdatedAt   int64
	}
	values := func(n int) []int64 {
		out := make([]int64, n)
		for i := range out {
			out[i] = int64(i + 1)
		}
		return out
	}
	table := func(name string, part ...string) tables.Table {
		return tables.Table{Name: name, PartKey: append(part, "id")}
	}
	stamp, rows := tables.Stamp("updated_at"), tables.Table{Name: "rows", PartKey: []string{"id"}}
	many := func(n int) []string {
		return []string{fmt.Sprintf("one change would sweep %d rows, more than 64: narrow the domains of OneOf, or the "+
			"tables "+
			"whose keys hold them", n)}
	}
	runFaultCases(t, []faultCase{
		{"64", declaring[row](rows, table("a", "a"), tables.OneOf("a", values(65)...), stamp), nil},
		{"65", declaring[row](rows, table("a", "a"), tables.OneOf("a", values(66)...), stamp), many(65)},
		{"two tables", declaring[row](rows, table("a", "a"), table("b", "b"), tables.OneOf("a", values(33)...),
			tables.OneOf("b", values(33)...),
			stamp), nil},
		{"two tables, too many", declaring[row](rows, table("a", "a"), table("b", "b"), tables.OneOf("a", values(33)...),
			tables.OneOf("b", values(34)...), stamp), many(65)},
		{"product", declaring[row](rows, table("ab", "a", "b"), tables.OneOf("a", values(13)...),
			tables.OneOf("b", values(5)...), stamp), nil},
		{"product, too many", declaring[row](rows, table("ab", "a", "b"), tables.OneOf("a", values(11)...),
			tables.OneOf("b", values(6)...),
			stamp), many(65)},
		{
			"with a SingleWriter", declaring[row](rows, table("ab", "a", "b"), tables.OneOf("a", values(33)...),
				tables.SingleWriter("b"), stamp),
			many(65),
		},
		{"SingleWriters sweep nothing", declaring[row](rows, table("abc", "a", "b", "c"), tables.SingleWriter("a"),
			tables.SingleWriter("b"),
			tables.SingleWriter("c")), nil},
		{"no overflow", declaring[row](rows, table("abc", "a", "b", "c"), tables.OneOf("a", values(2000)...),
			tables.OneOf("b", values(2000)...),
			tables.OneOf("c", values(2000)...), stamp), many(1<<20 - 1)},
		{ // compared with each other value, these would take the better part of an hour
			"far too many", declaring[row](rows, table("a", "a"), tables.OneOf("a", values(1_000_000)...), stamp), many(999_999),
		},
	})
}
