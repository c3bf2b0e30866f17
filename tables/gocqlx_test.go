package tables_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"github.com/scylladb/gocqlx/v2"
	"github.com/scylladb/gocqlx/v2/table"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Tables of gocqlx, for reads.
var (
	ordersByID   = table.New(tables.Must(Orders.Metadata("orders_by_id")))
	ordersByUser = table.New(tables.Must(Orders.Metadata("orders_by_user")))
)

// A service with sessions of gocqlx writes with this library and goes on reading with gocqlx.
func ExampleSet_Metadata() {
	cluster := cassandratest.New(3) // in production: gocql.NewCluster("10.0.0.1", "10.0.0.2")
	defer cluster.Close()
	cluster.Create(schema.Must(schema.Declare(schema.Sets(Orders))).In(map[string]string{"": "shop"}).Statements()...)
	config := cluster.Config()
	config.Keyspace = "shop"

	writes, err := gocqlx.WrapSession(session.Connect(session.Configure(config, "dc1")))
	check(err)
	defer writes.Close()
	reads, err := gocqlx.WrapSession(session.Connect(session.Configure(config, "dc1")))
	check(err)
	defer reads.Close()
	s, err := session.New(writes.Session, reads.Session)
	check(err)
	w, err := writer.New(s)
	check(err)

	ctx := context.Background()
	ann := gocql.MustRandomUUID()
	order := Order{OrderID: gocql.TimeUUID(), UserID: ann, Status: Open}
	_, err = w.Write(ctx, "createOrder", Orders.Insert(order))
	check(err)

	var one Order
	err = ordersByID.GetQueryContext(ctx, reads, ordersByID.Metadata().Columns...).Bind(order.OrderID).Get(&one)
	fmt.Println(one.Status, err)
	var list []Order
	err = ordersByUser.SelectBuilder("order_id", "status").Limit(10).QueryContext(ctx, reads).Bind(ann).Select(&list)
	fmt.Println(len(list), list[0].OrderID == order.OrderID, err)
	// Output:
	// open <nil>
	// 1 true <nil>
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

type measurement struct {
	Sensor  string
	Ts      time.Time
	Hash    int32 // derived, and a field
	Value   int
	Version gocql.UUID
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	set := tables.Must(tables.New[measurement]("reading",
		tables.Table{Name: "readings", PartKey: []string{"sensor", "day"}, SortKey: []string{"ts DESC"}},
		tables.Table{
			Name: "readings_by_hash", Keyspace: "plant", PartKey: []string{"hash"},
			SortKey: []string{"sensor asc", "ts"}, Columns: []string{"value"},
		},
		tables.Table{Name: "monthly", PartKey: []string{"sensor"}, SortKey: []string{"ts"}, Rotate: tables.Month("ts")},
		tables.Table{Name: "copies", Keyspace: "a", PartKey: []string{"sensor"}, SortKey: []string{"ts"}},
		tables.Table{Name: "copies", Keyspace: "b", PartKey: []string{"sensor"}, SortKey: []string{"ts"}},
		tables.Derive("day", tables.Day("ts")),
		tables.Derive("hash", tables.Hash(4, "ts")),
	))
	seat := tables.Must(tables.New[measurement]("seat",
		tables.Table{Name: "seats", PartKey: []string{"sensor"}},
		tables.Table{Name: "seats_by_value", PartKey: []string{"value"}, Unique: true},
		tables.Versioned("version"),
	))
	for _, c := range []struct {
		set  *tables.Set[measurement]
		name string
		want table.Metadata
		err  string
	}{
		{set: set, name: "readings", want: table.Metadata{
			Name: "readings", Columns: []string{"sensor", "ts", "hash", "value", "version"}, PartKey: []string{"sensor", "day"},
			SortKey: []string{"ts"},
		}},
		{set: set, name: "readings_by_hash", want: table.Metadata{
			Name: "plant.readings_by_hash", Columns: []string{"hash", "sensor", "ts", "value"}, PartKey: []string{"hash"},
			SortKey: []string{"sensor", "ts"},
		}},
		{set: set, name: "b.copies", want: table.Metadata{
			Name: "b.copies", Columns: []string{"sensor", "ts", "hash", "value", "version"}, PartKey: []string{"sensor"},
			SortKey: []string{"ts"},
		}},
		{set: seat, name: "seats", want: table.Metadata{
			Name: "seats", Columns: []string{"sensor", "ts", "hash", "value", "version"}, PartKey: []string{"sensor"},
			SortKey: []string{},
		}},
		{set: seat, name: "seats_by_value", want: table.Metadata{
			Name: "seats_by_value", Columns: []string{"value", "sensor"}, PartKey: []string{"value"}, SortKey: []string{},
		}},
		{set: set, name: "reading", err: `tables: set "reading": table "reading" is not declared: did you mean readings?; the tables are readings, ` +
			`plant.readings_by_hash, monthly, a.copies, b.copies`},
		{set: set, name: "", err: `tables: set "reading": table "" is not declared; the tables are readings`},
		{set: set, name: "copies", err: `tables: set "reading": table "copies" is declared in several keyspaces: name it with one, as in a.copies`},
		{set: set, name: "monthly", err: `tables: set "reading": table "monthly" rotates, so there are many`},
		{name: "readings", err: "tables: the set is nil"},
	} {
		got, err := c.set.Metadata(c.name)
		if c.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("%q: %v, want %s", c.name, err, c.err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(table.Metadata(got), c.want) {
			t.Errorf("%q: %+v, %v, want %+v", c.name, got, err, c.want)
			continue
		}
		for _, names := range [][]string{got.Columns, got.PartKey, got.SortKey} { // the caller's
			for i := range names {
				names[i] = "changed"
			}
		}
		if again, err := c.set.Metadata(c.name); err != nil || slices.Contains(again.Columns, "changed") ||
			again.PartKey[0] != c.want.PartKey[0] {
			t.Errorf("%q: the set was changed: %+v, %v", c.name, again, err)
		}
	}
}

// ofGocqlx is what docs/gocqlx.md makes of a table of gocqlx.
func ofGocqlx(t *table.Table, desc ...string) tables.Table {
	m := t.Metadata()
	sortKey := slices.Clone(m.SortKey)
	for i, column := range sortKey {
		if slices.Contains(desc, column) {
			sortKey[i] += " DESC"
		}
	}
	return tables.Table{Name: m.Name, PartKey: m.PartKey, SortKey: sortKey, Columns: m.Columns}
}

// A declaration that is made of tables of gocqlx is that which they were made of, and what is wrong with theirs is an
// error that says what to do.
func TestDeclareTablesOfGocqlx(t *testing.T) {
	t.Parallel()
	columns := []string{"order_id", "user_id", "status", "total", "updated_at"}
	byID := table.Metadata{Name: "orders_by_id", Columns: columns, PartKey: []string{"order_id"}}
	byUser := table.Metadata{
		Name: "orders_by_user", Columns: columns, PartKey: []string{"user_id"},
		SortKey: []string{"order_id"},
	}
	byStatus := table.Metadata{
		Name: "orders_by_status", Columns: columns, PartKey: []string{"status"},
		SortKey: []string{"order_id"},
	}
	of := func(all ...table.Metadata) []tables.Option {
		options := []tables.Option{
			tables.OneOf("status", Open, Paid, Shipped, Cancelled), tables.Stamp("updated_at"),
			tables.Type("order_id", "timeuuid"),
		}
		for _, m := range all {
			options = append(options, ofGocqlx(table.New(m), "order_id"))
		}
		return options
	}
	set, err := tables.New[Order]("order", of(byID, byUser, byStatus)...)
	if err != nil || !reflect.DeepEqual(describe.Of(set.Internal()), describe.Of(Orders.Internal())) {
		t.Errorf("%v, %v", set, err)
	}
	if byUser.SortKey[0] != "order_id" {
		t.Error("the table of gocqlx was changed")
	}
	with := func(m table.Metadata, change func(*table.Metadata)) table.Metadata {
		change(&m)
		return m
	}
	for want, second := range map[string]table.Metadata{
		"table orders_by_user: PartKey is empty: a table needs a partition key": with(byUser,
			func(m *table.Metadata) { m.PartKey = nil }),
		"table orders_by_user: column customer: Columns names a column that is no field of orders.Order": with(byUser,
			func(m *table.Metadata) { m.Columns = append(slices.Clip(m.Columns), "customer") }),
		"table orders_by_user: column statuses: PartKey names a column that is no field of orders.Order: did": with(byUser,
			func(m *table.Metadata) { m.PartKey = []string{"user_id", "statuses"} }),
		"table shop.orders_by_user: the name of table 2 must be": with(byUser,
			func(m *table.Metadata) { m.Name = "shop.orders_by_user" }),
		": give the keyspace as Table.Keyspace": with(byUser,
			func(m *table.Metadata) { m.Name = "shop.orders_by_user" }),
		"table orders_by_id: declared twice: leave one of the two out": byID,
		`the name of table 2 must be`:                                  {},
	} {
		if _, err := tables.New[Order]("order", of(byID, second, byStatus)...); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	byID.Columns = columns[:4]
	want := "table orders_by_id: the base table holds all columns of the entity, and its Columns lack updated_at: "
	if _, err := tables.New[Order]("order", of(byID, byUser, byStatus)...); err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := tables.New[Order]("order", append(of(byID), nil)...); err == nil ||
		!strings.Contains(err.Error(), "an option is nil") {
		t.Errorf("nil: %v", err)
	}
}
