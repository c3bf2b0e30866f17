package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/reconcile"
)

const (
	filled       = "orders_by_user" // the table that is filled
	fillInFlight = 64
)

// runBackfill compares Backfill with a copy by hand.
func (b *reconcileBench) runBackfill(ctx context.Context, p *place) (string, error) {
	r, err := reconcile.New(p.admin, reconcile.InFlight(fillInFlight), reconcile.Target(time.Minute), reconcile.Settle(time.Millisecond))
	if err != nil {
		return "", err
	}
	empty := func(ctx context.Context) error {
		return p.admin.Writes().Query("TRUNCATE " + filled).WithContext(ctx).Exec()
	}
	list := []*rowReader{
		{name: "copy by hand", rounds: b.rounds, want: b.orders, before: empty, read: byHandCopy(p.admin.Reads(), p.admin.Writes())},
		{name: "Backfill, until all rows are put", rounds: b.rounds, want: b.orders, before: empty, read: func(ctx context.Context) (int, error) {
			return untilRead(ctx, backfill(r))
		}},
		{name: "Backfill, with its verification", rounds: b.rounds, want: b.orders, before: empty, read: func(ctx context.Context) (int, error) {
			report, err := backfill(r)(ctx)
			if err != nil {
				return 0, err
			}
			return report.Put, nil
		}},
	}
	if err := b.takeTurns(ctx, list); err != nil {
		return "", err
	}
	return b.backfillSection(list), nil
}

// reconcileRun is a call of a Reconciler.
type reconcileRun func(context.Context, ...reconcile.Option) (*reconcile.Report, error)

func backfill(r *reconcile.Reconciler) reconcileRun {
	return func(ctx context.Context, more ...reconcile.Option) (*reconcile.Report, error) {
		return r.Backfill(ctx, orders.Orders, filled, append(more, reconcile.Writers(time.Now().Add(-time.Hour)))...)
	}
}

// untilRead ends a run when it has read everything once, and gives how many rows it has put.
func untilRead(ctx context.Context, run reconcileRun) (put int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	report, err := run(ctx, reconcile.OnProgress(func(p reconcile.Progress) {
		if p.Done >= 1 {
			cancel()
		}
	}))
	if report == nil || err != nil && !errors.Is(err, context.Canceled) {
		return 0, err
	}
	return report.Put, nil
}

// byHandCopy is what a service would write: a scan of the base table by ranges of tokens, and inserts at the time in the row.
func byHandCopy(from, to *gocql.Session) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		var rows atomic.Int64
		room := make(chan struct{}, fillInFlight)
		err := parallel.Do(inFlight, rangesByHand, func(i int) error {
			where, low, high := byHandRange("order_id", i)
			iter := from.Query("SELECT order_id, user_id, status, total, updated_at FROM orders_by_id"+where, low, high).WithContext(ctx).Iter()
			var group sync.WaitGroup
			var failure atomic.Pointer[error]
			var o orders.Order
			for iter.Scan(&o.OrderID, &o.UserID, &o.Status, &o.Total, &o.UpdatedAt) {
				put := o
				o = orders.Order{}
				room <- struct{}{}
				group.Go(func() {
					defer func() { <-room }()
					err := to.Query("INSERT INTO "+filled+" (order_id, user_id, status, total, updated_at) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?",
						put.OrderID, put.UserID, put.Status, put.Total, put.UpdatedAt, put.UpdatedAt).Idempotent(true).WithContext(ctx).Exec()
					if err != nil {
						failure.Store(&err)
						return
					}
					rows.Add(1)
				})
			}
			group.Wait()
			if err := failure.Load(); err != nil {
				return *err
			}
			return iter.Close()
		})
		return int(rows.Load()), err
	}
}
