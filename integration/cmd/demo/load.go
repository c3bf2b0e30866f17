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
	// contested orders are changed by two clients at the same moment, calm ones by one, the others by nobody.
	contested   = 400
	calm        = 2300
	untouched   = orderCount - contested - calm
	changeCount = 2*contested + calm
	clients     = 16
)

// showLoad writes all orders, changes most of them, and looks whether the tables agree.
func showLoad(ctx context.Context, out *screen, s *shop) error {
	out.heading("Thousands of orders", fmt.Sprintf("%d clients create %s orders, all open, and change statuses %s times: "+
		"%s orders once, and %d orders twice at the same moment, by two clients that both read the order as open and move it "+
		"to different statuses. Done by hand, that is how an order ends up under two statuses. The other %d nobody touches.",
		clients, number(orderCount), number(changeCount), number(calm), contested, untouched))
	l := &load{trace: new(recorder), orders: make([]orders.Order, orderCount)}
	l.w = s.w.With(writer.Trace(l.trace))
	if err := l.phase(ctx, out, "createOrder", orderCount, orderCount, l.create); err != nil {
		return err
	}
	if err := l.phase(ctx, out, "changeStatus", contested+calm, changeCount, l.change); err != nil {
		return err
	}
	if n := len(l.trace.retries); n > 0 {
		out.say("%d requests were sent again (%s), %d writes were resumed.", n, l.trace.reasons(), l.resumed.Load())
	}
	out.blank()
	return l.compare(ctx, out, s.view)
}

// load is the orders that are written.
type load struct {
	w       *writer.Writer
	trace   *recorder
	orders  []orders.Order
	resumed atomic.Int64
}

// phase runs jobs that make a number of writes.
func (l *load) phase(
	ctx context.Context, out *screen, what string, jobs, writes int, job func(context.Context, int, progress) error,
) error {
	began, requests := time.Now(), l.trace.requests
	bar := out.progress(what, writes)
	if err := parallel.Do(clients, jobs, func(i int) error { return job(ctx, i, bar) }); err != nil {
		return err
	}
	out.clear()
	took := time.Since(began)
	out.say("%-14s %s writes in %s requests, %.1f s, %s writes a second", what, number(writes), number(l.trace.requests-requests),
		took.Seconds(), number(int(float64(writes)/took.Seconds())))
	return nil
}

// create writes order i.
func (l *load) create(ctx context.Context, i int, bar progress) error {
	o := newOrder()
	res, err := l.write(ctx, "createOrder", orders.Orders.Insert(o))
	if err != nil {
		return err
	}
	o.UpdatedAt = res.Timestamp // the next change is ordered after this one
	l.orders[i] = o
	bar.add()
	return nil
}

// change moves order i to another status; of the contested orders two clients at the same time to two statuses, without
// knowing of each other.
func (l *load) change(ctx context.Context, i int, bar progress) error {
	targets := []orders.Status{orders.Paid, orders.Shipped, orders.Cancelled}
	first := i % len(targets)
	to := targets[first : first+1]
	if i < contested {
		to = []orders.Status{targets[first], targets[(first+1)%len(targets)]}
	}
	before := l.orders[i]
	results, errs := make([]writer.Result, len(to)), make([]error, len(to))
	var wg sync.WaitGroup
	for n, status := range to {
		wg.Go(func() {
			results[n], errs[n] = l.write(ctx, "changeStatus", orders.Orders.Update(before, withStatus(before, status)))
			bar.add()
		})
	}
	wg.Wait()
	for n, res := range results { // the later write is what all tables have to hold
		if res.Timestamp > l.orders[i].UpdatedAt {
			l.orders[i].Status, l.orders[i].UpdatedAt = to[n], res.Timestamp
		}
	}
	return errors.Join(errs...)
}

// write does what a service does with an error that says which tables are open: it resumes the write.
func (l *load) write(ctx context.Context, op string, change tables.Change) (writer.Result, error) {
	res, err := l.w.Write(ctx, op, change)
	for range 2 {
		var failed *writer.Error
		if !errors.As(err, &failed) || errors.Is(err, writer.ErrInvalid) || ctx.Err() != nil {
			break
		}
		l.resumed.Add(1)
		res, err = l.w.Resume(ctx, failed)
	}
	return res, err
}

// compare reads the three tables whole, and fails unless each holds every order once, as it was last written.
func (l *load) compare(ctx context.Context, out *screen, v view) error {
	statuses := make(map[orders.Status]int)
	for _, o := range l.orders {
		statuses[o.Status]++
	}
	var counts [][]cell
	for _, table := range tableNames {
		rows, err := v.all(ctx, table)
		if err != nil {
			return err
		}
		if len(rows) != len(l.orders) {
			return fmt.Errorf("%s has %d rows, want %d", table, len(rows), len(l.orders))
		}
		byID := make(map[gocql.UUID]row, len(rows))
		for _, r := range rows {
			byID[r.OrderID] = r
		}
		for _, o := range l.orders {
			if !same(byID[o.OrderID], row{Order: o, Written: o.UpdatedAt}) {
				return fmt.Errorf("%s does not hold order %v as it was last written", table, o.OrderID)
			}
		}
		counts = append(counts, []cell{{table, plain}, {number(len(rows)), bold}})
	}
	out.table([]string{"table", "rows"}, []bool{1: true}, counts)
	out.blank()
	out.ok("All %s rows read back: each order is in each table once, as it was last written, with one WRITETIME. Of two "+
		"clients that collided the later one won, in all tables. %s orders are paid, %s shipped, %s cancelled; open are the %s "+
		"that nobody touched.", number(len(tableNames)*len(l.orders)), number(statuses[orders.Paid]),
		number(statuses[orders.Shipped]), number(statuses[orders.Cancelled]), number(statuses[orders.Open]))
	return nil
}
