package tables_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/declare"
	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"

	"github.com/scylladb/gocqlx/v2"
)

// postal is a user-defined type with one inside, and what a value may lack.
type postal struct {
	StreetName string    `cql:"street_name"`
	City       *string   `cql:"city"`
	Zipcode    int32     `cql:"zipcode"`
	Since      time.Time `cql:"since"`
	Geo        *geo      `cql:"geo"`
	Tags       []string  `cql:"tags"`
	Ignored    chan int  `cql:"-"`
	hidden     struct{}  //nolint:unused // no field of the type
}

type geo struct {
	Lat float32 `cql:"lat"`
	Lon float32 `cql:"lon"`
}

var (
	addressType = tables.UserType[postal]("address_type", tables.Type("since", "date"), tables.Type("tags", "set<text>"))
	geoType     = tables.UserType[geo]("geo")
)

// partsOf gives what an Insert of v binds, as type cql or as it follows from the Go type.
func partsOf[V any](tb testing.TB, v V, cql string) string {
	tb.Helper()
	options := []tables.Option{cells, addressType, geoType}
	if cql != "" {
		options = append(options, tables.Type("v", cql))
	}
	s, err := tables.New[cell[V]]("cell", options...)
	if err != nil {
		return err.Error()
	}
	r, err := s.Insert(cell[V]{ID: 1, V: v}).Internal().Render(1, nil)
	if err != nil {
		return err.Error()
	}
	return shown(r.Mutations[0].Args[1])
}

const (
	homeBytes = "00000004" + "4d61696e" + "00000002" + "4279" + "00000004" + "fffffff9" + // Main, By, -7
		"00000004" + "7fffffff" + // the day before 1970-01-01
		"00000010" + "00000004" + "3f800000" + "00000004" + "bf800000" + // 1, -1
		"00000009" + "00000001" + "00000001" + "61" // [a]
	emptyBytes = "00000000" + "ffffffff" + "00000004" + "00000000" + "ffffffff" + "ffffffff" + "ffffffff"
)

func home() postal {
	return postal{
		StreetName: "Main", City: ptr("By"), Zipcode: -7, Since: time.Date(1969, 12, 31, 23, 0, 0, 0, time.UTC),
		Geo:  &geo{1, -1},
		Tags: []string{"a"},
	}
}

func TestEncodeUserType(t *testing.T) {
	t.Parallel()
	type point struct {
		X int
		Y *string
	}
	type note struct {
		Text *string `cql:"text"`
	}
	var noHome *postal
	for name, test := range map[string]struct{ got, want string }{
		"all fields":  {partsOf(t, home(), ""), "0x" + homeBytes},
		"by name":     {partsOf(t, home(), "frozen<address_type>"), "0x" + homeBytes},
		"not frozen":  {partsOf(t, home(), "address_type"), "0x" + homeBytes},
		"zero":        {partsOf(t, postal{}, ""), "0x" + emptyBytes},
		"pointer":     {partsOf(t, ptr(home()), ""), "0x" + homeBytes},
		"nil pointer": {partsOf(t, noHome, ""), "unset"},
		"in a list": {partsOf(t, []postal{{}}, "frozen<list<address_type>>"), "0x00000001" + "0000001c" +
			emptyBytes},
		"as a value of a map": {partsOf(t, map[string]postal{"a": {}}, ""), "0x00000001" + "00000001" + "61" + "0000001c" +
			emptyBytes},
		"as an element": {partsOf(t, map[geo]struct{}{{}: {}}, ""), "0x00000001" + "00000010" + "00000004" +
			"00000000" + "00000004" + "00000000"},
		"an empty map":        {partsOf(t, map[string]postal{}, ""), "unset"},
		"an empty frozen map": {partsOf(t, map[string]postal{}, "frozen<map<text, address_type>>"), "0x00000000"},
		"a nil map":           {partsOf(t, map[string]postal(nil), "frozen<map<text, address_type>>"), "unset"},
		"nil in a list": {
			partsOf(t, []*postal{nil}, "frozen<list<address_type>>"),
			"entity cell: column v: a null inside a collection",
		},
		"a tuple of a struct": {
			partsOf(t, []point{{7, ptr("a")}, {-1, nil}}, "frozen<list<tuple<int, text>>>"),
			"0x00000002" + "0000000d" + "00000004" + "00000007" + "00000001" + "61" + "0000000c" + "00000004" + "ffffffff" +
				"ffffffff",
		},
		"a tuple of an array": {partsOf(t, [][2]int{{1, 2}}, "frozen<list<tuple<int, int>>>"), "0x00000001" + "00000010" +
			"00000004" + "00000001" + "00000004" + "00000002"},
		"a tuple too short": {
			partsOf(t, [][]int{{1}}, "frozen<list<tuple<int, int>>>"),
			"entity cell: column v: a frozen<tuple<int, int>> has 2 elements, the value has 1",
		},
		"invalid UTF-8": {
			partsOf(t, postal{StreetName: "\xff"}, ""),
			"entity cell: column v: inside frozen<address_type>: text is not valid UTF-8",
		},
		"invalid deeper inside": {
			partsOf(t, map[string]postal{"a": {Tags: []string{"\xff"}}}, ""),
			"entity cell: column v: inside a collection: inside frozen<address_type>: inside a collection: text is not valid " +
				"UTF-8",
		},
	} {
		if test.got != test.want {
			t.Errorf("%s: %s, want %s", name, test.got, test.want)
		}
	}
	// Of a type that is a cell for every field, no field is no value.
	s := tables.Must(tables.New[cell[note]]("cell", cells, tables.UserType[note]("note"), tables.Type("v", "note")))
	for name, want := range map[string]string{"insert": "unset", "update": "null"} {
		c := s.Insert(cell[note]{ID: 1})
		if name == "update" {
			c = s.Update(cell[note]{ID: 1}, cell[note]{ID: 1})
		}
		r, err := c.Internal().Render(1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := shown(r.Mutations[0].Args[1]); got != want {
			t.Errorf("%s of no fields: %s, want %s", name, got, want)
		}
	}
}

// The encoding is the driver's, for a Go type that needs no help of ours.
func TestEncodeUserTypeAsDriver(t *testing.T) {
	t.Parallel()
	s := tables.Must(tables.New[cell[geo]]("cell", cells, geoType))
	r, err := s.Insert(cell[geo]{ID: 1, V: geo{1.5, -2}}).Internal().Render(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	float := driver.NativeType(gocql.TypeFloat)
	fields := []gocql.UDTField{{Name: "lat", Type: float}, {Name: "lon", Type: float}}
	live := driver.UserType("geo", fields)
	want, err := gocql.Marshal(live, geo{1.5, -2})
	if err != nil {
		t.Fatal(err)
	}
	got, err := gocql.Marshal(live, r.Mutations[0].Args[1])
	if err != nil || string(got) != string(want) {
		t.Errorf("%x, %v, want %x", got, err, want)
	}
	fields[0].Name = "latitude"
	if _, err := gocql.Marshal(live, r.Mutations[0].Args[1]); err == nil ||
		!strings.Contains(err.Error(), "declared is frozen<geo>") {
		t.Errorf("another field: %v", err)
	}
}

type (
	noTag   struct{ City string }
	reading struct{ City string }
	gocqlxd struct {
		gocqlx.UDT
		City string `cql:"city"`
	}
	outer struct {
		geo
		City string `cql:"city"`
	}
	loop struct {
		Next *loop `cql:"next"`
	}
	list struct {
		Rest []chain `cql:"rest"`
	}
	chain struct {
		List *list `cql:"list"`
	}
)

func (*reading) UnmarshalUDT(string, gocql.TypeInfo, []byte) error { return nil }

func TestUserTypeRefuses(t *testing.T) {
	t.Parallel()
	type pair struct {
		X int32
		Y string
	}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"good":         {declared[geo]("", geoType), ""},
		"reads itself": {declared[reading]("", tables.UserType[reading]("reading")), ""},
		"of gocqlx":    {declared[gocqlxd]("", tables.UserType[gocqlxd]("place")), ""},
		"undeclared": {
			declared[geo](""),
			"column v: no CQL type follows from Go type tables_test.geo: declare its user-defined type with " +
				"UserType[tables_test.geo](name)",
		},
		"undeclared in a map": {
			declared[map[string][]*geo](""),
			"column v: no CQL type follows from Go type tables_test.geo: declare its user-defined type with " +
				"UserType[tables_test.geo](name)",
		},
		"undeclared in a type": {
			declared[postal]("", tables.UserType[postal]("address_type")),
			"user-defined type address_type: field geo: no CQL type follows from Go type tables_test.geo: declare its " +
				"user-defined type with UserType[tables_test.geo](name)",
		},
		"undeclared by name": {
			declared[geo]("geo"),
			`column v: CQL type "geo": unknown or unsupported type "geo": declare its user-defined type with UserType[tables_test.geo](name)`,
		},
		"by name in a type": {
			declared[postal]("", tables.UserType[postal]("address_type", tables.Type("geo", "geo"))),
			`user-defined type address_type: field geo: CQL type "geo": unknown or unsupported type "geo": declare its user-defined type with UserType[tables_test.geo](name)`,
		},
		"another Go type": {
			declared[string]("geo", geoType),
			"column v: Go type string cannot be encoded as CQL type geo: its values are of Go type tables_test.geo",
		},
		"a map": {
			declared[map[string]any]("geo", geoType),
			"column v: Go type map[string]interface {} cannot be encoded as CQL type geo: its values are of Go type " +
				"tables_test.geo",
		},
		"no tag": {
			declared[noTag]("", tables.UserType[noTag]("place")),
			`user-defined type place: field city has no cql tag: gocql reads fields by it, and would leave this one empty; tag it cql:"city"`,
		},
		"embedded": {
			declared[outer]("", tables.UserType[outer]("place")),
			"user-defined type place: field geo is embedded: the driver does not look for fields in it",
		},
		"contains itself": {
			declared[loop]("", tables.UserType[loop]("loop")),
			"user-defined type loop contains itself, which Cassandra does not know",
		},
		"around a corner": {declared[list]("", tables.UserType[list]("list_type"),
			tables.UserType[chain]("chain")), "user-defined type list_type contains itself, which Cassandra does not know"},
		"a name": {
			declared[geo]("", tables.UserType[geo]("geo;")),
			`the name of user-defined type "geo;" must be lower-case letters, digits and _, a letter first, no reserved word of CQL, at most 48`,
		},
		"no struct": {
			declared[string]("", tables.UserType[string]("geo")),
			"user-defined type geo: its values must be a struct, not string",
		},
		"no fields": {
			declared[struct{}]("text", tables.UserType[struct{}]("geo")),
			"user-defined type geo has no fields",
		},
		"twice": {
			declared[geo]("", geoType, tables.UserType[outer]("geo")),
			"user-defined type geo is declared twice",
		},
		"one for two": {
			declared[geo]("", geoType, tables.UserType[geo]("place")),
			"user-defined type place: Go type tables_test.geo is type geo already",
		},
		"an unknown field": {
			declared[geo]("", tables.UserType[geo]("geo", tables.Type("x", "int"))),
			"user-defined type geo: field x is named by Type, and is no field of tables_test.geo",
		},
		"an unknown type of an unknown field": {
			declared[geo]("", tables.UserType[geo]("geo", tables.Type("x", "integer"))),
			"user-defined type geo: field x is named by Type, and is no field of tables_test.geo",
		},
		"a type of a field": {
			declared[geo]("", tables.UserType[geo]("geo", tables.Type("lat", "text"))),
			"user-defined type geo: field lat of Go type float32 cannot be encoded as CQL type text: the driver has no such " +
				"encoding",
		},
		"a counter": {
			declared[geo]("", tables.UserType[geo]("geo", tables.Type("lat", "counter"))),
			"user-defined type geo: field lat is a counter, which must be a column of its own",
		},
		"another option": {
			declared[geo]("", tables.UserType[geo]("geo", tables.Atomic())),
			"user-defined type geo: only Type options can be given for its fields",
		},
		"not frozen in a map": {
			declared[map[string]geo]("map<text, geo>", geoType),
			`column v: CQL type "map<text, geo>": a collection or user-defined type inside map must be frozen`,
		},
		"a tuple": {
			declared[pair]("tuple<int, text>"),
			"column v: a tuple cannot be a column: gocql wants each of its elements bound and scanned by itself; put it into " +
				"a user-defined type or a frozen collection, or declare a UserType instead of it",
		},
		"a tuple's Go type": {declared[[]pair]("frozen<list<tuple<int, text>>>"), ""},
		"a tuple's fields": {
			declared[[]pair]("frozen<list<tuple<int>>>"),
			"column v: Go type []tables_test.pair cannot be encoded as CQL type frozen<list<frozen<tuple<int>>>>: a tuple is " +
				"a struct of 1 fields, an array or a slice",
		},
	} {
		var refused *declare.DeclarationError
		switch {
		case test.want == "" && test.err != nil:
			t.Errorf("%s: %v", name, test.err)
		case test.want != "" && !errors.As(test.err, &refused):
			t.Errorf("%s: %v, want %s", name, test.err, test.want)
		case test.want != "" && !slices.ContainsFunc(refused.Faults, func(f layout.Fault) bool {
			return f.String() == test.want
		}):
			t.Errorf("%s:\n%v\nwant %s", name, refused.Faults, test.want)
		}
	}
	var once *declare.DeclarationError
	if err := declared[geo]("geo"); !errors.As(err, &once) || len(once.Faults) != 1 {
		t.Errorf("one mistake has several faults: %v", err)
	}
	type keyed struct{ Place geo }
	key := tables.Table{Name: "places", PartKey: []string{"place"}}
	if _, err := tables.New[keyed]("place", key, geoType); err != nil {
		t.Error(err)
	}
	_, err := tables.New[keyed]("place", key, geoType, tables.Type("place", "geo"))
	if err == nil || !strings.Contains(err.Error(),
		`column place: a user-defined type in a key must be frozen: declare Type("place", "frozen<geo>")`) {
		t.Errorf("not frozen in a key: %v", err)
	}
}

func declared[V any](cql string, options ...tables.Option) error {
	options = append(options, cells)
	if cql != "" {
		options = append(options, tables.Type("v", cql))
	}
	_, err := tables.New[cell[V]]("cell", options...)
	return err
}

// Code that creates the types has to know them, the inner ones first.
func TestDescribeUserTypes(t *testing.T) {
	t.Parallel()
	s := tables.Must(tables.New[cell[map[string]postal]]("cell", cells, addressType, geoType))
	d := describe.Of(s.Internal()).Tables[0]
	const want = "[{geo [{lat float} {lon float}]} {address_type [{street_name text} {city text} {zipcode int} {since " +
		"date} " +
		"{geo frozen<geo>} {tags frozen<set<text>>}]}]"
	if got := fmt.Sprint(d.Types); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if d.Columns[1].Type != "map<text, frozen<address_type>>" {
		t.Error(d.Columns[1].Type)
	}
}
