// Package shop has the orders of tests: rows of examples/orders, and their set with whatever else is declared.
package shop

import (
	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/tables"
)

// Orders is a set with the tables of [orders.Orders] and more options.
func Orders(more ...tables.Option) *tables.Set[orders.Order] {
	return tables.Must(tables.New[orders.Order]("order", append([]tables.Option{
		tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
		tables.Table{Name: "orders_by_user", PartKey: []string{"user_id"}, SortKey: []string{"order_id DESC"}},
		tables.Table{Name: "orders_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id DESC"}},
		tables.OneOf("status", orders.Statuses...),
		tables.Stamp("updated_at"),
		tables.Type("order_id", "timeuuid"),
	}, more...)...))
}

// NewOrder is an open one of a user of its own.
func NewOrder() orders.Order { return orders.New(gocql.MustRandomUUID(), inf.NewDec(1995, 2)) }
