package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// order is an order without what does not matter here.
type order struct {
	OrderID   gocql.UUID
	Status    orders.Status
	Total     int
	UpdatedAt int64
}

// tombstoneBench reads after many changes of status, with a swept status and with one of a single writer.
type tombstoneBench struct{ changes, rounds int }

func (b *tombstoneBench) flags(f *flag.FlagSet) {
	f.IntVar(&b.changes, "changes", 200_000, "how many changes of status, in each of the two sets")
	f.IntVar(&b.rounds, "rounds", 300, "how often each status is read")
}

func (b *tombstoneBench) schema() *schema.Schema {
	return schema.Must(schema.Declare(schema.Sets(ways[0].orders, ways[1].orders)))
}

func (b *tombstoneBench) run(ctx context.Context, p *place) (map[string]string, error) {
	if b.changes < 1 || b.rounds < 1 {
		return nil, errors.New("-changes and -rounds must be positive")
	}
	r := sweeps{tombstoneBench: *b, hosts: p.hosts, busy: loadAverage()}
	// The servers are driven to their limit: what matters is that all arrives.
	w, err := writer.New(p.admin, writer.Concurrent(), writer.Timeout(2*time.Minute),
		writer.Retry(retry.Policy{MaxAttempts: 20, MaxElapsedTime: 2 * time.Minute, AttemptTimeout: 20 * time.Second}))
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	for _, way := range ways {
		if err := way.load(ctx, w, b.changes); err != nil {
			return nil, fmt.Errorf("%s: %w", way.name, err)
		}
	}
	r.loaded = time.Since(begin)
	if r.results, err = (reads{p.admin.Reads()}).measure(ctx, b.rounds); err != nil {
		return nil, err
	}
	r.confirmed, err = b.confirm(ctx, p)
	return map[string]string{"tombstones.md": r.text()}, err
}

// way is one to declare the status.
type way struct {
	name   string // as in the declaration
	status string // table
	orders *tables.Set[order]
}

var ways = []way{
	declare("OneOf", "swept", tables.OneOf("status", orders.Statuses...)),
	declare("SingleWriter", "moved", tables.SingleWriter("status")),
}

func declare(name, prefix string, how tables.Option) way {
	s := way{name: name, status: prefix + "_by_status"}
	s.orders = tables.Must(tables.New[order]("order",
		tables.Table{Name: prefix + "_by_id", PartKey: []string{"order_id"}},
		tables.Table{Name: s.status, PartKey: []string{"status"}, SortKey: []string{"order_id DESC"}},
		tables.Stamp("updated_at"), tables.Type("order_id", "timeuuid"), how))
	return s
}

// lives are the ways of an order from open to where it stays, and how many orders go each of them. Old and new orders go
// the same ways, so that a status is spread over the whole of its partition.
var lives = []struct {
	share   float64
	changes []orders.Status
}{
	{0.889, []orders.Status{orders.Paid, orders.Shipped}},
	{0.100, []orders.Status{orders.Paid}},
	{0.010, nil},
	{0.001, []orders.Status{orders.Paid, orders.Cancelled}},
}

// changesPerOrder is the mean.
func changesPerOrder() float64 {
	sum := 0.0
	for _, life := range lives {
		sum += life.share * float64(len(life.changes))
	}
	return sum
}

// stay is the part of all orders that stay in a status.
func stay(status orders.Status) float64 {
	for _, life := range lives {
		if end := append([]orders.Status{orders.Open}, life.changes...); end[len(end)-1] == status {
			return life.share
		}
	}
	return 0
}

func drawLife(random *rand.Rand) []orders.Status {
	x := random.Float64()
	for _, life := range lives {
		if x -= life.share; x < 0 {
			return life.changes
		}
	}
	return lives[0].changes
}
