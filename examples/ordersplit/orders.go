// Package ordersplit is an example: the orders of a customer, which were one partition each until some customers had too many,
// split in three ways.
package ordersplit

import (
	"context"
	"iter"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// Order is an order of a customer.
type Order struct {
	OrderID        gocql.UUID
	CustomerID     gocql.UUID
	Store          string
	SubmissionTime time.Time
	Status         string
	Items          map[string]int32
	Total          *inf.Dec
}

// Orders has three query tables, one for each way. A service would choose one.
//
// By an extra key column: it splits as evenly as customers use stores, and every query names the store.
//
// By month: it bounds a partition whoever the customer is, and every query names a stretch of time.
//
// By a second table for what is large: the list of orders keeps its partition, and is small; the amounts are asked for order
// by order.
var Orders = tables.Must(tables.New[Order]("order",
	tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
	tables.Table{
		Name: "orders_by_customer_store", PartKey: []string{"customer_id", "store"}, SortKey: []string{"submission_time DESC", "order_id"},
	},
	tables.Table{
		Name: "orders_by_customer_month", PartKey: []string{"customer_id", "month"}, SortKey: []string{"submission_time DESC", "order_id"},
	},
	tables.Table{
		Name: "orders_by_customer", PartKey: []string{"customer_id"}, SortKey: []string{"submission_time DESC", "order_id"},
		Columns: []string{"status"},
	},
	tables.Table{Name: "order_amounts", PartKey: []string{"customer_id", "order_id"}, Columns: []string{"items", "total"}},
	tables.Derive("month", tables.Month("submission_time")),
	tables.Type("items", "map<text, int>"),
))

// Schema is the tables.
var Schema = schema.Must(schema.Declare(schema.Sets(Orders)))

// InStore gives a customer's orders in one store, the newest first.
func InStore(ctx context.Context, r *reader.Reader, customer gocql.UUID, store string) iter.Seq2[Order, error] {
	q := reader.From(Orders, "orders_by_customer_store").Eq("customer_id", customer).Eq("store", store)
	return reader.Read(ctx, r, "ordersInStore", q).All()
}

// Between gives a customer's orders from a time on and before another one, the newest first, over as many months as that
// takes.
func Between(ctx context.Context, r *reader.Reader, customer gocql.UUID, from, to time.Time) iter.Seq2[Order, error] {
	q := reader.From(Orders, "orders_by_customer_month").Eq("customer_id", customer).
		GtOrEq("submission_time", from).Lt("submission_time", to)
	return reader.Read(ctx, r, "ordersBetween", q).All()
}

// List gives a customer's newest orders without their amounts.
func List(ctx context.Context, r *reader.Reader, customer gocql.UUID, count int) ([]Order, error) {
	orders, _, err := reader.List(ctx, r, "listOrders", reader.From(Orders, "orders_by_customer").Eq("customer_id", customer).Limit(count))
	return orders, err
}

// WithAmounts completes an order of List.
func WithAmounts(ctx context.Context, r *reader.Reader, o Order) (Order, error) {
	q := reader.From(Orders, "order_amounts").Eq("customer_id", o.CustomerID).Eq("order_id", o.OrderID)
	amounts, _, err := reader.List(ctx, r, "orderAmounts", q)
	for _, a := range amounts {
		o.Items, o.Total = a.Items, a.Total
	}
	return o, err
}
