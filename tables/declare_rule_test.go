package tables_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

func TestDeclareRules(t *testing.T) {
	t.Parallel()
	stamp := tables.Stamp("updated_at")
	var null *int32
	byLevel := tables.Table{Name: "things_by_level", PartKey: []string{"level"}, SortKey: []string{"id"}}
	byPayload := tables.Table{Name: "things_by_payload", PartKey: []string{"payload"}, SortKey: []string{"id"}}
	early := time.Date(2024, 1, 1, 0, 0, 0, 1_000_000, time.UTC)
	runFaultCases(t, []faultCase{
		{"values of the column's type", declaring[thing](base, byLevel, tables.OneOf("level", int32(1), 2), stamp), nil},
		{"types", declaring[thing](base, tables.Type("idd", "uuid"), tables.Type("kind", "string"),
			tables.Type("owner", "uuid"),
			tables.Type("owner", "timeuuid")), []string{
			"column idd: Type names a column that is no field of tables_test.thing: did you mean id?",
			`column kind: CQL type "string": unknown or unsupported type "string"`,
			"column owner: has two Type options",
		}},
		{"no type follows", declaring[struct {
			ID    int64
			Age   time.Duration
			Other any
			Done  chan int
			Nick  sql.NullString
			Seen  sql.NullTime
			Level sql.Null[int64]
			Count *uint8
			Wide  []uint16
		}](base), []string{
			"column age: no CQL type follows from Go type time.Duration: declare it with Type",
			"column other: no CQL type follows from Go type interface {}: give the field the Go type of its values",
			`column done: no CQL type follows from Go type chan int: leave the field out with db:"-"`,
			"column nick: no CQL type follows from Go type sql.NullString: declare the field as *string; nil is null",
			"column seen: no CQL type follows from Go type sql.NullTime: declare the field as *time.Time; nil is null",
			"column level: no CQL type follows from Go type sql.Null[int64]: declare the field as *int64; nil is null",
			`column count: no CQL type follows from Go type uint8: declare Type("count", "smallint"), or int, bigint, varint`,
			"column wide: no CQL type follows from Go type uint16: declare it with Type",
		}},
		{"OneOf of a type without encoding", declaring[struct {
			ID, UpdatedAt int64
			Kind          uint64
		}](base, byKind, tables.OneOf("kind", uint64(1)), stamp), []string{
			`column kind: no CQL type follows from Go type uint64: declare Type("kind", "varint")`,
		}},
		{
			"Stamp of an unsigned type", declaring[struct{ ID, UpdatedAt uint64 }](base, stamp, tables.Type("id", "varint")),
			[]string{
				"column updated_at: Stamp wants a Go int64 and CQL bigint, this is Go type uint64",
			},
		},
		{"OneOf unknown", declaring[thing](base, tables.OneOf("knid", "a"), stamp), []string{
			"column knid: OneOf names a column that is no field of tables_test.thing: did you mean kind?",
		}},
		{"OneOf no key", declaring[thing](base, tables.OneOf("kind", "a"), stamp), []string{
			"column kind: OneOf concerns key columns, and no table has this one in its key",
		}},
		{"OneOf base key", declaring[thing](tables.Table{Name: "things", PartKey: []string{"kind"}, SortKey: []string{"id"}},
			tables.OneOf("kind", "a"), stamp), []string{
			"table things: column kind: the base key identifies the entity and cannot change, so OneOf is rejected",
		}},
		{"OneOf twice", declaring[thing](base, byKind, tables.OneOf("kind", "a"), tables.OneOf("kind", "b"), stamp), []string{
			"column kind: has more than one OneOf or SingleWriter",
		}},
		{"OneOf and SingleWriter", declaring[thing](base, byKind, tables.OneOf("kind", "a"), tables.SingleWriter("kind"),
			stamp), []string{
			"column kind: has more than one OneOf or SingleWriter",
		}},
		{"OneOf without values", declaring[thing](base, byKind, tables.OneOf[string]("kind"), stamp), []string{
			"column kind: OneOf lists no value",
		}},
		{
			"OneOf values", declaring[thing](base, byKind, tables.OneOf[any]("kind", "a", 1, nil, "", "a", "\xff"), stamp),
			[]string{
				"column kind: value 2 of OneOf is of Go type int, it must be string",
				"column kind: value 3 of OneOf is of Go type <nil>, it must be string",
				"column kind: value 4 of OneOf: a key column must not be empty",
				"column kind: value 5 of OneOf is given twice",
				"column kind: value 6 of OneOf: text is not valid UTF-8",
			},
		},
		{"OneOf times are compared in milliseconds", declaring[thing](base, byDay,
			tables.OneOf("day", early, early.Add(time.Microsecond), time.Time{}), stamp), []string{
			"column day: value 2 of OneOf is given twice",
			"column day: value 3 of OneOf: a key column must not be the zero time",
		}},
		{"OneOf pointers", declaring[thing](base, byLevel, tables.OneOf("level", null, new(int32)), stamp), []string{
			"column level: value 1 of OneOf is of Go type *int32, it must be int32",
			"column level: value 2 of OneOf is of Go type *int32, it must be int32",
		}},
		{"OneOf nil", declaring[thing](base, byPayload, tables.OneOf("payload", []byte(nil), []byte{}), stamp), []string{
			"column payload: value 1 of OneOf: a key column must not be empty",
			"column payload: value 2 of OneOf: a key column must not be empty",
		}},
		{"OneOf zero time of a pointer", declaring[struct {
			ID        int64
			Day       *time.Time
			UpdatedAt int64
		}](base, byDay, tables.OneOf("day", time.Time{}), stamp), []string{
			"column day: value 1 of OneOf: nil is not listed: a pointer column may always be nil",
		}},
		{"OneOf without Stamp", declaring[thing](base, byKind, tables.OneOf("kind", "a")), []string{
			"OneOf needs Stamp(column): without the stamp of the row that was read, a writer whose clock is behind loses its " +
				"update",
		}},
		{"SingleWriter", declaring[thing](base, byKind, tables.SingleWriter("knid"), tables.SingleWriter("owner"),
			tables.SingleWriter("id"),
			tables.SingleWriter("kind"), tables.SingleWriter("kind")), []string{
			"column knid: SingleWriter names a column that is no field of tables_test.thing: did you mean kind?",
			"column owner: SingleWriter concerns key columns, and no table has this one in its key",
			"table things: column id: the base key identifies the entity and cannot change, so SingleWriter is rejected",
			"column kind: has more than one OneOf or SingleWriter",
		}},
		{"Stamp unknown", declaring[thing](base, tables.Stamp("stamp")), []string{
			"column stamp: Stamp names a column that is no field of tables_test.thing",
		}},
		{"Stamp twice", declaring[thing](base, stamp, stamp), []string{"Stamp is declared 2 times"}},
		{"Stamp in a key", declaring[thing](base, tables.Table{
			Name: "t", PartKey: []string{"updated_at"},
			SortKey: []string{"id"},
		}, stamp), []string{
			"column updated_at: Stamp cannot be a key column: it changes with every write",
		}},
		{"Stamp type", declaring[thing](base, tables.Stamp("kind")), []string{
			"column kind: Stamp wants a Go int64 and CQL bigint, this is Go type string and CQL type text",
		}},
		{"Stamp pointer", declaring[struct {
			ID int64
			At *int64
		}](base, tables.Stamp("at")), []string{
			"column at: Stamp wants a Go int64 and CQL bigint, this is Go type *int64 and CQL type bigint",
		}},
		{"Stamp CQL type", declaring[thing](base, stamp, tables.Type("updated_at", "timestamp")), []string{
			"column updated_at: Stamp wants a Go int64 and CQL bigint, this is Go type int64 and CQL type timestamp",
		}},
		{"ExpiresAt unknown", declaring[thing](base, tables.ExpiresAt("end")), []string{
			"column end: ExpiresAt names a column that is no field of tables_test.thing: did you mean ends_at?",
		}},
		{"ExpiresAt twice", declaring[thing](base, tables.ExpiresAt("ends_at"), tables.ExpiresAt("day")), []string{
			"ExpiresAt is declared 2 times",
		}},
		{"ExpiresAt in a key", declaring[thing](base, byDay, tables.ExpiresAt("day")), []string{
			"column day: ExpiresAt cannot be a key column: it changes with every write",
		}},
		{"ExpiresAt type", declaring[thing](base, tables.ExpiresAt("updated_at")), []string{
			"column updated_at: ExpiresAt wants a Go time.Time or *time.Time and CQL timestamp, this is Go type int64 and CQL " +
				"type bigint",
		}},
		{"ExpiresAt of days", declaring[thing](base, tables.ExpiresAt("day"), tables.Type("day", "date")), []string{
			"column day: ExpiresAt wants a Go time.Time or *time.Time and CQL timestamp, this is Go type time.Time and CQL " +
				"type date",
		}},
		{"SweepInserts", declaring[thing](base, byKind, tables.SingleWriter("kind"), tables.SweepInserts()), []string{
			"SweepInserts without a OneOf column has nothing to sweep",
		}},
		{"UnstampedRows", declaring[thing](base, byKind, tables.SingleWriter("kind"), tables.UnstampedRows()), []string{
			"UnstampedRows without a OneOf column changes nothing: only a set with OneOf rejects a before-image without a stamp",
		}},
	})
}

func TestDeclareEntity(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"order", "o", "order_line2", strings.Repeat("x", 48)} {
		if err := declaring[thing](base)(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "Order", "2nd", "order line", "order\n", strings.Repeat("x", 49)} {
		want := fmt.Sprintf("tables: set %q has 1 fault(s)\n\tthe entity's name must be lower-case letters, digits and _, "+
			"a letter first, "+
			"at most 48", name)
		if err := declaring[thing](base)(name); err == nil || err.Error() != want {
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
	column order: field Order has no usable name: ` + columnRule + `; name it with a db tag
	table things_by_group: column idd: SortKey names a column that is no field of tables_test.row: did you mean id?
	column amount: no CQL type follows from Go type uint64: declare Type("amount", "varint")
	column group: value 2 of OneOf is given twice
	column total: Stamp cannot be a key column: it changes with every write
	column end: ExpiresAt names a column that is no field of tables_test.row
	column tags: a list that is not frozen doubles when it is sent twice: for a live column declare ReadOnly("tags"), ` +
		`for a new one Type("tags", "frozen<list<text>>") or "set<text>"
	column total: decimal in a key: 1.0 and 1.00 differ in bytes and are one row, so a move between them would erase it
	column total: Go type float64 cannot be encoded as CQL type decimal: the driver has no such encoding
	table things: column id: a column of the base key cannot be a pointer: every entity has a base row
	table things_by_total: column id: the key of a query table must contain the base key, or two entities ` +
		`could share a row: add it; if no two may have one key, declare the table Unique
	the columns are id, group, order, amount, tags, total: each is named by the db tag of its field, or else by the field's name in snake case`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}
