// Package supermarket is an example: an order of a supermarket is submitted as one logical write over two keyspaces. The
// delivery slot is confirmed under a condition; only then the order goes into its two tables, and the basket is cleared.
package supermarket

import (
	"context"
	"iter"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/baskets"
	"github.com/denorm-go/denorm/examples/slots"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Order is a submitted order.
type Order struct {
	CustomerID     gocql.UUID
	OrderID        gocql.UUID
	SubmissionTime time.Time
	DeliveryDate   time.Time
	DeliveryTeamID gocql.UUID
	StartTime      time.Duration // since midnight
	Products       map[gocql.UUID]int32
	Address        string
}

// Orders are kept for the customer and for the team that delivers them. The key of the second table ends with that of the
// first: without it, two orders for one team and time would be one row.
var Orders = tables.Must(tables.New[Order]("order",
	tables.Table{
		Name: "orders_by_customer", Keyspace: "order_delivery",
		PartKey: []string{"customer_id"}, SortKey: []string{"order_id", "submission_time DESC"},
	},
	tables.Table{
		Name: "orders_by_delivery_date", Keyspace: "order_delivery",
		PartKey: []string{"delivery_date", "delivery_team_id"}, SortKey: []string{"start_time", "customer_id", "order_id", "submission_time"},
		Columns: []string{"products", "address"},
	},
	tables.Type("delivery_date", "date"),
	tables.Type("start_time", "time"),
))

// Schema creates the tables of the keyspace order_delivery in the keyspace of the session; that of customer is in package
// baskets.
var Schema = schema.Must(schema.Declare(schema.Sets(Orders, slots.Slots)))

// Submit makes an order of a basket, for a slot that is reserved for the customer. Nothing is written unless the slot is
// still as it was read: otherwise the error matches writer.ErrConflict. An error that matches writer.ErrPartial or
// writer.ErrUnknown is finished with Resume; see docs/guarantees.md for what readers may see until then.
func Submit(ctx context.Context, w *writer.Writer, o Order, basket baskets.Basket, reserved slots.Slot) (writer.Result, error) {
	o.CustomerID, o.Products = basket.CustomerID, basket.Products
	o.DeliveryDate, o.DeliveryTeamID, o.StartTime = reserved.DeliveryDate, reserved.DeliveryTeamID, reserved.StartTime
	return w.Write(ctx, "submitOrder", slots.Confirm(reserved), Orders.Insert(o), baskets.Clear(basket.CustomerID))
}

// OfCustomer gives the orders of a customer.
func OfCustomer(ctx context.Context, r *reader.Reader, customer gocql.UUID) iter.Seq2[Order, error] {
	return reader.Read(ctx, r, "ordersOfCustomer", reader.From(Orders, "orders_by_customer").Eq("customer_id", customer)).All()
}

// OfTeam gives what a team delivers on a day, in the order of the day.
func OfTeam(ctx context.Context, r *reader.Reader, day time.Time, team gocql.UUID) iter.Seq2[Order, error] {
	q := reader.From(Orders, "orders_by_delivery_date").Eq("delivery_date", day).Eq("delivery_team_id", team)
	return reader.Read(ctx, r, "ordersOfTeam", q).All()
}
