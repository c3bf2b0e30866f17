package ports_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/sleep"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// byUserAndStatus is a table that the shop gets while it is adopted.
var byUserAndStatus = tables.Table{
	Name: "orders_by_user_and_status", PartKey: []string{"user_id", "status"}, SortKey: []string{"order_id DESC"},
	Hidden: true,
}

const newTable = `CREATE TABLE orders_by_user_and_status (user_id uuid, status text, order_id timeuuid, total bigint,
	address text, updated_at bigint, PRIMARY KEY ((user_id, status), order_id)) WITH CLUSTERING ORDER BY (order_id DESC)`

// clerk is a process of the shop, with orders of its own.
type clerk struct {
	*port
	mu   sync.Mutex
	shop shop
	// what was acknowledged
	orders map[gocql.UUID]order
	ops    int
}

// replace is the release of another shop: nothing of the former one is in flight after it.
func (c *clerk) replace(by shop) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shop = by
	return c.ops
}

// work does what customers ask for until over ends, and looks after each operation at what it has done.
func (c *clerk) work(over context.Context) {
	for over.Err() == nil && !c.Failed() {
		c.mu.Lock()
		c.operate()
		c.ops++
		c.mu.Unlock()
		_ = sleep.For(over, 20*time.Millisecond)
	}
}

func (c *clerk) operate() {
	ctx, n := c.Context(), rand.IntN(20)
	ids := slices.Collect(maps.Keys(c.orders))
	if n == 0 || len(ids) < 20 {
		o := anOrder()
		c.until(func() error { return c.shop.place(ctx, o) })
		c.orders[o.OrderID] = o
		c.look(o)
		return
	}
	o := c.orders[ids[rand.IntN(len(ids))]]
	switch {
	case n == 1:
		c.until(func() error { return c.shop.forget(ctx, o.OrderID) })
		delete(c.orders, o.OrderID)
		c.gone(o)
		return
	case n < 12:
		o.Status = []string{"open", "paid", "shipped", "cancelled"}[rand.IntN(4)]
		c.until(func() error { return c.shop.move(ctx, o.OrderID, o.Status) })
	default:
		o.Address = fmt.Sprint(n, " High Street")
		c.until(func() error { return c.shop.readdress(ctx, o.OrderID, o.Address) })
	}
	c.orders[o.OrderID] = o
	c.look(o)
}

// until repeats an operation whose outcome is not known.
func (c *clerk) until(operation func() error) {
	ctx, cancel := context.WithTimeout(c.Context(), time.Minute)
	defer cancel()
	tries := 0
	if err := sleep.Until(ctx, 50*time.Millisecond, func() error {
		err := operation()
		if tries++; tries > 1 && (errors.Is(err, gocql.ErrNotFound) || errors.Is(err, writer.ErrNotFound)) {
			return nil // it was deleted after all
		}
		return err
	}); err != nil {
		c.Error(err)
	}
}

// look wants an order to be as it was acknowledged, by plain CQL, now. A read that fails is made once more.
func (c *clerk) look(o order) {
	var got order
	read := func(query *gocql.Query, into ...any) error {
		err := query.Scan(into...)
		if err != nil && !errors.Is(err, gocql.ErrNotFound) {
			err = query.Scan(into...)
		}
		return err
	}
	err := read(c.hand.Query("SELECT status, address FROM orders WHERE order_id = ?", o.OrderID), &got.Status, &got.Address)
	if err != nil || got.Status != o.Status || got.Address != o.Address {
		c.Errorf("an order is %+v, want %+v: %v", got, o, err)
	}
	err = read(c.hand.Query("SELECT total FROM orders_by_status WHERE status = ? AND order_id = ?", o.Status, o.OrderID), &got.Total)
	if err != nil {
		c.Errorf("an order is not listed as %s: %v", o.Status, err)
	}
}

func (c *clerk) gone(o order) {
	err := c.hand.Query("SELECT status FROM orders WHERE order_id = ?", o.OrderID).Scan(&o.Status)
	if !errors.Is(err, gocql.ErrNotFound) {
		c.Errorf("an order that was deleted is there: %v", err)
	}
}

// Clerks write orders by hand while these are adopted, verified and put into a new table, and until they are replaced.
// Each order is always as it was acknowledged; once all clerks have the library, all tables are adopted and agree.
func TestShopUnderLoad(t *testing.T) {
	everywhere(t, shopTables, func(p *port) {
		ctx := p.Context()
		planted := p.plantOrders()
		clerks := make([]*clerk, 4)
		for i := range clerks {
			clerks[i] = &clerk{port: p, shop: shopByHand{p.hand}, orders: make(map[gocql.UUID]order)}
		}
		over, end := context.WithCancel(ctx)
		var working sync.WaitGroup
		stop := func() { end(); working.Wait() }
		defer stop()
		for _, c := range clerks {
			working.Go(func() { c.work(over) })
		}
		p.alter(append(shopColumns, newTable)...)

		r, adopting := p.reconciler(), ordersOf(byUserAndStatus, tables.UnstampedRows())
		var early sync.WaitGroup
		for what, run := range map[string]func(context.Context) (*reconcile.Report, error){
			"adopt": func(ctx context.Context) (*reconcile.Report, error) {
				return r.Adopt(ctx, ordersOf(tables.UnstampedRows()), reconcile.Writers(time.Now()))
			},
			"verify": func(ctx context.Context) (*reconcile.Report, error) { return r.Verify(ctx, ordersOf()) },
			"backfill": func(ctx context.Context) (*reconcile.Report, error) {
				return r.Backfill(ctx, adopting, byUserAndStatus.Name, reconcile.Writers(time.Now()))
			},
		} { // too early, which they may find out, or not; in the end they are stopped
			early.Go(func() {
				limited, cancel := context.WithTimeout(ctx, 5*settle)
				defer cancel()
				report, err := run(limited)
				p.Logf("%s, while clerks write by hand: %v\n%v", what, err, report)
				if report == nil {
					p.Errorf("%s did not run: %v", what, err)
				}
			})
		}
		early.Wait()

		byHand := 0
		for _, c := range clerks { // one after the other
			byHand += c.replace(shopPort{p.Writer, adopting})
			p.must(sleep.For(ctx, 200*time.Millisecond))
		}
		if report, err := r.Adopt(ctx, adopting, reconcile.Writers(time.Now())); err != nil {
			p.Errorf("adopt: %v\n%v", err, report)
			if report != nil {
				p.Log(slices.Collect(report.Findings()))
			}
		}
		if report, err := r.Backfill(ctx, adopting, byUserAndStatus.Name, reconcile.Writers(time.Now())); err != nil {
			p.Errorf("backfill: %v\n%v", err, report)
		}
		adopted, all := ordersOf(byUserAndStatus), 0
		for _, c := range clerks {
			all += c.replace(shopPort{p.Writer, adopted})
		}
		p.must(sleep.For(ctx, 500*time.Millisecond))
		p.verify(adopted)
		stop()
		var want []string
		for _, c := range clerks {
			planted = slices.AppendSeq(planted, maps.Values(c.orders))
		}
		for _, o := range planted {
			want = append(want, fmt.Sprintf("address=%s order_id=%v status=%s total=%d user_id=%v",
				o.Address, o.OrderID, o.Status, o.Total, o.UserID))
		}
		slices.Sort(want)
		if got := p.rows("orders", "order_id, user_id, status, total, address"); !slices.Equal(got, want) {
			p.Errorf("the orders are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		p.ordersAgree(len(want))
		p.agree(len(want), orderColumns, "orders", byUserAndStatus.Name)
		p.Logf("%d operations by hand, %d by the library, %d orders", byHand, all-byHand, len(want))
		if byHand == 0 || all <= byHand {
			p.Error("nothing was written by hand, or by the library")
		}
	})
}
