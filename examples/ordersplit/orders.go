// Package ordersplit is an example: the orders of a customer, which were one partition each until some customers had
// too many, split in three ways.
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

// Status of an order.
type Status string

// The statuses.
const (
	Submitted Status = "submitted"
	Delivered Status = "delivered"
	Returned  Status = "returned"
)

// Order is an order of a customer.
type Order struct {
	OrderID        gocql.UUID
	CustomerID     gocql.UUID
	SubmissionTime time.Time
	Status         Status
	Products       map[gocql.UUID]int32
	Total          *inf.Dec
	UpdatedAt      int64 // stamp, microseconds; filled by the library
}

// Orders has three query tables, one for each way. A service would choose one.
//
// By status: every query names the status, and an order moves to another partition with it. It splits as well as orders
// spread over statuses: the partition of finished orders grows on.
//
// By month: it bounds a partition whoever the customer is, and every query names a stretch of time. The month is
// 2024-01, not 1: by its number alone the Januaries of all years would share a partition.
//
// By a second table for what is large: the list of orders keeps its partition, and is small; the amounts are asked for
// order by order.
var Orders = tables.Must(tables.New[Order]("order",
	tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
	tables.Table{
		Name: "orders_by_customer_status", PartKey: []string{"customer_id", "status"}, SortKey: []string{"submission_time DESC", "order_id"},
	},
	tables.Table{
		Name: "orders_by_customer_month", PartKey: []string{"customer_id", "month"}, SortKey: []string{"submission_time DESC", "order_id"},
	},
	tables.Table{
		Name: "orders_of_customer", PartKey: []string{"customer_id"}, SortKey: []string{"submission_time DESC", "order_id"},
		Columns: []string{"status"},
	},
	tables.Table{Name: "order_amounts", PartKey: []string{"order_id"}, Columns: []string{"products", "total"}},
	tables.OneOf("status", Submitted, Delivered, Returned),
	tables.Stamp("updated_at"),
	tables.Derive("month", tables.Month("submission_time")),
))

// Schema is the tables.
var Schema = schema.Must(schema.Declare(schema.Sets(Orders)))

// InStatus gives a customer's orders in one status, the newest first.
func InStatus(ctx context.Context, r *reader.Reader, customer gocql.UUID, status Status) iter.Seq2[Order, error] {
	q := reader.From(Orders, "orders_by_customer_status").Eq("customer_id", customer).Eq("status", status)
	return reader.Read(ctx, r, "ordersInStatus", q).All()
}

// Between gives a customer's orders from a time on and before another one, the newest first, over as many months as
// that takes.
func Between(ctx context.Context, r *reader.Reader, customer gocql.UUID, from, to time.Time) iter.Seq2[Order, error] {
	q := reader.From(Orders, "orders_by_customer_month").Eq("customer_id", customer).
		GtOrEq("submission_time", from).Lt("submission_time", to)
	return reader.Read(ctx, r, "ordersBetween", q).All()
}

// List gives a customer's newest orders without their amounts.
func List(ctx context.Context, r *reader.Reader, customer gocql.UUID, count int) ([]Order, error) {
	orders, _, err := reader.List(ctx, r, "listOrders", reader.From(Orders, "orders_of_customer").Eq("customer_id", customer).Limit(count))
	return orders, err
}

// WithAmounts completes an order of List.
func WithAmounts(ctx context.Context, r *reader.Reader, o Order) (Order, error) {
	amounts, _, err := reader.List(ctx, r, "orderAmounts", reader.From(Orders, "order_amounts").Eq("order_id", o.OrderID))
	for _, a := range amounts {
		o.Products, o.Total = a.Products, a.Total
	}
	return o, err
}
