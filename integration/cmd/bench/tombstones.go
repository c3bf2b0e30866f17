package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/cmd/bench/turn"
	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/internal/testutil/shop"
	"github.com/denorm-go/denorm/internal/testutil/traced"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// way is one to declare the status.
type way struct {
	name   string // as in the declaration
	status string // table
	orders *tables.Set[orders.Order]
}

var ways = []way{
	declare("OneOf", "swept", tables.OneOf("status", orders.Statuses...)),
	declare("SingleWriter", "moved", tables.SingleWriter("status")),
}

func declare(name, prefix string, how tables.Option) way {
	s := way{name: name, status: prefix + "_by_status"}
	s.orders = tables.Must(tables.New[orders.Order]("order",
		tables.Table{Name: prefix + "_by_id", PartKey: []string{"order_id"}},
		tables.Table{Name: s.status, PartKey: []string{"status"}, SortKey: []string{"order_id DESC"}},
		tables.Stamp("updated_at"), tables.Type("order_id", "timeuuid"), how))
	return s
}

// lives are the ways of an order from open to where it stays, and how many orders go each of them. Old and new orders
// go the same ways, so that a status is spread over the whole of its partition.
var lives = []struct {
	share   float64
	changes []orders.Status
}{
	{0.889, []orders.Status{orders.Paid, orders.Shipped}},
	{0.100, []orders.Status{orders.Paid}},
	{0.010, nil},
	{0.001, []orders.Status{orders.Paid, orders.Cancelled}},
}

// listed are the statuses, the commonest first.
var listed = []orders.Status{orders.Shipped, orders.Paid, orders.Open, orders.Cancelled}

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

const (
	moves     = 200_000 // changes of status, in each of the two sets
	listLimit = 20      // orders that a reader wants
)

// listings are the contenders: those who list a status. The first one loads the orders.
func listings() (list []turn.Contender, sections []section) {
	var once sync.Once
	for _, status := range listed {
		of := func(how string) string { return fmt.Sprintf("%s, %s", status, how) }
		sections = append(sections, section{
			title: fmt.Sprintf("Status %s, %.1f %% of the orders", status, 100*stay(status)),
			base:  of("OneOf"), names: []string{of("SingleWriter"), of("SingleWriter, Confirm")},
		})
		for how, name := range []string{"OneOf", "SingleWriter", "SingleWriter, Confirm"} {
			way := ways[min(how, 1)]
			q := reader.From(way.orders, way.status).Eq("status", status).Limit(listLimit)
			if how == 2 {
				q = q.Confirm()
			}
			list = append(list, turn.Contender{Name: of(name), Open: func(ctx context.Context, p *turn.Place) (turn.Prepare, error) {
				var err error
				once.Do(func() { err = loadOrders(ctx, p) })
				return func(context.Context, int) (func(context.Context, int) error, error) {
					return func(ctx context.Context, _ int) error {
						_, _, err := reader.List(ctx, p.Reader, "list", q)
						return err
					}, nil
				}, err
			}})
		}
	}
	return list, sections
}

// loadOrders lets orders live, in both sets. The servers are driven to their limit: what matters is that all arrives.
func loadOrders(ctx context.Context, p *turn.Place) error {
	if err := p.Ensure(ctx, schema.Sets(ways[0].orders, ways[1].orders)); err != nil {
		return err
	}
	w := p.Writer.With(writer.Concurrent(), writer.Timeout(2*time.Minute),
		writer.Retry(retry.Policy{MaxAttempts: 20, MaxElapsedTime: 2 * time.Minute, AttemptTimeout: 20 * time.Second}))
	for _, way := range ways {
		if err := way.load(ctx, w); err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
	}
	return nil
}

// tombstones is a table of what a replica reads for one list.
func tombstones(ctx context.Context, p *turn.Place) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## Tombstones that one list of %d reads\n\n| status | `OneOf` | `SingleWriter` | %d / share |\n| --- | --- | --- | --- |\n", listLimit, listLimit)
	for _, status := range listed {
		fmt.Fprintf(&b, "| %s |", status)
		for _, way := range ways {
			statement := fmt.Sprintf(`SELECT order_id, total, updated_at FROM %s WHERE status = ? LIMIT %d`, way.status, listLimit)
			n, err := traced.Tombstones(ctx, p.Session.Reads(), p.Session.Reads().Query(statement, status))
			if err != nil {
				return "", fmt.Errorf("trace %s of %s: %w", status, way.name, err)
			}
			fmt.Fprintf(&b, " %d |", n)
		}
		fmt.Fprintf(&b, " %.0f |\n", listLimit/stay(status))
	}
	return b.String(), nil
}

func tombstonePage() *page {
	list, sections := listings()
	return &page{
		ruler: ruler{limit: 5 * time.Minute, order: turn.Order{N: 5, AtATime: 1}}, file: "tombstones.md", target: "tombstones", contenders: list, sections: sections,
		metrics: []metric{p50, slowest, clientCPU, serversCPU}, more: tombstones,
	}
}

const (
	// ordersPerWrite go through their lives together, as what is measured is reading: one logical write then has fifty
	// rows of the same partitions of the status table, which cost little more than one.
	ordersPerWrite = 50
	chunks         = 2128 // so many make the moves, as an order moves 1.88 times in the mean
	workers        = 8
)

// load creates orders and changes their status as often as wanted, give or take a worker's last chunk.
func (y way) load(ctx context.Context, w *writer.Writer) error {
	var done atomic.Int64
	begin := time.Now()
	return parallel.Do(workers, chunks, func(i int) error {
		err := y.loadChunk(ctx, w, uint64(i+1), &done)
		if (i+1)%(chunks/10+1) == 0 || i == chunks-1 {
			progress("%s: %d of %d changes after %.0f s", y.name, done.Load(), moves, time.Since(begin).Seconds())
		}
		return err
	})
}

// loadChunk lets some orders live. They live alike in both sets.
func (y way) loadChunk(ctx context.Context, w *writer.Writer, chunk uint64, done *atomic.Int64) error {
	random := rand.New(rand.NewPCG(1, chunk))
	rows := make([]orders.Order, ordersPerWrite)
	lives := make([][]orders.Status, ordersPerWrite)
	var inserts []tables.Change
	for i := range rows {
		rows[i] = shop.NewOrder()
		lives[i] = drawLife(random)
		inserts = append(inserts, y.orders.Insert(rows[i]))
	}
	write := func(op string, changes []tables.Change) error {
		res, err := w.Write(ctx, op, changes...)
		for i := range rows {
			rows[i].UpdatedAt = res.Timestamp
		}
		return err
	}
	if err := write("createOrders", inserts); err != nil {
		return err
	}
	for step := 0; ; step++ {
		var updates []tables.Change
		for i := range rows {
			if step < len(lives[i]) {
				changed := rows[i]
				changed.Status = lives[i][step]
				updates = append(updates, y.orders.Update(rows[i], changed))
				rows[i] = changed
			}
		}
		if len(updates) == 0 {
			return nil
		}
		if err := write("changeOrders", updates); err != nil {
			return err
		}
		done.Add(int64(len(updates)))
	}
}
