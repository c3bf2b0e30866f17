package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gocql/gocql"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
)

// createBench has each contender create orders.
type createBench struct {
	rounds        int
	profile, only string
}

func (b *createBench) flags(f *flag.FlagSet) {
	f.IntVar(&b.rounds, "rounds", 15, "how many rounds")
	f.StringVar(&b.profile, "cpuprofile", "", "file for a CPU profile of all rounds")
	f.StringVar(&b.only, "only", "", "measure only contenders whose name contains this, and the fan-out by hand")
}

func (b *createBench) schema() *schema.Schema { return orders.Schema }

func (b *createBench) run(ctx context.Context, p *place) (map[string]string, error) {
	if err := views(ctx, p); err != nil {
		return nil, err
	}
	contenders, err := byHand{p.session.Writes()}.contenders(p.session)
	if err != nil {
		return nil, err
	}
	contenders = slices.DeleteFunc(contenders, func(c creator) bool {
		return !strings.Contains(c.name, b.only) && c.name != bare
	})
	if b.profile != "" {
		f, err := os.Create(b.profile)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, err
		}
		defer pprof.StopCPUProfile()
	}
	results, err := b.measure(ctx, contenders)
	if err != nil {
		return nil, err
	}
	name := "benchmark"
	if p.hosts != 3 || p.replicas != 3 {
		name = fmt.Sprintf("benchmark-%d-nodes-rf%d", p.hosts, p.replicas)
	}
	return map[string]string{
		name + ".md":  b.report(p, name, results),
		name + ".svg": plot("p50 of one write at a time, in ms", "%.2f", results, func(x created) figure { return x.p50[0] }),
		name + "-cpu.svg": plot("CPU time of all servers a write, in µs, 64 writes at a time", "%.0f", results,
			func(x created) figure { return x.server }),
	}, nil
}

// creator is one way to create an order.
type creator struct {
	name   string
	create func(context.Context, orders.Order) error
}

// bare is what the others are compared with.
const bare = "fan-out by hand"

// byHand has the statements of a service that writes by hand, with the timestamp pinned as it must be.
type byHand struct{ session *gocql.Session }

func (s byHand) contenders(of *session.Session) ([]creator, error) {
	w, err := writer.New(of)
	if err != nil {
		return nil, err
	}
	traced := w.With(writer.Trace(tracing.New(
		tracing.WithTracerProvider(sdktrace.NewTracerProvider()), // records, exports nowhere
		tracing.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))),
	)))
	with := func(w *writer.Writer) func(context.Context, orders.Order) error {
		return func(ctx context.Context, o orders.Order) error {
			_, err := w.Write(ctx, "createOrder", orders.Orders.Insert(o))
			return err
		}
	}
	return []creator{
		{"one insert by hand (the floor)", s.single},
		{bare, s.fanOut},
		{"denorm fan-out", with(w)},
		{"denorm fan-out, traced", with(traced)},
		{"unlogged batch by hand", s.batch(gocql.UnloggedBatch)},
		{"denorm fan-out, grouped", with(w.With(writer.Group(4 << 10)))},
		{"insert into a table with two materialized views", s.viewed},
		{"logged batch by hand", s.batch(gocql.LoggedBatch)},
		{"denorm logged batch", with(w.With(writer.Logged()))},
	}, nil
}

// views creates a table whose materialized views have the rows of the query tables: the servers do the fan-out.
func views(ctx context.Context, p *place) error {
	for _, statement := range []string{
		`CREATE TABLE IF NOT EXISTS viewed_orders (order_id uuid PRIMARY KEY, user_id uuid, status text, total decimal, updated_at bigint)`,
		`CREATE MATERIALIZED VIEW IF NOT EXISTS viewed_orders_by_user AS SELECT * FROM viewed_orders
			WHERE user_id IS NOT NULL AND order_id IS NOT NULL PRIMARY KEY (user_id, order_id)`,
		`CREATE MATERIALIZED VIEW IF NOT EXISTS viewed_orders_by_status AS SELECT * FROM viewed_orders
			WHERE status IS NOT NULL AND order_id IS NOT NULL PRIMARY KEY (status, order_id)`,
	} {
		if err := p.admin.Reads().Query(statement).WithContext(ctx).Exec(); err != nil {
			return err
		}
	}
	return nil
}

var statements = []string{
	`INSERT INTO orders_by_id (order_id, user_id, status, total, updated_at) VALUES (?, ?, ?, ?, ?)`,
	`INSERT INTO orders_by_user (order_id, user_id, status, total, updated_at) VALUES (?, ?, ?, ?, ?)`,
	`INSERT INTO orders_by_status (order_id, user_id, status, total, updated_at) VALUES (?, ?, ?, ?, ?)`,
}

func (s byHand) insert(ctx context.Context, statement string, o orders.Order, at int64) error {
	return s.session.Query(statement, o.OrderID, o.UserID, o.Status, o.Total, at).WithTimestamp(at).Idempotent(true).
		WithContext(ctx).Exec()
}

func (s byHand) single(ctx context.Context, o orders.Order) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return s.insert(ctx, statements[0], o, time.Now().UnixMicro())
}

// fanOut has no retry and no bookkeeping: which table failed is forgotten.
func (s byHand) fanOut(ctx context.Context, o orders.Order) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	at := time.Now().UnixMicro()
	var failed [3]error
	var wg sync.WaitGroup
	for i, statement := range statements {
		wg.Go(func() { failed[i] = s.insert(ctx, statement, o, at) })
	}
	wg.Wait()
	return cmp.Or(failed[:]...)
}

func (s byHand) batch(kind gocql.BatchType) func(context.Context, orders.Order) error {
	return func(ctx context.Context, o orders.Order) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		at := time.Now().UnixMicro()
		b := s.session.NewBatch(kind).WithTimestamp(at).WithContext(ctx)
		for _, statement := range statements {
			b.Query(statement, o.OrderID, o.UserID, o.Status, o.Total, at)
		}
		return s.session.ExecuteBatch(b)
	}
}

func (s byHand) viewed(ctx context.Context, o orders.Order) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	const statement = `INSERT INTO viewed_orders (order_id, user_id, status, total, updated_at) VALUES (?, ?, ?, ?, ?)`
	return s.insert(ctx, statement, o, time.Now().UnixMicro())
}
