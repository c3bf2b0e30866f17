package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

const (
	orderCount = 3000
	contested  = 400  // orders that two requests change at the same time
	calm       = 2300 // orders that one request changes
	clients    = 16
)

// showLoad writes all orders, changes most of them, and looks whether the tables agree.
func showLoad(ctx context.Context, out *screen, s *shop) error {
	out.heading("Thousands of orders", fmt.Sprintf("%d clients create %s open orders. Then one request changes the status of %s of them, and two requests "+
		"at the same time change the status of %d others: both have read the order as open, and write different statuses. By hand, such an order ends up "+
		"listed under both.", clients, number(orderCount), number(calm), contested))
	l := &load{w: s.w, orders: make([]orders.Order, orderCount)}
	for _, phase := range []struct {
		op           string
		jobs, writes int
		job          func(context.Context, int) error
	}{
		{"createOrder", orderCount, orderCount, l.create},
		{"changeStatus", contested + calm, 2*contested + calm, l.change},
	} {
		began, requests := time.Now(), l.requests.Load()
		if err := parallel.Do(clients, phase.jobs, func(i int) error { return phase.job(ctx, i) }); err != nil {
			return err
		}
		took := time.Since(began).Seconds()
		out.say("%-14s %s writes in %s requests, %.1f s, %s writes a second", phase.op, number(phase.writes),
			number(int(l.requests.Load()-requests)), took, number(int(float64(phase.writes)/took)))
	}
	if retries := l.retries.Load(); retries > 0 {
		out.say("Requests sent again: %d. Writes resumed: %d.", retries, l.resumed.Load())
	}
	out.blank()
	return l.compare(ctx, out, s.view)
}

// load is the orders that are written.
type load struct {
	w                          *writer.Writer
	orders                     []orders.Order
	requests, retries, resumed atomic.Int64
}

// create writes order i.
func (l *load) create(ctx context.Context, i int) error {
	o := newOrder()
	res, err := l.write(ctx, "createOrder", orders.Orders.Insert(o))
	o.UpdatedAt = res.Timestamp // the next change is ordered after this one
	l.orders[i] = o
	return err
}

// change moves order i to another status. Two requests move a contested order to two statuses, without knowing of each
// other.
func (l *load) change(ctx context.Context, i int) error {
	targets := []orders.Status{orders.Paid, orders.Shipped, orders.Cancelled}
	to := []orders.Status{targets[i%3]}
	if i < contested {
		to = append(to, targets[(i+1)%3])
	}
	before := l.orders[i]
	results, errs := make([]writer.Result, len(to)), make([]error, len(to))
	var requests sync.WaitGroup
	for n, status := range to {
		requests.Go(func() {
			results[n], errs[n] = l.write(ctx, "changeStatus", orders.Orders.Update(before, withStatus(before, status)))
		})
	}
	requests.Wait()
	for n, res := range results { // all tables must have the later write
		if res.Timestamp > l.orders[i].UpdatedAt {
			l.orders[i].Status, l.orders[i].UpdatedAt = to[n], res.Timestamp
		}
	}
	return errors.Join(errs...)
}

// write does what a service does with an error that may be resumed.
func (l *load) write(ctx context.Context, op string, change tables.Change) (writer.Result, error) {
	res, err := l.w.Write(ctx, op, change)
	l.requests.Add(int64(res.Attempts))
	l.retries.Add(int64(max(0, res.Attempts-res.Requests)))
	for range 2 {
		var failed *writer.Error
		if !errors.As(err, &failed) || !failed.Resumable() || ctx.Err() != nil {
			break
		}
		l.resumed.Add(1)
		res, err = l.w.Resume(ctx, failed)
	}
	return res, err
}

// compare reads the three tables whole, and fails unless each has every order once, as it was last written.
func (l *load) compare(ctx context.Context, out *screen, v view) error {
	statuses := make(map[orders.Status]int)
	for _, o := range l.orders {
		statuses[o.Status]++
	}
	for _, table := range tableNames {
		rows, err := v.rows(ctx, table, "")
		if err != nil {
			return err
		}
		byID := make(map[gocql.UUID]row, len(rows))
		for _, r := range rows {
			byID[r.OrderID] = r
		}
		if len(rows) != len(l.orders) {
			return fmt.Errorf("%s has %d rows, want %d", table, len(rows), len(l.orders))
		}
		for _, o := range l.orders {
			if !same(byID[o.OrderID], o) {
				return fmt.Errorf("%s does not have order %v as it was last written", table, o.OrderID)
			}
		}
	}
	out.ok("All %s rows read back: each table has each order once, as it was last written. Where requests collided, the later one won in all tables. "+
		"%s orders are paid, %s shipped, %s cancelled, and %s are still open.", number(len(tableNames)*len(l.orders)), number(statuses[orders.Paid]),
		number(statuses[orders.Shipped]), number(statuses[orders.Cancelled]), number(statuses[orders.Open]))
	return nil
}
