package main

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/cmd/bench/turn"
	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/integration/load/drift"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/schema"
)

const (
	compared     = 5_000            // orders, in three tables
	filled       = "orders_by_user" // the table that is filled
	columns      = "order_id, user_id, status, total, updated_at"
	scanByHand   = "scan by hand"
	copyByHand   = "copy by hand"
	inFlight     = 8
	fillInFlight = 64
	byRanges     = 32 // of tokens, a table
)

var reconciling = []turn.Contender{
	reconciles(scanByHand, scanOrders(columns)),
	reconciles(scanByHand+", with WRITETIMEs and TTL", scanOrders(columns+", WRITETIME(updated_at), WRITETIME(total), TTL(updated_at)")),
	reconciles("Verify", func(ctx context.Context, p *turn.Place) error {
		r, err := reconcile.New(p.Session, reconcile.InFlight(inFlight), reconcile.Target(time.Minute))
		if err == nil {
			_, err = r.Verify(ctx, orders.Orders)
		}
		return err
	}),
	reconciles(copyByHand, copyOrders),
	reconciles("Backfill, until all rows are put", func(ctx context.Context, p *turn.Place) error {
		r, err := reconcile.New(p.Session, reconcile.InFlight(fillInFlight), reconcile.Target(time.Minute), reconcile.Settle(time.Millisecond))
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if _, err = r.Backfill(ctx, orders.Orders, filled, reconcile.Writers(time.Now().Add(-time.Hour)), reconcile.OnProgress(func(p reconcile.Progress) {
			if p.Done >= 1 {
				cancel()
			}
		})); errors.Is(err, context.Canceled) {
			err = nil
		}
		return err
	}),
}

// reconciles makes a contender that reads or copies the orders. The first one loads them.
func reconciles(name string, do func(context.Context, *turn.Place) error) turn.Contender {
	return turn.Contender{Name: name, Open: func(ctx context.Context, p *turn.Place) (turn.Prepare, error) {
		err := p.Ensure(ctx, schema.Sets(orders.Orders))
		if err == nil {
			err = drift.Load(ctx, p.Session.Writes(), compared, turn.Begins.UnixMicro(), drift.Tables...)
		}
		return func(context.Context, int) (func(context.Context, int) error, error) {
			return func(ctx context.Context, _ int) error { return do(ctx, p) }, nil
		}, err
	}}
}

// ranges are the WHERE and the limits of ranges of tokens.
func ranges(key string, i int) (where string, low, high int64) {
	const width = math.MaxUint64/byRanges + 1
	low = int64(math.MinInt64) + int64(uint64(i)*width)
	high = low + width
	if i == byRanges-1 {
		high = math.MaxInt64
	}
	return " WHERE token(" + key + ") > ? AND token(" + key + ") <= ?", low, high
}

// scanOrders is the scan that a service would write: ranges of tokens, some at a time, with the paging of the driver.
func scanOrders(columns string) func(context.Context, *turn.Place) error {
	return func(ctx context.Context, p *turn.Place) error {
		keys := []string{"order_id", "user_id", "status"} // of drift.Tables
		return parallel.Do(inFlight, len(keys)*byRanges, func(i int) error {
			where, low, high := ranges(keys[i/byRanges], i%byRanges)
			iter := p.Session.Reads().Query("SELECT "+columns+" FROM "+drift.Tables[i/byRanges]+where, low, high).WithContext(ctx).Iter()
			var o orders.Order
			var written, totaled int64
			var ttl int
			dest := []any{&o.OrderID, &o.UserID, &o.Status, &o.Total, &o.UpdatedAt, &written, &totaled, &ttl}
			for iter.Scan(dest[:len(iter.Columns())]...) {
			}
			return iter.Close()
		})
	}
}

// copyOrders is the copy that a service would write: a scan of the base table, and inserts at the time in the row.
func copyOrders(ctx context.Context, p *turn.Place) error {
	room := make(chan struct{}, fillInFlight)
	return parallel.Do(inFlight, byRanges, func(i int) error {
		where, low, high := ranges("order_id", i)
		iter := p.Session.Reads().Query("SELECT "+columns+" FROM orders_by_id"+where, low, high).WithContext(ctx).Iter()
		var all sync.WaitGroup
		var failure atomic.Pointer[error]
		for o := (orders.Order{}); iter.Scan(&o.OrderID, &o.UserID, &o.Status, &o.Total, &o.UpdatedAt); o = (orders.Order{}) {
			put := o
			room <- struct{}{}
			all.Go(func() {
				defer func() { <-room }()
				if err := p.Session.Writes().Query("INSERT INTO "+filled+" ("+columns+") VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?",
					put.OrderID, put.UserID, put.Status, put.Total, put.UpdatedAt, put.UpdatedAt).Idempotent(true).WithContext(ctx).Exec(); err != nil {
					failure.Store(&err)
				}
			})
		}
		all.Wait()
		if err := failure.Load(); err != nil {
			return *err
		}
		return iter.Close()
	})
}
