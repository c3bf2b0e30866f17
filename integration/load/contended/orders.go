// Package contended is the load that rows with versions are for: many writers that move the same few rows, with clocks
// that disagree and clients that die in the middle; and alongside it what one would write by hand.
package contended

import (
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
