// Package orders keeps an order in three query tables: by id, by user and by status. It is what an order service
// writes to use denorm, and what the tests and the demo run.
package orders

import (
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// Status of an order. The set sweeps over all of them, so a new one is deployed everywhere before it is first written.
type Status string

// The statuses.
const (
	Open      Status = "open"
	Paid      Status = "paid"
	Shipped   Status = "shipped"
	Cancelled Status = "cancelled"
)

// Statuses lists all of them.
var Statuses = []Status{Open, Paid, Shipped, Cancelled}

// Order is one row of each of the tables.
type Order struct {
	OrderID   gocql.UUID
	UserID    gocql.UUID
	Status    Status
	Total     *inf.Dec // nil: not known yet
	UpdatedAt int64    // stamp, microseconds; filled by the library
}

// New is an open order of a user. Its id says when it was made, so lists come newest first.
func New(user gocql.UUID, total *inf.Dec) Order {
	return Order{OrderID: gocql.UUIDFromTime(time.Now()), UserID: user, Status: Open, Total: total}
}

// Orders are the tables of an order. The one by id is the base table.
var Orders = tables.Must(tables.New[Order]("order",
	tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
	tables.Table{Name: "orders_by_user", PartKey: []string{"user_id"}, SortKey: []string{"order_id DESC"}},
	tables.Table{Name: "orders_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id DESC"}},
	tables.OneOf("status", Statuses...),
	tables.Stamp("updated_at"),
	tables.Type("order_id", "timeuuid"),
))

// Schema is the tables.
var Schema = schema.Must(schema.Declare(schema.Sets(Orders)))
