package cassandratest_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
)

type dimensions struct {
	Width int `cql:"width"`
}

type parcel struct {
	ParcelID gocql.UUID
	Weight   int
	Counts   map[string]int
	Label    string
	Size     dimensions
}

// crate has columns for which no other Type is right.
type crate struct {
	CrateID gocql.UUID
	Number  int64
	Route   []int
	Stamped int64
}

func parcels(options ...tables.Option) *tables.Set[parcel] {
	return tables.Must(tables.New[parcel]("parcel", append(options,
		tables.Table{Name: "parcels", Keyspace: "mall", PartKey: []string{"parcel_id"}})...))
}

var crates = tables.Must(tables.New[crate]("crate",
	tables.Table{Name: "crates", Keyspace: "mall", PartKey: []string{"crate_id"}},
	tables.Type("number", "bigint"), tables.Type("route", "frozen<list<bigint>>"), tables.Stamp("stamped")))

// Where a live column is of another CQL type than follows from the Go type, and the Go type fits it, the advice of
// Validate is the Type option, and not a migration. It is right: so declared they pass, and a row comes back as it was
// written.
func TestTypeAdvice(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create("CREATE KEYSPACE mall WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}",
			"CREATE TYPE mall.dimensions (width int)",
			"CREATE TABLE mall.parcels (parcel_id timeuuid PRIMARY KEY, weight int, counts map<text, int>, label ascii, size frozen<dimensions>)",
			"CREATE TABLE mall.crates (crate_id uuid PRIMARY KEY, number int, route list<bigint>, stamped timestamp)")
		p := startProcess(t, c)
		const migrate = "the type of a column cannot change: add a column of another name, copy, and declare that"
		for column, is := range map[string]string{
			"number":  "is int, declared bigint",       // by a Type option
			"stamped": "is timestamp, declared bigint", // a Stamp is bigint
		} {
			p.differs(crates, "column "+column+": "+is+"\n\t\tno statement fixes it: "+migrate)
		}
		p.differs(crates, "column route: is list<bigint>, declared frozen<list<bigint>>\n\t\tno statement fixes it: the declared type does not fit a list that is "+
			`not frozen: declare tables.Type("route", "list<bigint>") and tables.ReadOnly("route"), or another column, and copy the lists there (denorm adopt --copy)`)
		for column, want := range map[string]struct{ is, advice string }{
			"column parcel_id": {"is timeuuid, declared uuid", `gocql.UUID: declare tables.Type("parcel_id", "timeuuid")`},
			"column weight":    {"is int, declared bigint", `int: declare tables.Type("weight", "int")`},
			"column counts":    {"is map<text, int>, declared map<text, bigint>", `map[string]int: declare tables.Type("counts", "map<text, int>")`},
			"column label":     {"is ascii, declared text", `string: declare tables.Type("label", "ascii")`},
		} {
			p.differs(parcels(tables.UserType[dimensions]("dimensions")), column+": "+want.is+"\n\t\tno statement fixes it: the declared type follows from Go type "+want.advice)
		}
		const width = `follows from Go type int: declare tables.Type("width", "int") in UserType`
		p.differs(parcels(tables.UserType[dimensions]("dimensions")),
			"column width: the field is int, declared bigint\n\t\tno statement fixes it: the declared type "+width)
		p.differs(parcels(tables.UserType[dimensions]("dimensions", tables.Type("width", "bigint"))),
			"column width: the field is int, declared bigint\n\t\tno statement fixes it: the type of a field cannot change: make another field "+
				"or type, and copy")

		p.comesBack(c, parcels(tables.UserType[dimensions]("dimensions", tables.Type("width", "int")), tables.Type("parcel_id", "timeuuid"),
			tables.Type("weight", "int"), tables.Type("counts", "map<text, int>"), tables.Type("label", "ascii")))
	})
}

// pass has fields of Go types that do not fit the live columns, but for ID and Holder, which want a Type alone.
type pass struct {
	ID     string
	Code   gocql.UUID
	Event  string
	Seat   string
	Gate   string
	Holder string
	Price  int32
	Hall   hall
	Row    *gocql.UUID
}

type hall struct {
	Door gocql.UUID `cql:"door"`
}

// Where the Go type of a field does not fit the live column, the advice is another Go type, for a key as for other
// columns.
func TestFieldAdvice(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create("CREATE KEYSPACE mall WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}",
			"CREATE TYPE mall.hall (door text)", "CREATE TYPE mall.seat (number int)",
			"CREATE TABLE mall.passes (id uuid, code text, event boolean, seat frozen<seat>, gate hall, holder timeuuid, price bigint, hall frozen<hall>, "+
				"row ascii, PRIMARY KEY (id, code))")
		p := startProcess(t, c)
		set := tables.Must(tables.New[pass]("pass", tables.UserType[hall]("hall"),
			tables.Table{Name: "passes", Keyspace: "mall", PartKey: []string{"id"}, SortKey: []string{"code"}}))
		for column, want := range map[string]struct{ is, advice string }{
			"id":     {"is uuid, declared text", `string: declare tables.Type("id", "uuid")`},
			"code":   {"is text, declared uuid", "gocql.UUID: declare the field as string"},
			"event":  {"is boolean, declared text", "string: declare the field as bool"},
			"gate":   {"is hall, declared text", "string: declare the field as cassandratest_test.hall"},
			"holder": {"is timeuuid, declared text", `string: declare tables.Type("holder", "timeuuid")`},
			"price":  {"is bigint, declared int", "int32: declare the field as int64"},
			"row":    {"is ascii, declared uuid", `*gocql.UUID: declare the field as *string, with tables.Type("row", "ascii")`},
			"seat":   {"is frozen<seat>, declared text", `string: declare the field as S, a struct with the fields of this type, with tables.UserType[S]("seat")`},
		} {
			p.differs(set, "column "+column+": "+want.is+"\n\t\tno statement fixes it: the declared type follows from Go type "+want.advice)
		}
		p.differs(set, "column door: the field is text, declared uuid\n\t\tno statement fixes it: the declared type follows from Go type "+
			"gocql.UUID: declare the field as string")
	})
}

// differs wants a line of Validate.
func (p process) differs(set tables.Described, want string) {
	p.Helper()
	var different *schema.DifferenceError
	if err := schema.Validate(p.Context(), p.session, schema.Sets(set)); !errors.As(err, &different) || !strings.Contains(err.Error()+"\n", ": "+want+"\n") {
		p.Errorf("Validate: %v\nwant %s", err, want)
	}
}

// comesBack writes a row of a set that passes Validate, and reads it.
func (p process) comesBack(c *cassandratest.Cluster, set *tables.Set[parcel]) {
	p.Helper()
	if err := schema.Validate(p.Context(), p.session, schema.Sets(set)); err != nil {
		p.Error(err)
	}
	w, err := writer.New(connect(p.T, c, ""))
	if err != nil {
		p.Fatal(err)
	}
	row := parcel{gocql.TimeUUID(), -7, map[string]int{"stops": 3}, "fragile", dimensions{12}}
	if _, err := w.Write(p.Context(), "send", set.Insert(row)); err != nil {
		p.Fatal(err)
	}
	if got, err := writer.Load(p.Context(), w, "find", set, row); err != nil || !reflect.DeepEqual(got, row) {
		p.Errorf("%+v, %v, want %+v", got, err, row)
	}
}

type widerDimensions struct {
	Width  int    `cql:"width"`
	Colour string `cql:"colour"`
}

type crateOfParcels struct {
	CrateID gocql.UUID
	Size    widerDimensions
}

// Sets that declare a user-defined type with other fields are each compared with the live type, whichever comes first.
func TestTypeOfTwoSets(t *testing.T) {
	t.Parallel()
	narrow := parcels(tables.UserType[dimensions]("dimensions"), tables.Type("parcel_id", "timeuuid"))
	wide := tables.Must(tables.New[crateOfParcels]("crate_of_parcels", tables.UserType[widerDimensions]("dimensions"),
		tables.Table{Name: "crates_of_parcels", Keyspace: "mall", PartKey: []string{"crate_id"}}))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		c.Create("CREATE KEYSPACE mall WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}",
			"CREATE TYPE mall.dimensions (width bigint)",
			"CREATE TABLE mall.parcels (parcel_id timeuuid PRIMARY KEY, weight bigint, counts map<text, bigint>, label text, size frozen<dimensions>)",
			"CREATE TABLE mall.crates_of_parcels (crate_id uuid PRIMARY KEY, size frozen<dimensions>)")
		p := startProcess(t, c)
		for _, sets := range [][]tables.Described{{narrow, wide}, {wide, narrow}, {wide}} {
			if err := schema.Validate(t.Context(), p.session, schema.Sets(sets...)); err == nil || strings.Count(err.Error(), "colour") == 0 {
				t.Errorf("%d sets: %v", len(sets), err)
			}
		}
	})
}
