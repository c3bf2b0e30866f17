package main

import (
	"cmp"
	"context"
	"flag"
	"sync"
	"time"

	"github.com/gocql/gocql"
	"github.com/scylladb/gocqlx/v2"
	"github.com/scylladb/gocqlx/v2/table"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
)

// createBench has each contender create orders.
type createBench struct{ contest }

func (b *createBench) flags(f *flag.FlagSet) {
	b.contest = contest{rounds: 7, turns: 3, alone: 70, many: 700}
	b.contest.flags(f)
}

func (b *createBench) schema() *schema.Schema { return orders.Schema }

func (b *createBench) run(ctx context.Context, p *place) (map[string]string, error) {
	if err := views(ctx, p); err != nil {
		return nil, err
	}
	list, err := byHand{p.session.Writes()}.contenders(p.session)
	if err != nil {
		return nil, err
	}
	sections := []section{b.section(list)}
	if err := b.compete(ctx, p, sections); err != nil {
		return nil, err
	}
	return b.report(p, sections), nil
}

// bare and fanned are what the others are compared with.
const (
	bare   = "fan-out by hand"
	fanned = "denorm fan-out"
)

// byHand has the statements of a service that writes by hand, with the timestamp pinned as it must be.
type byHand struct{ session *gocql.Session }

func (s byHand) contenders(of *session.Session) ([]*contender, error) {
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
	creates := func(name string, create func(context.Context, orders.Order) error) *contender {
		return &contender{name: name, prepare: func(context.Context) (write, error) {
			o := orders.New(gocql.MustRandomUUID(), inf.NewDec(1995, 2))
			return func(ctx context.Context) error { return create(ctx, o) }, nil
		}}
	}
	return []*contender{
		creates("one insert by hand (the floor)", s.single),
		creates(bare, s.fanOut),
		creates("fan-out by hand with gocqlx", s.mapped()),
		creates(fanned, with(w)),
		creates("denorm fan-out, traced", with(traced)),
		creates("unlogged batch by hand", s.batch(gocql.UnloggedBatch)),
		creates("denorm fan-out, grouped", with(w.With(writer.Group(4<<10)))),
		creates("insert into a table with two materialized views", s.viewed),
		creates("logged batch by hand", s.batch(gocql.LoggedBatch)),
		creates("denorm logged batch", with(w.With(writer.Logged()))),
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

// mapped is fanOut with gocqlx, which takes the columns from the struct.
func (s byHand) mapped() func(context.Context, orders.Order) error {
	session, _ := gocqlx.WrapSession(s.session, nil)
	columns := []string{"order_id", "user_id", "status", "total", "updated_at"}
	list := []*table.Table{
		table.New(table.Metadata{Name: "orders_by_id", Columns: columns, PartKey: []string{"order_id"}}),
		table.New(table.Metadata{Name: "orders_by_user", Columns: columns, PartKey: []string{"user_id"}, SortKey: []string{"order_id"}}),
		table.New(table.Metadata{Name: "orders_by_status", Columns: columns, PartKey: []string{"status"}, SortKey: []string{"order_id"}}),
	}
	return func(ctx context.Context, o orders.Order) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		o.UpdatedAt = time.Now().UnixMicro()
		var failed [3]error
		var wg sync.WaitGroup
		for i, t := range list {
			wg.Go(func() {
				q := session.Query(t.Insert()).BindStruct(o).WithTimestamp(o.UpdatedAt).Idempotent(true).WithContext(ctx)
				failed[i] = q.ExecRelease()
			})
		}
		wg.Wait()
		return cmp.Or(failed[:]...)
	}
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
