package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/integration/load/drift"
	"github.com/denorm-go/denorm/reconcile"
)

// judged is what was counted of a contender next to the service.
type judged struct {
	name                        string
	rows, writes, alarms, wrong int
}

// runDiff counts false alarms and acknowledged writes undone, of the library and of the job that services write. Nothing was planted.
func (b *reconcileBench) runDiff(ctx context.Context, p *place) (string, error) {
	r, err := reconcile.New(p.admin, reconcile.Settle(b.settle))
	if err != nil {
		return "", err
	}
	if _, err := backfill(r)(ctx); err != nil { // what a part before has left
		return "", err
	}
	s := b.shop
	job := &diffJob{reads: p.admin.Reads(), writes: p.admin.Writes()}
	var out []judged
	for _, c := range []struct {
		name string
		run  func(context.Context) (rows, alarms int, err error)
	}{
		{"Verify", func(ctx context.Context) (int, int, error) { return judge(ctx, s, verify(r)) }},
		{"Repair", func(ctx context.Context) (int, int, error) { return judge(ctx, s, repair(r)) }},
		{"the job by hand, looking only", func(ctx context.Context) (int, int, error) { return job.run(ctx, b.limit, false) }},
		{"the job by hand, repairing", func(ctx context.Context) (int, int, error) { return job.run(ctx, b.limit, true) }},
	} {
		before, closeShop := s.writes, s.open(ctx, b.rate)
		rows, alarms, err := c.run(ctx)
		closeShop()
		if err != nil {
			return "", fmt.Errorf("%s: %w", c.name, err)
		}
		wrong, err := s.wrong(ctx, p.admin)
		if err != nil {
			return "", err
		}
		out = append(out, judged{c.name, rows, s.writes - before, alarms, wrong})
		progress("%s: %d rows, %d writes, %d alarms, %d wrong, %d not acknowledged", c.name, rows, s.writes-before, alarms, wrong, len(s.unknown))
	}
	return b.diffSection(out, len(s.unknown)), nil
}

// judge counts the findings of a run that are about writes that were acknowledged.
func judge(ctx context.Context, s *shop, run reconcileRun) (rows, alarms int, _ error) {
	report, err := run(ctx, reconcile.OnProgress(func(p reconcile.Progress) { rows = p.Rows }))
	if report == nil || err != nil && !errors.Is(err, reconcile.ErrDrift) {
		return 0, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := range report.Findings() {
		key, known := f.Key(), false
		for id := range s.unknown {
			known = known || strings.Contains(key, id.String())
		}
		if !known {
			alarms++
			progress("a false alarm: %v", f)
		}
	}
	return rows, alarms, nil
}

// diffJob is the job that services write: it reads each table, looks each row up in the others, and decides from that one look. What differs
// it puts right at the time of now.
type diffJob struct {
	reads, writes *gocql.Session
	repairs       bool
	rows, alarms  atomic.Int64
}

const jobInFlight = 32

func (d *diffJob) run(ctx context.Context, limit time.Duration, repairs bool) (rows, alarms int, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	d.repairs = repairs
	d.rows.Store(0)
	d.alarms.Store(0)
	err = parallel.Do(inFlight, len(orderTables)*rangesByHand, func(i int) error {
		t := orderTables[i%len(orderTables)]
		where, low, high := byHandRange(t.token, i/len(orderTables))
		iter := d.query(ctx, d.reads, "SELECT order_id, user_id, status, total, updated_at FROM "+t.name+where, low, high).PageSize(1000).Iter()
		var page []orders.Order
		var o orders.Order
		for iter.Scan(&o.OrderID, &o.UserID, &o.Status, &o.Total, &o.UpdatedAt) {
			page = append(page, o)
			if o = (orders.Order{}); iter.WillSwitchPage() {
				if err := d.check(ctx, t.name, page); err != nil {
					return errors.Join(err, iter.Close())
				}
				page = page[:0]
			}
		}
		return errors.Join(d.check(ctx, t.name, page), iter.Close())
	})
	if ctx.Err() != nil {
		err = nil
	}
	return int(d.rows.Load()), int(d.alarms.Load()), err
}

// query is a request that is repeated where it has timed out.
func (d *diffJob) query(ctx context.Context, on *gocql.Session, statement string, args ...any) *gocql.Query {
	return on.Query(statement, args...).Idempotent(true).RetryPolicy(&gocql.SimpleRetryPolicy{NumRetries: 20}).WithContext(ctx)
}

func (d *diffJob) check(ctx context.Context, table string, page []orders.Order) error {
	return parallel.Do(jobInFlight/inFlight, len(page), func(i int) error {
		d.rows.Add(1)
		if table == drift.Tables[0] {
			return errors.Join(d.compare(ctx, drift.Tables[1], page[i]), d.compare(ctx, drift.Tables[2], page[i]))
		}
		return d.confirm(ctx, table, page[i])
	})
}

// compare looks for the row that a query table should have, and puts it.
func (d *diffJob) compare(ctx context.Context, table string, base orders.Order) error {
	have, err := d.read(ctx, table, base)
	if err != nil || have != nil && drift.Digest(*have) == drift.Digest(base) {
		return err
	}
	d.alarms.Add(1)
	if !d.repairs {
		return nil
	}
	return d.query(ctx, d.writes, "INSERT INTO "+table+" (order_id, user_id, status, total, updated_at) VALUES (?, ?, ?, ?, ?)",
		base.OrderID, base.UserID, base.Status, base.Total, base.UpdatedAt).Exec()
}

// confirm looks for the base row of a row, and removes the row if there is none, or it names another key.
func (d *diffJob) confirm(ctx context.Context, table string, row orders.Order) error {
	base, err := d.read(ctx, drift.Tables[0], row)
	if err != nil || base != nil && base.UserID == row.UserID && (base.Status == row.Status || table != drift.Tables[2]) {
		return err // other columns are compared from the base row's side
	}
	d.alarms.Add(1)
	if !d.repairs {
		return nil
	}
	where, key := drift.Row(table, row)
	return d.query(ctx, d.writes, "DELETE FROM "+table+" WHERE "+where, key...).Exec()
}

// read reads the row of a table that an order should have there, nil if there is none.
func (d *diffJob) read(ctx context.Context, table string, of orders.Order) (*orders.Order, error) {
	where, key := drift.Row(table, of)
	var o orders.Order
	err := d.query(ctx, d.reads, "SELECT order_id, user_id, status, total, updated_at FROM "+table+" WHERE "+where, key...).
		Scan(&o.OrderID, &o.UserID, &o.Status, &o.Total, &o.UpdatedAt)
	if errors.Is(err, gocql.ErrNotFound) {
		return nil, nil //nolint:nilnil // no row is no error
	}
	return &o, err
}
