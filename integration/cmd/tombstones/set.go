package main

import (
	"math/rand/v2"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/tables"
)

// order is an order without what does not matter here.
type order struct {
	OrderID   gocql.UUID
	Status    orders.Status
	Total     int
	UpdatedAt int64
}

// set is one way to declare the status.
type set struct {
	name         string // as in the declaration
	base, status string // tables
	orders       *tables.Set[order]
}

var sets = []set{
	declare("OneOf", "swept", tables.OneOf("status", orders.Statuses...)),
	declare("SingleWriter", "moved", tables.SingleWriter("status")),
}

func declare(name, prefix string, how tables.Option) set {
	s := set{name: name, base: prefix + "_by_id", status: prefix + "_by_status"}
	s.orders = tables.Must(tables.New[order]("order",
		tables.Table{Name: s.base, PartKey: []string{"order_id"}},
		tables.Table{Name: s.status, PartKey: []string{"status"}, SortKey: []string{"order_id DESC"}},
		tables.Stamp("updated_at"), tables.Type("order_id", "timeuuid"), how))
	return s
}

func (s set) schema() []string {
	const columns = ` (order_id timeuuid, status text, total bigint, updated_at bigint, PRIMARY KEY `
	return []string{
		`CREATE TABLE ` + s.base + columns + `(order_id))`,
		`CREATE TABLE ` + s.status + columns + `(status, order_id)) WITH CLUSTERING ORDER BY (order_id DESC)`,
	}
}

// lives are the ways of an order from open to where it stays, and how many orders go each of them. Old and new orders go
// the same ways, so that a status is spread over the whole of its partition.
var lives = []struct {
	share   float64
	changes []orders.Status
}{
	{0.889, []orders.Status{orders.Paid, orders.Shipped}},
	{0.100, []orders.Status{orders.Paid}},
	{0.010, nil},
	{0.001, []orders.Status{orders.Paid, orders.Cancelled}},
}

// changesPerOrder is the mean.
func changesPerOrder() float64 {
	sum := 0.0
	for _, life := range lives {
		sum += life.share * float64(len(life.changes))
	}
	return sum
}

// share is the part of all orders that stay in a status.
func share(status orders.Status) float64 {
	for _, life := range lives {
		if end := append([]orders.Status{orders.Open}, life.changes...); end[len(end)-1] == status {
			return life.share
		}
	}
	return 0
}

func drawLife(random *rand.Rand) []orders.Status {
	x := random.Float64()
	for _, life := range lives {
		if x -= life.share; x < 0 {
			return life.changes
		}
	}
	return lives[0].changes
}
