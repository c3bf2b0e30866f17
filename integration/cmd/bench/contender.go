package main

import (
	"context"
	"sync"
	"time"

	"github.com/gocql/gocql"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
)

// contender is one way to create an order.
type contender struct {
	name   string
	create func(context.Context, orders.Order) error
}

// bare is what the others are compared with.
const bare = "fan-out by hand"

func (s *shop) contenders() ([]contender, error) {
	w, err := writer.New(s.session)
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
	return []contender{
		{"one insert by hand (the floor)", s.single},
		{bare, s.fanOut},
		{"denorm fan-out", with(w)},
		{"denorm fan-out, traced", with(traced)},
		{"logged batch by hand", s.batch},
		{"denorm logged batch", with(w.With(writer.Logged()))},
	}, nil
}

// The statements of a service that writes by hand, with the timestamp pinned as it must be.
var statements = []string{
	`INSERT INTO orders_by_id (order_id, user_id, status, total, updated_at) VALUES (?, ?, ?, ?, ?)`,
	`INSERT INTO orders_by_user (order_id, user_id, status, total, updated_at) VALUES (?, ?, ?, ?, ?)`,
	`INSERT INTO orders_by_status (order_id, user_id, status, total, updated_at) VALUES (?, ?, ?, ?, ?)`,
}

func (s *shop) insert(ctx context.Context, statement string, o orders.Order, at int64) error {
	return s.session.Writes().Query(statement, o.OrderID, o.UserID, o.Status, o.Total, at).WithTimestamp(at).Idempotent(true).
		WithContext(ctx).Exec()
}

func (s *shop) single(ctx context.Context, o orders.Order) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return s.insert(ctx, statements[0], o, time.Now().UnixMicro())
}

// fanOut has no retry and no bookkeeping: which table failed is forgotten.
func (s *shop) fanOut(ctx context.Context, o orders.Order) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	at := time.Now().UnixMicro()
	var failed [3]error
	var wg sync.WaitGroup
	for i, statement := range statements {
		wg.Add(1)
		go func() {
			defer wg.Done()
			failed[i] = s.insert(ctx, statement, o, at)
		}()
	}
	wg.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *shop) batch(ctx context.Context, o orders.Order) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	at := time.Now().UnixMicro()
	b := s.session.Writes().NewBatch(gocql.LoggedBatch).WithTimestamp(at).WithContext(ctx)
	for _, statement := range statements {
		b.Query(statement, o.OrderID, o.UserID, o.Status, o.Total, at)
	}
	return s.session.Writes().ExecuteBatch(b)
}
