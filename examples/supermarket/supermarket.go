// Package supermarket is an example: an order of a supermarket is submitted as one logical write over two keyspaces.
// The delivery slot is confirmed under a condition; only then the order goes into its two tables, and the basket is
// cleared.
package supermarket

import (
	"context"
	"iter"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/baskets"
	"github.com/denorm-go/denorm/examples/customers"
	"github.com/denorm-go/denorm/examples/slots"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// Order is a submitted order. Its amounts of money are double, as the tables have them; in a new table decimal is
// right.
type Order struct {
	CustomerID          gocql.UUID
	OrderID             gocql.UUID
	SubmissionTime      time.Time
	DeliveryDate        time.Time
	DeliveryTeamID      gocql.UUID
	StartTime           time.Duration // since midnight
	Products            map[gocql.UUID]int32
	Status              string
	DeliveryAddressKey  string // of one of the customer's addresses: see package customers
	Currency            string
	ItemSubtotal        float64
	PostagePackingFee   float64
	Vat                 float64
	PromotionalDiscount float64
	Remarks             string
}

// Orders are kept for the customer and for the team that delivers them. In orders_by_customer the orders of a customer
// come in the order of their ids; orders_by_customer_newest has them newest first. The key of the team's table ends
// with that of the first: without it (Flawed), two orders for one team and time would be one row.
var Orders = tables.Must(tables.New[Order]("order",
	tables.Table{
		Name: "orders_by_customer", Keyspace: "order_delivery",
		PartKey: []string{"customer_id"}, SortKey: []string{"order_id", "submission_time"},
	},
	tables.Table{
		Name: "orders_by_customer_newest", Keyspace: "order_delivery",
		PartKey: []string{"customer_id"}, SortKey: []string{"submission_time DESC", "order_id"},
	},
	tables.Table{
		Name: "orders_by_delivery_slot", Keyspace: "order_delivery",
		PartKey: []string{"delivery_date", "delivery_team_id"}, SortKey: []string{"start_time", "order_id", "customer_id", "submission_time"},
		Columns: []string{"delivery_address_key", "status", "products", "remarks"},
	},
	tables.Type("delivery_date", "date"),
	tables.Type("start_time", "time"),
))

// Flawed is the team's table as it is often made: the order's id is not in its key, so a second order for the slot
// replaces the first.
const Flawed = `CREATE TABLE orders_by_delivery_date (delivery_date date, delivery_team_id uuid, start_time time, order_id uuid,
	submission_time timestamp, customer_id uuid, delivery_address_key text, status text, products map<uuid, int>, remarks text,
	PRIMARY KEY ((delivery_date, delivery_team_id), start_time))`

// Schema creates the tables of the keyspace order_delivery; those of customer are in the packages baskets and
// customers.
var Schema = schema.Must(schema.Declare(schema.Sets(Orders, slots.Slots)))

// Submit makes an order of a basket, for a slot that is reserved for the customer. Nothing is written unless the slot
// is still as it was read: otherwise the error matches writer.ErrConflict. An error that matches writer.ErrPartial or
// writer.ErrUnknown is finished with Resume; see docs/ref/guarantees.md for what readers may see until then.
func Submit(ctx context.Context, w *writer.Writer, o Order, basket baskets.Basket, reserved slots.Slot) (writer.Result, error) {
	o.CustomerID, o.Products = basket.CustomerID, basket.Products
	o.DeliveryDate, o.DeliveryTeamID, o.StartTime = reserved.DeliveryDate, reserved.DeliveryTeamID, reserved.StartTime
	return w.Write(ctx, "submitOrder", slots.Confirm(reserved), Orders.Insert(o), baskets.Clear(basket.CustomerID))
}

// OfCustomer gives the orders of a customer, the newest first.
func OfCustomer(ctx context.Context, r *reader.Reader, customer gocql.UUID) iter.Seq2[Order, error] {
	return reader.Read(ctx, r, "ordersOfCustomer", reader.From(Orders, "orders_by_customer_newest").Eq("customer_id", customer)).All()
}

// OfTeam gives what a team delivers on a day, in the order of the day.
func OfTeam(ctx context.Context, r *reader.Reader, day time.Time, team gocql.UUID) iter.Seq2[Order, error] {
	q := reader.From(Orders, "orders_by_delivery_slot").Eq("delivery_date", day).Eq("delivery_team_id", team)
	return reader.Read(ctx, r, "ordersOfTeam", q).All()
}

// DeliveryAddress is where an order goes: the address of its customer under the key that the order has, nil if there is
// none any more.
func DeliveryAddress(ctx context.Context, r *reader.Reader, o Order) (*customers.Address, error) {
	return customers.Get(ctx, r, o.CustomerID, o.DeliveryAddressKey)
}
