// Package contended is the load that rows with versions are for: many writers that move the same few rows, with clocks
// that disagree and clients that die in the middle; and alongside it what one would write by hand.
package contended

import (
	"context"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// Order is an order whose status is any text, so the tables by status cannot be swept.
type Order struct {
	OrderID gocql.UUID
	Status  string
	Changes int32 // how often it was changed
	Version gocql.UUID
}

// Orders are kept by id and by status.
var Orders = tables.Must(tables.New[Order]("order",
	tables.Table{Name: "orders_by_id", PartKey: []string{"order_id"}},
	tables.Table{Name: "orders_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id"}},
	tables.Versioned("version"),
))

// Schema creates the tables in the keyspace of the session, and those of the code by hand.
var Schema = append(schema.Must(schema.Declare(schema.Sets(Orders))).Statements(),
	`CREATE TABLE hand_by_id (order_id uuid PRIMARY KEY, status text, changes int, version timeuuid)`,
	`CREATE TABLE hand_by_status (status text, order_id uuid, changes int, version timeuuid, PRIMARY KEY (status, order_id))`)

// HandOrder is an order of the tables by hand, once the library writes them.
type HandOrder struct {
	Order
	UpdatedAt int64
}

// HandOrders are the tables by hand as a set, for which they need [AddStamp]. Their statuses are those of [Few].
func HandOrders(more ...tables.Option) *tables.Set[HandOrder] {
	return tables.Must(tables.New[HandOrder]("hand_order", append([]tables.Option{
		tables.Table{Name: "hand_by_id", PartKey: []string{"order_id"}},
		tables.Table{Name: "hand_by_status", PartKey: []string{"status"}, SortKey: []string{"order_id"}},
		tables.OneOf("status", statuses...), tables.Stamp("updated_at"), tables.Type("version", "timeuuid"),
	}, more...)...))
}

// AddStamp adds the column of the stamp to the tables by hand.
var AddStamp = []string{"ALTER TABLE hand_by_id ADD updated_at bigint", "ALTER TABLE hand_by_status ADD updated_at bigint"}

var statuses = []string{
	"new", "status 0", "status 1", "status 2", "status 3", "status 4", "status 5", "status 6", "status 7", "status 8", "status 9",
}

// Few is a client of orders that have few statuses.
type Few struct{ Client }

// Change implements [Client].
func (f Few) Change(ctx context.Context, id gocql.UUID, status string) error {
	return f.Client.Change(ctx, id, status[:len("status 0")])
}
