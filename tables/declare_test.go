package tables_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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

func declare[T any](options ...tables.Option) declaration {
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
			var declaration *tables.DeclarationError
			if !errors.As(err, &declaration) {
				t.Fatalf("got error %v, want a *DeclarationError", err)
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

func TestDeclareColumns(t *testing.T) {
	t.Parallel()
	runFaultCases(t, []faultCase{
		{"embedded struct", declare[struct {
			ID int64
			Audit
		}](base, tables.Type("created_by", "ascii")), nil},
		{"embedded unexported struct", declare[struct {
			ID int64
			audit
		}](base, tables.Type("created_by", "ascii")), nil},
		{"unexported and excluded fields", declare[struct {
			ID    int64
			Skip  chan int `db:"-"`
			Audit `db:"-"`
			inner int
		}](base), nil},
		{"tag with an option", declare[struct {
			Key int64 `db:"id,pk" json:"k"`
		}](base), nil},
		{"long column", declare[struct {
			ID   int64
			Long string `db:"a_name_that_is_longer_than_the_48_bytes_a_table_may_have"`
		}](base), nil},
		{"embedded pointer", declare[struct {
			ID int64
			*Audit
		}](base), []string{"embedded field Audit is a pointer: its columns could not be set; embed the struct itself"}},
		{"embedded array", declare[struct {
			ID int64
			gocql.UUID
		}](base), []string{
			`embedded field UUID has no columns in it: give the field a name of its own, or leave it out with db:"-"`,
		}},
		{"embedded time", declare[struct {
			ID int64
			time.Time
		}](base), []string{
			`embedded field Time has no columns in it: give the field a name of its own, or leave it out with db:"-"`,
		}},
		{"embedded with a tag", declare[struct {
			ID    int64
			Audit `db:"audit"`
		}](base), []string{
			"embedded field Audit has a db tag, with which its columns could not be read: remove the tag",
		}},
		{"reserved word", declare[struct {
			ID    int64
			Order string
			Token string
		}](base), []string{
			"column order: field Order has no usable column name: " + columnRule + "; name it with a db tag",
			"column token: field Token has no usable column name: " + columnRule + "; name it with a db tag",
		}},
		{"upper case", declare[struct {
			ID   int64
			Name string `db:"userName"`
		}](base), []string{"column userName: field Name has no usable column name: " + columnRule + "; name it with a db tag"}},
		{"empty tag", declare[struct {
			ID   int64
			Name string `db:""`
		}](base), []string{"field Name has no usable column name: " + columnRule + "; name it with a db tag"}},
		{"text that is no name", declare[struct {
			ID   int64
			Name string `db:"x) VALUES (1); --"`
		}](base), []string{"column x) VALUES (1); --: field Name has no usable column name: " + columnRule + "; name it with a db tag"}},
		{"two fields of one name", declare[struct {
			ID    int64
			Owner string
			User  string `db:"owner"`
		}](base), []string{"column owner: two fields have this column name: Owner and User"}},
		{"embedded field of one name", declare[struct {
			ID        int64
			CreatedBy string
			Audit
		}](base), []string{"column created_by: two fields have this column name: CreatedBy and CreatedBy"}},
		{"no exported field", declare[struct{ id int64 }](base), []string{
			"row type struct { id int64 } has no exported field",
			"table things: column id: PartKey names a column that is no field of struct { id int64 }",
		}},
		{"no struct", declare[int64](base), []string{"rows must be a struct, not int64"}},
		{"pointer to a struct", declare[*thing](base), []string{"rows must be a struct, not *tables_test.thing"}},
		{"interface", declare[any](base), []string{"rows must be a struct, not interface {}"}},
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
	for _, c := range s.Describe().Tables[0].Columns {
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
		{"one table", declare[thing](base), nil},
		{"every option", declare[thing](base, byKind, byDay, tables.OneOf("kind", "a", "b"), tables.SingleWriter("day"),
			tables.Stamp("updated_at"), tables.ExpiresAt("ends_at"), tables.Type("day", "date"), tables.SweepInserts(),
			tables.Atomic()), nil},
		{"one name in two keyspaces", declare[thing](base, tables.Table{Name: "things", Keyspace: "other", PartKey: []string{"id"}}), nil},
		{"a table of its key alone", declare[thing](base, tables.Table{Name: "ids", PartKey: []string{"id"}, Columns: []string{}}), nil},
		{"a subset without the stamp and the expiry", declare[thing](base, tables.Table{
			Name: "sub", PartKey: []string{"id"}, Columns: []string{"id", "owner"},
		}, tables.Stamp("updated_at"), tables.ExpiresAt("ends_at")), nil},
		{"the base table names all", declare[struct{ ID, Name int64 }](tables.Table{
			Name: "things", PartKey: []string{"id"}, Columns: []string{"name"},
		}), nil},
		{"no table", declare[thing](), []string{"the set has no table"}},
		{"nil option", declare[thing](base, nil), []string{"an option is nil"}},
		{"no name", declare[thing](tables.Table{PartKey: []string{"id"}}), []string{"the name of table 1 must be " + tableRule}},
		{"name with a keyspace", declare[thing](tables.Table{Name: "ks.things", PartKey: []string{"id"}}), []string{
			"table ks.things: the name of table 1 must be " + tableRule,
		}},
		{"name too long", declare[thing](base, tables.Table{Name: strings.Repeat("x", 49), PartKey: []string{"id"}}), []string{
			"table " + strings.Repeat("x", 49) + ": the name of table 2 must be " + tableRule,
		}},
		{"reserved name", declare[thing](tables.Table{Name: "index", PartKey: []string{"id"}}), []string{
			"table index: the name of table 1 must be " + tableRule,
		}},
		{"keyspace", declare[thing](tables.Table{Name: "things", Keyspace: "Shop", PartKey: []string{"id"}}), []string{
			`table things: keyspace "Shop" must be ` + tableRule,
		}},
		{"twice", declare[thing](base, byKind, base), []string{"table things: declared twice"}},
		{"no partition key", declare[thing](base, tables.Table{Name: "t", SortKey: []string{"id"}}), []string{
			"table t: PartKey is empty: a table needs a partition key",
		}},
		{"unknown partition column", declare[thing](base, tables.Table{Name: "t", PartKey: []string{"user"}, SortKey: []string{"id"}}), []string{
			"table t: column user: PartKey names a column that is no field of tables_test.thing",
		}},
		{"unknown sort column", declare[thing](base, tables.Table{Name: "t", PartKey: []string{"kind"}, SortKey: []string{"idd DESC"}}), []string{
			"table t: column idd: SortKey names a column that is no field of tables_test.thing",
		}},
		{"unknown base key", declare[thing](tables.Table{Name: "things", PartKey: []string{"thing_id"}}, byKind), []string{
			"table things: column thing_id: PartKey names a column that is no field of tables_test.thing",
		}},
		{"column twice", declare[thing](base, tables.Table{Name: "t", PartKey: []string{"id"}, SortKey: []string{"id DESC"}}), []string{
			"table t: column id: stands twice in the primary key",
		}},
		{"direction", declare[thing](base, tables.Table{Name: "t", PartKey: []string{"kind"}, SortKey: []string{
			"id", "day DOWN", "", "owner DESC NULLS", "level asc",
		}}), []string{
			`table t: SortKey entry "day DOWN": want a column, optionally followed by ASC or DESC`,
			`table t: SortKey entry "": want a column, optionally followed by ASC or DESC`,
			`table t: SortKey entry "owner DESC NULLS": want a column, optionally followed by ASC or DESC`,
		}},
		{"subset", declare[thing](base, tables.Table{Name: "t", PartKey: []string{"id"}, Columns: []string{"kind", "name", "kind"}}), []string{
			"table t: column name: Columns names a column that is no field of tables_test.thing",
			"table t: column kind: stands twice in Columns",
		}},
		{"base subset", declare[thing](tables.Table{Name: "things", PartKey: []string{"id"}, Columns: []string{"kind"}}), []string{
			`table things: the base table holds all columns of the entity: leave Columns empty, or take fields out of the row type ` +
				`with db:"-"`,
		}},
	})
}

func TestDeclareRules(t *testing.T) {
	t.Parallel()
	stamp := tables.Stamp("updated_at")
	var null *int32
	byLevel := tables.Table{Name: "things_by_level", PartKey: []string{"level"}, SortKey: []string{"id"}}
	byPayload := tables.Table{Name: "things_by_payload", PartKey: []string{"payload"}, SortKey: []string{"id"}}
	early := time.Date(2024, 1, 1, 0, 0, 0, 1_000_000, time.UTC)
	runFaultCases(t, []faultCase{
		{"values of the column's type", declare[thing](base, byLevel, tables.OneOf("level", int32(1), 2), stamp), nil},
		{"types", declare[thing](base, tables.Type("idd", "uuid"), tables.Type("kind", "string"), tables.Type("owner", "uuid"),
			tables.Type("owner", "timeuuid")), []string{
			"column idd: Type names a column that is no field of tables_test.thing",
			`column kind: CQL type "string": unknown or unsupported type "string"`,
			"column owner: has two Type options",
		}},
		{"no type follows", declare[struct {
			ID    int64
			Age   time.Duration
			Other any
		}](base), []string{
			"column age: no CQL type follows from Go type time.Duration: declare it with Type",
			"column other: no CQL type follows from Go type interface {}: declare it with Type",
		}},
		{"OneOf of a type without encoding", declare[struct {
			ID, UpdatedAt int64
			Kind          uint64
		}](base, byKind, tables.OneOf("kind", uint64(1)), stamp), []string{
			"column kind: no CQL type follows from Go type uint64: declare it with Type",
		}},
		{"OneOf unknown", declare[thing](base, tables.OneOf("knid", "a"), stamp), []string{
			"column knid: OneOf names a column that is no field of tables_test.thing",
		}},
		{"OneOf no key", declare[thing](base, tables.OneOf("kind", "a"), stamp), []string{
			"column kind: OneOf concerns key columns, and no table has this one in its key",
		}},
		{"OneOf base key", declare[thing](tables.Table{Name: "things", PartKey: []string{"kind"}, SortKey: []string{"id"}},
			tables.OneOf("kind", "a"), stamp), []string{
			"table things: column kind: the base key identifies the entity and cannot change, so OneOf is refused",
		}},
		{"OneOf twice", declare[thing](base, byKind, tables.OneOf("kind", "a"), tables.OneOf("kind", "b"), stamp), []string{
			"column kind: has more than one OneOf or SingleWriter",
		}},
		{"OneOf and SingleWriter", declare[thing](base, byKind, tables.OneOf("kind", "a"), tables.SingleWriter("kind"), stamp), []string{
			"column kind: has more than one OneOf or SingleWriter",
		}},
		{"OneOf without values", declare[thing](base, byKind, tables.OneOf[string]("kind"), stamp), []string{
			"column kind: OneOf lists no value",
		}},
		{"OneOf values", declare[thing](base, byKind, tables.OneOf[any]("kind", "a", 1, nil, "", "a", "\xff"), stamp), []string{
			"column kind: value 2 of OneOf is of Go type int, it must be string",
			"column kind: value 3 of OneOf is of Go type <nil>, it must be string",
			"column kind: value 4 of OneOf: a key column must not be empty",
			"column kind: value 5 of OneOf stands twice",
			"column kind: value 6 of OneOf: text is not valid UTF-8",
		}},
		{"OneOf times are compared in milliseconds", declare[thing](base, byDay,
			tables.OneOf("day", early, early.Add(time.Microsecond), time.Time{}), stamp), []string{
			"column day: value 2 of OneOf stands twice",
			"column day: value 3 of OneOf: a key column must not be the zero time",
		}},
		{"OneOf pointers", declare[thing](base, byLevel, tables.OneOf("level", null, new(int32)), stamp), []string{
			"column level: value 1 of OneOf is of Go type *int32, it must be int32",
			"column level: value 2 of OneOf is of Go type *int32, it must be int32",
		}},
		{"OneOf nil", declare[thing](base, byPayload, tables.OneOf("payload", []byte(nil), []byte{}), stamp), []string{
			"column payload: value 1 of OneOf: a key column must not be empty",
			"column payload: value 2 of OneOf: a key column must not be empty",
		}},
		{"OneOf zero time of a pointer", declare[struct {
			ID        int64
			Day       *time.Time
			UpdatedAt int64
		}](base, byDay, tables.OneOf("day", time.Time{}), stamp), []string{
			"column day: value 1 of OneOf: nil is not listed: a pointer column may always be nil",
		}},
		{"OneOf without Stamp", declare[thing](base, byKind, tables.OneOf("kind", "a")), []string{
			"OneOf needs Stamp(column): without the stamp of the row that was read, a writer whose clock is behind loses its update",
		}},
		{"SingleWriter", declare[thing](base, byKind, tables.SingleWriter("knid"), tables.SingleWriter("owner"), tables.SingleWriter("id"),
			tables.SingleWriter("kind"), tables.SingleWriter("kind")), []string{
			"column knid: SingleWriter names a column that is no field of tables_test.thing",
			"column owner: SingleWriter concerns key columns, and no table has this one in its key",
			"table things: column id: the base key identifies the entity and cannot change, so SingleWriter is refused",
			"column kind: has more than one OneOf or SingleWriter",
		}},
		{"Stamp unknown", declare[thing](base, tables.Stamp("stamp")), []string{
			"column stamp: Stamp names a column that is no field of tables_test.thing",
		}},
		{"Stamp twice", declare[thing](base, stamp, stamp), []string{"Stamp is declared 2 times"}},
		{"Stamp in a key", declare[thing](base, tables.Table{Name: "t", PartKey: []string{"updated_at"}, SortKey: []string{"id"}}, stamp), []string{
			"column updated_at: Stamp cannot be a key column: it changes with every write",
		}},
		{"Stamp type", declare[thing](base, tables.Stamp("kind")), []string{
			"column kind: Stamp wants a Go int64 and CQL bigint, this is Go type string and CQL type text",
		}},
		{"Stamp pointer", declare[struct {
			ID int64
			At *int64
		}](base, tables.Stamp("at")), []string{
			"column at: Stamp wants a Go int64 and CQL bigint, this is Go type *int64 and CQL type bigint",
		}},
		{"Stamp CQL type", declare[thing](base, stamp, tables.Type("updated_at", "timestamp")), []string{
			"column updated_at: Stamp wants a Go int64 and CQL bigint, this is Go type int64 and CQL type timestamp",
		}},
		{"ExpiresAt unknown", declare[thing](base, tables.ExpiresAt("end")), []string{
			"column end: ExpiresAt names a column that is no field of tables_test.thing",
		}},
		{"ExpiresAt twice", declare[thing](base, tables.ExpiresAt("ends_at"), tables.ExpiresAt("day")), []string{
			"ExpiresAt is declared 2 times",
		}},
		{"ExpiresAt in a key", declare[thing](base, byDay, tables.ExpiresAt("day")), []string{
			"column day: ExpiresAt cannot be a key column: it changes with every write",
		}},
		{"ExpiresAt type", declare[thing](base, tables.ExpiresAt("updated_at")), []string{
			"column updated_at: ExpiresAt wants a Go time.Time or *time.Time and CQL timestamp, this is Go type int64 and CQL type bigint",
		}},
		{"ExpiresAt of days", declare[thing](base, tables.ExpiresAt("day"), tables.Type("day", "date")), []string{
			"column day: ExpiresAt wants a Go time.Time or *time.Time and CQL timestamp, this is Go type time.Time and CQL type date",
		}},
		{"SweepInserts", declare[thing](base, byKind, tables.SingleWriter("kind"), tables.SweepInserts()), []string{
			"SweepInserts without a OneOf column has nothing to sweep",
		}},
	})
}

func TestDeclareEntity(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"order", "o", "order_line2", strings.Repeat("x", 48)} {
		if err := declare[thing](base)(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "Order", "2nd", "order line", "order\n", strings.Repeat("x", 49)} {
		want := fmt.Sprintf("tables: set %q has 1 fault(s)\n\tthe entity's name must be lower-case letters, digits and _, a letter first, "+
			"at most 48", name)
		if err := declare[thing](base)(name); err == nil || err.Error() != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestDeclareAllAtOnce: whoever fixes a declaration must not meet its next fault only in the next start of the service.
func TestDeclareAllAtOnce(t *testing.T) {
	t.Parallel()
	type row struct {
		ID     *gocql.UUID
		Group  string
		Order  string
		Amount uint64
		Tags   []string
		Total  float64
	}
	_, err := tables.New[row]("Thing",
		tables.Table{Name: "things", PartKey: []string{"id"}},
		tables.Table{Name: "things_by_group", PartKey: []string{"group"}, SortKey: []string{"idd"}},
		tables.Table{Name: "things_by_total", PartKey: []string{"total"}},
		tables.OneOf("group", "a", "a"), tables.Stamp("total"), tables.ExpiresAt("end"), tables.Type("total", "decimal"),
		nil,
	)
	const want = `tables: set "Thing" has 13 fault(s)
	an option is nil
	the entity's name must be lower-case letters, digits and _, a letter first, at most 48
	column order: field Order has no usable column name: ` + columnRule + `; name it with a db tag
	table things_by_group: column idd: SortKey names a column that is no field of tables_test.row
	column amount: no CQL type follows from Go type uint64: declare it with Type
	column group: value 2 of OneOf stands twice
	column total: Stamp cannot be a key column: it changes with every write
	column end: ExpiresAt names a column that is no field of tables_test.row
	column tags: a non-frozen list doubles when it is written twice at one timestamp, as a retry does: ` +
		`declare Type("tags", "frozen<list<text>>") or use a set
	column total: decimal in a key: 1.0 and 1.00 differ in bytes and are one row, so a move between them would erase it
	column total: Go type float64 cannot be encoded as CQL type decimal: the driver has no such encoding
	table things: column id: a column of the base key cannot be a pointer: every entity has a base row
	table things_by_total: column id: the key of a query table must contain the base key: without this column two entities share ` +
		`a row, and one overwrites the other`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestMust(t *testing.T) {
	t.Parallel()
	if s := tables.Must(tables.New[thing]("thing", base)); s == nil {
		t.Fatal("no set")
	}
	defer func() {
		err, ok := recover().(error)
		var declaration *tables.DeclarationError
		if !ok || !errors.As(err, &declaration) {
			t.Errorf("Must panicked with %v, want the error of New", err)
		}
	}()
	tables.Must(tables.New[thing]("thing"))
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	got := orders(t, tables.Atomic()).Describe()
	if got.Entity != "order" || !got.Atomic || len(got.Tables) != 3 {
		t.Fatalf("%+v", got)
	}
	want := tables.TableDescription{Name: "orders_by_user", Columns: []tables.ColumnDescription{
		{Name: "user_id", Type: "uuid", Kind: "partition_key"},
		{Name: "order_id", Type: "timeuuid", Kind: "clustering", Desc: true},
		{Name: "status", Type: "text", Kind: "regular", Changes: true, Domain: 4},
		{Name: "total", Type: "decimal", Kind: "regular"},
		{Name: "updated_at", Type: "bigint", Kind: "regular"},
	}}
	if fmt.Sprint(got.Tables[1]) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", got.Tables[1], want)
	}
	composite := tables.Must(tables.New[thing]("thing",
		tables.Table{Name: "things", Keyspace: "shop", PartKey: []string{"id", "owner"}, SortKey: []string{"kind", "day desc"}},
	)).Describe().Tables[0]
	if composite.Keyspace != "shop" {
		t.Errorf("keyspace %q", composite.Keyspace)
	}
	for n, want := range []string{"id partition_key 0 false", "owner partition_key 1 false", "kind clustering 0 false", "day clustering 1 true"} {
		c := composite.Columns[n]
		if got := fmt.Sprint(c.Name, " ", c.Kind, " ", c.Position, " ", c.Desc); got != want {
			t.Errorf("column %d: %s, want %s", n, got, want)
		}
	}
}
