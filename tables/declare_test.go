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
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"
)

// thing is the row type of the declaration tests.
type thing struct {
	ID        gocql.UUID
	Owner     gocql.UUID
	Kind      string
	Level     *int32
	Day       time.Time
	Payload   []byte
	UpdatedAt int64
	EndsAt    *time.Time
}

// declaration is one New, waiting to be made.
type declaration func(entity string) error

func declaring[T any](options ...tables.Option) declaration {
	return func(entity string) error {
		_, err := tables.New[T](entity, options...)
		return err
	}
}

// base and byKind are sound tables of thing.
var (
	base   = tables.Table{Name: "things", PartKey: []string{"id"}}
	byKind = tables.Table{Name: "things_by_kind", PartKey: []string{"kind"}, SortKey: []string{"id"}}
	byDay  = tables.Table{Name: "things_by_day", PartKey: []string{"day"}, SortKey: []string{"id"}}
)

const (
	columnRule = "lower-case letters, digits and _, a letter first, no reserved word of CQL"
	tableRule  = columnRule + ", at most 48"
)

// faultCase is a declaration with the faults it must have, all of them and no other.
type faultCase struct {
	name    string
	declare declaration
	want    []string
}

func runFaultCases(t *testing.T, tests []faultCase) {
	t.Helper()
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := tc.declare("thing")
			if len(tc.want) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var declaration *declare.DeclarationError
			if !errors.As(err, &declaration) {
				t.Fatalf("got error %v, want a *entity.DeclarationError", err)
			}
			var got []string
			for _, f := range declaration.Faults {
				got = append(got, f.String())
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("faults\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(tc.want, "\n\t"))
			}
			if declaration.Entity != "thing" {
				t.Errorf("entity %q", declaration.Entity)
			}
		})
	}
}

type (
	Audit   struct{ CreatedBy string }
	audit   struct{ CreatedBy string }
	Address struct{ Geo }
	Geo     struct{ Lat, Lon float64 }
)

// MarshalCQL makes an Address one value.
func (Address) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return []byte("here"), nil }

type pointing struct{ *Audit }

func TestDeclareColumns(t *testing.T) {
	t.Parallel()
	runFaultCases(t, []faultCase{
		{"embedded struct", declaring[struct {
			ID int64
			Audit
		}](base, tables.Type("created_by", "ascii")), nil},
		{"embedded unexported struct", declaring[struct {
			ID int64
			audit
		}](base, tables.Type("created_by", "ascii")), nil},
		{"unexported and excluded fields", declaring[struct {
			ID    int64
			Skip  chan int `db:"-"`
			Audit `db:"-"`
			inner int
		}](base), nil},
		{"tag with an option", declaring[struct {
			Key int64 `db:"id,pk" json:"k"`
		}](base), nil},
		{"long column", declaring[struct {
			ID   int64
			Long string `db:"a_name_that_is_longer_than_the_48_bytes_a_table_may_have"`
		}](base), nil},
		{"embedded pointer", declaring[struct {
			ID int64
			*Audit
		}](base), []string{"embedded field Audit is a pointer: its columns could not be set; embed the struct itself"}},
		{"embedded pointer in an embedded struct", declaring[struct {
			ID int64
			pointing
		}](base), []string{"embedded field Audit is a pointer: its columns could not be set; embed the struct itself"}},
		{"embedded pointer to an unexported struct", declaring[struct {
			ID int64
			*audit
		}](base), []string{"embedded field audit is a pointer: its columns could not be set; embed the struct itself"}},
		{"embedded array", declaring[struct {
			ID int64
			gocql.UUID
		}](base), []string{
			`embedded field UUID has no columns in it: give the field a name of its own, or leave it out with db:"-"`,
		}},
		{"embedded time", declaring[struct {
			ID int64
			time.Time
		}](base), []string{
			`embedded field Time has no columns in it: give the field a name of its own, or leave it out with db:"-"`,
		}},
		{"embedded with a tag", declaring[struct {
			ID    int64
			Audit `db:"audit"`
		}](base), []string{
			"embedded field Audit has a db tag, with which its columns could not be read: remove the tag",
		}},
		{"reserved word", declaring[struct {
			ID    int64
			Order string
			Token string
		}](base), []string{
			"column order: field Order has no usable name: " + columnRule + "; name it with a db tag",
			"column token: field Token has no usable name: " + columnRule + "; name it with a db tag",
		}},
		{"upper case", declaring[struct {
			ID   int64
			Name string `db:"userName"`
		}](base), []string{"column userName: field Name has an unusable name in its db tag: it must be " + columnRule}},
		{"empty tag", declaring[struct {
			ID   int64
			Name string `db:""`
		}](base), []string{"field Name has no usable name: " + columnRule + "; name it with a db tag"}},
		{"text that is no name", declaring[struct {
			ID   int64
			Name string `db:"x) VALUES (1); --"`
		}](base), []string{"column x) VALUES (1); --: field Name has an unusable name in its db tag: it must be " +
			columnRule}},
		{"two fields of one name", declaring[struct {
			ID    int64
			Owner string
			User  string `db:"owner"`
		}](base), []string{"column owner: two fields have this column name: Owner and User"}},
		{"embedded field of one name", declaring[struct {
			ID        int64
			CreatedBy string
			Audit
		}](base), []string{"column created_by: two fields have this column name: CreatedBy and CreatedBy"}},
		{"no exported field", declaring[struct{ id int64 }](base), []string{
			"row type struct { id int64 } has no exported field",
			"table things: column id: PartKey names a column that is no field of struct { id int64 }",
		}},
		{"no struct", declaring[int64](base), []string{"rows must be a struct, not int64"}},
		{"pointer to a struct", declaring[*thing](base), []string{"rows must be a struct, not *tables_test.thing"}},
		{"interface", declaring[any](base), []string{"rows must be a struct, not interface {}"}},
	})
}

// TestColumns: the fields of a struct that is a value are no columns, at any depth: those of the Geo in an Address were
// taken for some, as an embedded field is above them.
func TestColumns(t *testing.T) {
	t.Parallel()
	s := tables.Must(tables.New[struct {
		ID int64
		At Address
		Audit
		Skip   string `db:"-"`
		hidden string
		Total  *inf.Dec
		UserID string
		Zip    string `db:"postcode,x"`
	}]("thing", base, tables.Type("at", "text")))
	var got []string
	for _, c := range describe.Of(s.Internal()).Tables[0].Columns {
		got = append(got, c.Name+" "+c.Type)
	}
	want := []string{"id bigint", "at text", "total decimal", "user_id text", "postcode text", "created_by text"}
	if !slices.Equal(got, want) {
		t.Errorf("columns %q, want %q", got, want)
	}
}

func TestDeclareTables(t *testing.T) {
	t.Parallel()
	runFaultCases(t, []faultCase{
		{"one table", declaring[thing](base), nil},
		{"every option", declaring[thing](base, byKind, byDay, tables.OneOf("kind", "a", "b"), tables.SingleWriter("day"),
			tables.Stamp("updated_at"), tables.ExpiresAt("ends_at"), tables.Type("day", "date"), tables.SweepInserts(),
			tables.Atomic()), nil},
		{"one name in two keyspaces", declaring[thing](base, tables.Table{
			Name: "things", Keyspace: "other",
			PartKey: []string{"id"},
		}), nil},
		{"a table of its key alone", declaring[thing](base, tables.Table{
			Name: "ids", PartKey: []string{"id"},
			Columns: []string{},
		}), nil},
		{"a subset without the stamp and the expiry", declaring[thing](base, tables.Table{
			Name: "sub", PartKey: []string{"id"}, Columns: []string{"id", "owner"},
		}, tables.Stamp("updated_at"), tables.ExpiresAt("ends_at")), nil},
		{"the base table names all", declaring[struct{ ID, Name int64 }](tables.Table{
			Name: "things", PartKey: []string{"id"}, Columns: []string{"name"},
		}), nil},
		{"no table", declaring[thing](), []string{"the set has no table"}},
		{"nil option", declaring[thing](base, nil), []string{"an option is nil"}},
		{
			"no name", declaring[thing](tables.Table{PartKey: []string{"id"}}),
			[]string{"the name of table 1 must be " + tableRule},
		},
		{"name with a keyspace", declaring[thing](tables.Table{Name: "ks.things", PartKey: []string{"id"}}), []string{
			"table ks.things: the name of table 1 must be " + tableRule + ": give the keyspace as Table.Keyspace",
		}},
		{
			"name too long", declaring[thing](base, tables.Table{Name: strings.Repeat("x", 49), PartKey: []string{"id"}}),
			[]string{
				"table " + strings.Repeat("x", 49) + ": the name of table 2 must be " + tableRule,
			},
		},
		{"reserved name", declaring[thing](tables.Table{Name: "index", PartKey: []string{"id"}}), []string{
			"table index: the name of table 1 must be " + tableRule,
		}},
		{"keyspace", declaring[thing](tables.Table{Name: "things", Keyspace: "Shop", PartKey: []string{"id"}}), []string{
			`table things: keyspace "Shop" must be ` + tableRule,
		}},
		{"twice", declaring[thing](base, byKind, base), []string{"table things: declared twice: leave one of the two out"}},
		{"no partition key", declaring[thing](base, tables.Table{Name: "t", SortKey: []string{"id"}}), []string{
			"table t: PartKey is empty: a table needs a partition key",
		}},
		{"unknown partition column", declaring[thing](base, tables.Table{
			Name: "t", PartKey: []string{"user"},
			SortKey: []string{"id"},
		}), []string{
			"table t: column user: PartKey names a column that is no field of tables_test.thing",
		}},
		{"unknown sort column", declaring[thing](base, tables.Table{
			Name: "t", PartKey: []string{"kind"},
			SortKey: []string{"idd DESC"},
		}), []string{
			"table t: column idd: SortKey names a column that is no field of tables_test.thing: did you mean id?",
		}},
		{"unknown base key", declaring[thing](tables.Table{Name: "things", PartKey: []string{"thing_id"}}, byKind), []string{
			"table things: column thing_id: PartKey names a column that is no field of tables_test.thing: did you mean id?",
		}},
		{"named without snake case", declaring[thing](base, tables.Table{
			Name: "t", PartKey: []string{"UPDATEDat"},
			SortKey: []string{"id"},
		}), []string{
			"table t: column UPDATEDat: PartKey names a column that is no field of tables_test.thing: did you mean updated_at?",
		}},
		{"cql in place of db", declaring[struct {
			ID  gocql.UUID
			Key string `cql:"name"`
			Two string `db:"two" cql:"second"`
		}](base, tables.Table{Name: "t", PartKey: []string{"name"}, SortKey: []string{"second", "id"}}), []string{
			`table t: column name: PartKey names a column that is no field of struct { ID gocql.UUID; Key string "cql:\"name\""; ` +
				`Two string "db:\"two\" cql:\"second\"" }: field Key has it in a cql tag, and columns are named by the db tag: tag it db:"name"`,
			`table t: column second: SortKey names a column that is no field of struct { ID gocql.UUID; Key string "cql:\"name\""; ` +
				`Two string "db:\"two\" cql:\"second\"" }: field Two has it in a cql tag, and columns are named by the db tag: tag it db:"second"`,
		}},
		{"cql in place of db, of no key", declaring[struct {
			ID    gocql.UUID
			Total int64  `cql:"total_cents"`
			Owner string `cql:"owner"`
		}](base), []string{
			`column total: field Total has the name "total_cents" in a cql tag, and columns are named by the db tag: tag it db:"total_cents", ` +
				`or db:"total" if that is its column`,
		}},
		{"column twice", declaring[thing](base, tables.Table{
			Name: "t", PartKey: []string{"id"},
			SortKey: []string{"id DESC"},
		}), []string{
			"table t: column id: is in the primary key twice",
		}},
		{"direction", declaring[thing](base, tables.Table{Name: "t", PartKey: []string{"kind"}, SortKey: []string{
			"id", "day DOWN", "", "owner DESC NULLS", "level asc",
		}}), []string{
			`table t: SortKey entry "day DOWN": want a column, optionally followed by ASC or DESC`,
			`table t: SortKey entry "": want a column, optionally followed by ASC or DESC`,
			`table t: SortKey entry "owner DESC NULLS": want a column, optionally followed by ASC or DESC`,
		}},
		{"subset", declaring[thing](base, tables.Table{
			Name: "t", PartKey: []string{"id"},
			Columns: []string{"kind", "name", "kind"},
		}), []string{
			"table t: column name: Columns names a column that is no field of tables_test.thing",
			"table t: column kind: is in Columns twice",
		}},
		{
			"base subset", declaring[thing](tables.Table{Name: "things", PartKey: []string{"id"}, Columns: []string{"kind"}}),
			[]string{
				`table things: the base table holds all columns of the entity, and its Columns lack owner, level, day, payload, updated_at, ends_at: ` +
					`leave Columns empty, or take fields out of the row type with db:"-"`,
			},
		},
	})
}

func TestMust(t *testing.T) {
	t.Parallel()
	if s := tables.Must(tables.New[thing]("thing", base)); s == nil {
		t.Fatal("no set")
	}
	defer func() {
		err, ok := recover().(error)
		var declaration *declare.DeclarationError
		if !ok || !errors.As(err, &declaration) {
			t.Errorf("Must panicked with %v, want the error of New", err)
		}
	}()
	tables.Must(tables.New[thing]("thing"))
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	got := describe.Of(orders(t, tables.Atomic()).Internal())
	if got.Entity != "order" || !got.Atomic || len(got.Tables) != 3 {
		t.Fatalf("%+v", got)
	}
	want := describe.Table{Name: "orders_by_user", Fingerprint: "[denorm:1 stamp updated_at]", Columns: []describe.Column{
		{Name: "user_id", Type: "uuid", Kind: "partition_key"},
		{Name: "order_id", Type: "timeuuid", Kind: "clustering", Desc: true},
		{Name: "status", Type: "text", Kind: "regular", Changes: true, Domain: 4},
		{Name: "total", Type: "decimal", Kind: "regular"},
		{Name: "updated_at", Type: "bigint", Kind: "regular"},
	}}
	if fmt.Sprint(got.Tables[1]) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", got.Tables[1], want)
	}
	composite := describe.Of(tables.Must(tables.New[thing]("thing",
		tables.Table{
			Name: "things", Keyspace: "shop", PartKey: []string{"id", "owner"},
			SortKey: []string{"kind", "day desc"},
		},
	)).Internal()).Tables[0]
	if composite.Keyspace != "shop" {
		t.Errorf("keyspace %q", composite.Keyspace)
	}
	for n, want := range []string{
		"id partition_key 0 false", "owner partition_key 1 false", "kind clustering 0 false",
		"day clustering 1 true",
	} {
		c := composite.Columns[n]
		if got := fmt.Sprint(c.Name, " ", c.Kind, " ", c.Position, " ", c.Desc); got != want {
			t.Errorf("column %d: %s, want %s", n, got, want)
		}
	}
}

// A field whose name is not ASCII needs a tag, or is left out with one. It made New panic, even so.
func TestFieldThatIsNotASCII(t *testing.T) {
	t.Parallel()
	base := tables.Table{Name: "things", PartKey: []string{"id"}}
	type size struct{ Größe int64 }
	type tagged struct {
		Größe int64 `cql:"size"`
	}
	runFaultCases(t, []faultCase{
		{"no tag", declaring[struct{ ID, Größe int64 }](base), []string{
			"column Größe: field Größe has no usable name: " + columnRule + "; name it with a db tag",
		}},
		{"tag", declaring[struct {
			ID    int64
			Größe int64 `db:"size"`
		}](base, tables.Table{Name: "by_size", PartKey: []string{"size"}, SortKey: []string{"id"}},
			tables.SingleWriter("size")), nil},
		{"left out", declaring[struct {
			ID    int64
			Größe int64 `db:"-"`
		}](base), nil},
		{"field of a type without a tag", declaring[struct {
			ID int64
			V  size
		}](base, tables.UserType[size]("size_type")), []string{
			"user-defined type size_type: field Größe has no usable name: " + columnRule + "; name it with a cql tag",
			"user-defined type size_type has no fields",
		}},
		{"field of a type", declaring[struct {
			ID int64
			V  tagged
		}](base, tables.UserType[tagged]("size_type")), nil},
	})
}
