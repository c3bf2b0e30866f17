package simulation

import (
	"github.com/denorm-go/denorm/examples/pageviews"
	"github.com/denorm-go/denorm/integration/load/soak"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// service is a way to write.
type service struct {
	name     string
	keyspace string
	mode     writer.Option
	of       *entity
	finish   bool // what failed is resumed, and what a killed client was at is repeated at its timestamp
	wrong    bool // clocks are wrong by up to hours, and jump
}

// entity is what a service writes.
type entity struct {
	sets []tables.Described
	load func(c *crew, p *process) (load, error) // nil: newViewLoad, which has no process
}

var (
	anOrder   = orderOf(orderSet)
	anIDOrder = orderOf(userOrderSet)
	anAccount = &entity{[]tables.Described{soak.Accounts}, func(c *crew, p *process) (load, error) { return newLedgerLoad(c, p, accountLedger) }}
	aView     = &entity{sets: []tables.Described{pageviews.Counts, pageviews.Visits}} // counters, and a row alongside them
	aSeat     = &entity{[]tables.Described{seatSet}, func(c *crew, p *process) (load, error) { return newLedgerLoad(c, p, seatLedger) }}
	aLogin    = &entity{[]tables.Described{loginSet}, func(c *crew, p *process) (load, error) { return newLoginLoad(c, p) }}
)

func orderOf(set *tables.Set[Order]) *entity {
	return &entity{[]tables.Described{set}, func(c *crew, p *process) (load, error) { return newOrderLoad(c, p, set) }}
}

// services are those of a world.
var services = []service{
	{name: "OneOf, auto, resumed", keyspace: "auto_resumed", mode: writer.Auto(), of: anOrder, finish: true},
	{name: "OneOf, fan-out, resumed", keyspace: "concurrent_resumed", mode: writer.Concurrent(), of: anOrder, finish: true},
	{name: "OneOf, logged batch, left", keyspace: "logged_left", mode: writer.Logged(), of: anOrder},
	{name: "OneOf, fan-out, left", keyspace: "concurrent_left", mode: writer.Concurrent(), of: anOrder},
	{name: "OneOf, wrong clocks, left", keyspace: "clocks_left", mode: writer.Auto(), of: anOrder, wrong: true},
	{name: "Versioned", keyspace: "versioned", mode: writer.Auto(), of: anAccount},
	{name: "Compare, Mark", keyspace: "compared", mode: writer.Auto(), of: aSeat},
	{name: "ExpiresAt, Patch", keyspace: "expiring", mode: writer.Auto(), of: aLogin, finish: true},
	{name: "ID, OneOf, resumed", keyspace: "id_resumed", mode: writer.Auto(), of: anIDOrder, finish: true},
	{name: "Counters", keyspace: "counters", mode: writer.Auto(), of: aView},
}

// whole says whether the tables of the service must agree in the end.
func (s service) whole() bool { return s.finish || s.of == anAccount || s.keyspace == "logged_left" }
