package soak

import (
	"slices"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/load/hot"
	"github.com/denorm-go/denorm/schema"
)

// Service is one way to run the orders. Its clients are killed now and then, and started again.
type Service struct {
	Name string
	Mode hot.Mode
	// Repeat says that what a client was at when it was killed is repeated at the same timestamp, by whoever asked for it.
	Repeat bool
	// Leave says that what failed is not finished, neither by the client itself nor by others.
	Leave bool
}

// Whole says whether the tables of the service must agree in the end, whatever happens. In a logged batch that holds
// though nobody finishes what a dead client was at; in a fan-out somebody has to.
func (s Service) Whole() bool { return s.Repeat || s.Mode == hot.Logged }

// Orders is how many the service moves. Where nobody finishes what failed they are many: what is left then is seen
// until the order is moved again.
func (s Service) Orders() int {
	if s.Whole() {
		return 200
	}
	return 500
}

// Services are those of the orders.
var Services = []Service{
	{Name: "fan-out, finished", Mode: hot.FanOut, Repeat: true},
	{Name: "auto, finished", Mode: hot.Auto, Repeat: true},
	{Name: "logged batch", Mode: hot.Logged},
	{Name: "fan-out, left", Mode: hot.FanOut, Leave: true},
	{Name: "auto, left", Mode: hot.Auto, Leave: true},
	{Name: "groups, finished", Mode: hot.Grouped, Repeat: true},
	{Name: "groups, left", Mode: hot.Grouped, Leave: true},
}

// Tables creates the tables of orders and accounts in the keyspace of the session.
var Tables = slices.Concat(orders.Schema.Statements(), schema.Must(schema.Declare(schema.Sets(Accounts))).Statements())
