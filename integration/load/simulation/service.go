package simulation

import (
	"fmt"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/examples/pageviews"
	"github.com/denorm-go/denorm/integration/load/soak"
	"github.com/denorm-go/denorm/internal/testutil/bucket"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// service is a way to write.
type service struct {
	name     string
	keyspace string
	mode     writer.Option
	of       *entity
	finish   bool // what failed is resumed, and what a killed client was at is repeated at its timestamp
	wrong    bool // clocks are wrong by up to hours, and jump
}

// entity is what a service writes.
type entity struct {
	sets []tables.Described
	load func(c *crew, p *process) (load, error)
}

var (
	anOrder   = orderOf(orderSet)
	anIDOrder = orderOf(userOrderSet)
	anAccount = &entity{[]tables.Described{soak.Accounts}, func(c *crew, p *process) (load, error) { return newLedgerLoad(c, p, accountLedger) }}
	// Counters, and a row alongside them.
	aView  = &entity{[]tables.Described{pageviews.Counts, pageviews.Visits}, func(c *crew, _ *process) (load, error) { return newViewLoad(c), nil }}
	aSeat  = &entity{[]tables.Described{seatSet}, func(c *crew, p *process) (load, error) { return newLedgerLoad(c, p, seatLedger) }}
	aLogin = &entity{[]tables.Described{loginSet}, func(c *crew, p *process) (load, error) { return newLoginLoad(c, p) }}
)

func orderOf(set *tables.Set[Order]) *entity {
	return &entity{[]tables.Described{set}, func(c *crew, p *process) (load, error) { return newOrderLoad(c, p, set) }}
}

// services are those of a world.
var services = []service{
	{name: "OneOf, auto, resumed", keyspace: "auto_resumed", mode: writer.Auto(), of: anOrder, finish: true},
	{name: "OneOf, fan-out, resumed", keyspace: "concurrent_resumed", mode: writer.Concurrent(), of: anOrder, finish: true},
	{name: "OneOf, logged batch, left", keyspace: "logged_left", mode: writer.Logged(), of: anOrder},
	{name: "OneOf, fan-out, left", keyspace: "concurrent_left", mode: writer.Concurrent(), of: anOrder},
	{name: "OneOf, wrong clocks, left", keyspace: "clocks_left", mode: writer.Auto(), of: anOrder, wrong: true},
	{name: "Versioned", keyspace: "versioned", mode: writer.Auto(), of: anAccount},
	{name: "Compare, Mark", keyspace: "compared", mode: writer.Auto(), of: aSeat},
	{name: "ExpiresAt, Patch", keyspace: "expiring", mode: writer.Auto(), of: aLogin, finish: true},
	{name: "ID, OneOf, resumed", keyspace: "id_resumed", mode: writer.Auto(), of: anIDOrder, finish: true},
	{name: "Counters", keyspace: "counters", mode: writer.Auto(), of: aView},
}

// whole says whether the tables of the service must agree in the end.
func (s service) whole() bool { return s.finish || s.of == anAccount || s.keyspace == "logged_left" }

// Order is an order whose status may be absent. Its bucket is a field, follows from the status and is in tables in
// whose key it is not.
type Order struct {
	OrderID   gocql.UUID
	UserID    gocql.UUID
	Status    *orders.Status
	Bucket    *int32
	Total     *inf.Dec // the number of the write
	Notes     []string // other code has written them
	UpdatedAt int64
}

const buckets = 4

var orderSet = newOrders(
	tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
	tables.Table{Name: "orders_by_user", PartKey: []string{"user_id"}, SortKey: []string{"order_id DESC"}},
	ordersByStatus,
)

// userOrderSet is the same for orders that are kept by their user: its tables share the id of an order alone.
var userOrderSet = newOrders(
	tables.Table{Name: "orders_by_id", PartKey: []string{"user_id"}, SortKey: []string{"order_id DESC"}},
	ordersByStatus,
	tables.Table{Name: "order_totals", PartKey: []string{"order_id"}, Columns: []string{"user_id", "total"}},
	tables.ID("order_id"),
)

// ordersByStatus is where rows move.
var ordersByStatus = tables.Table{
	Name: "orders_by_status", PartKey: []string{"status", "bucket"}, SortKey: []string{"order_id DESC"},
	Columns: []string{"user_id", "total", "updated_at"},
}

func newOrders(of ...tables.Option) *tables.Set[Order] {
	return tables.Must(tables.New[Order]("order", append(of,
		tables.ReadOnly("notes"),
		tables.OneOf("status", orders.Statuses...),
		tables.Derive("bucket", tables.Hash(buckets, "status")),
		tables.Stamp("updated_at"),
		tables.Type("order_id", "timeuuid"),
	)...))
}

// notes are what other code has written into the list of each order that is changed over and over.
var notes = []string{"a", "b", "a"}

// put gives an order a status, or none, and what follows from it, by another way than the library's.
func (o *Order) put(status *orders.Status) {
	o.Status, o.Bucket = status, nil
	if status != nil {
		n := bucket.Hash(buckets, []byte(*status))
		o.Bucket = &n
	}
}

// Seat is a row that is changed under a condition of its own. Like an account it carries the numbers of its changes,
// the last one also by itself: what is compared does not recur.
type Seat struct {
	SeatID  gocql.UUID
	Holder  int64
	Changes []int64
	Mark    gocql.UUID
}

var seatSet = tables.Must(tables.New[Seat]("seat",
	tables.Table{Name: "seats", PartKey: []string{"seat_id"}},
	tables.Compare("holder"), tables.Mark("mark"),
	tables.Type("changes", "frozen<list<bigint>>"),
))

// Login is a row that ends. Name is of updates, and page of patches, too: each is the number of the write.
type Login struct {
	LoginID gocql.UUID
	UserID  gocql.UUID
	Name    int64
	Page    int64
	EndsAt  time.Time
}

var loginSet = tables.Must(tables.New[Login]("login",
	tables.Table{Name: "logins", PartKey: []string{"login_id"}},
	tables.Table{Name: "logins_by_user", PartKey: []string{"user_id"}, SortKey: []string{"login_id"}},
	tables.ExpiresAt("ends_at"),
))

// definitions create the keyspace of a service and its tables.
func (s service) definitions() []string {
	declared := schema.Must(schema.Declare(schema.Sets(s.of.sets...)))
	return append([]string{fmt.Sprintf(`CREATE KEYSPACE %s WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': %d}`, s.keyspace, nodes)},
		declared.In(map[string]string{"": s.keyspace}).Statements()...)
}
