package main

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/reconcile"
)

var orderTables = []struct {
	name, token string
	dated       []string // columns that are not in the key
}{
	{"orders_by_id", "order_id", []string{"user_id", "status", "total", "updated_at"}},
	{"orders_by_user", "user_id", []string{"status", "total", "updated_at"}},
	{"orders_by_status", "status", []string{"user_id", "total", "updated_at"}},
}

const (
	inFlight     = 8 // requests of readers of all tables
	rangesByHand = 256
	lookupRounds = 3
)

// runScan compares Verify with a scan by hand.
func (b *reconcileBench) runScan(ctx context.Context, p *place) (string, error) {
	r, err := reconcile.New(p.admin, reconcile.InFlight(inFlight), reconcile.Target(time.Minute))
	if err != nil {
		return "", err
	}
	all := b.orders * len(orderTables)
	list := []*rowReader{
		{name: "scan by hand", rounds: b.rounds, want: all, read: byHandReader(p.admin.Reads(), false)},
		{name: "scan by hand, with WRITETIMEs and TTL", rounds: b.rounds, want: all, read: byHandReader(p.admin.Reads(), true)},
		{name: "Verify", rounds: b.rounds, want: all, read: whole(verify(r))},
		{name: "Repair, DryRun", rounds: b.rounds, want: all, read: whole(repair(r), reconcile.DryRun())},
		{name: "Verify, Lookup", rounds: min(b.rounds-1, lookupRounds), read: func(ctx context.Context) (int, error) {
			return b.limited(ctx, verify(r))
		}},
	}
	if err := b.takeTurns(ctx, list); err != nil {
		return "", err
	}
	return b.scanSection(list), nil
}

// whole gives how many rows a run reads.
func whole(run reconcileRun, options ...reconcile.Option) func(context.Context) (int, error) {
	return func(ctx context.Context) (rows int, _ error) {
		report, err := run(ctx, options...)
		if err != nil {
			return 0, err
		}
		for _, t := range report.Tables {
			rows += t.Rows
		}
		return rows, nil
	}
}

// limited gives how many rows a run reads until the limit, looking them up one by one.
func (b *reconcileBench) limited(ctx context.Context, run reconcileRun) (rows int, _ error) {
	ctx, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	_, err := run(ctx, reconcile.Lookup(), reconcile.OnProgress(func(p reconcile.Progress) { rows = p.Rows }))
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return rows, err
}

// byHandRange is the WHERE of a range of tokens, with its limits.
func byHandRange(token string, i int) (where string, low, high int64) {
	const width = math.MaxUint64/rangesByHand + 1
	low = int64(math.MinInt64) + int64(uint64(i)*width)
	high = low + width
	if i == rangesByHand-1 {
		high = math.MaxInt64
	}
	key := "token(" + token + ")"
	return " WHERE " + key + " > ? AND " + key + " <= ?", low, high
}

// byHandReader is the scan that a service would write: ranges of tokens, some at a time, with the paging of the driver.
func byHandReader(session *gocql.Session, dated bool) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		var rows atomic.Int64
		err := parallel.Do(inFlight, len(orderTables)*rangesByHand, func(i int) error {
			t := orderTables[i/rangesByHand]
			columns := []string{"order_id, user_id, status, total, updated_at"}
			var o orders.Order
			var ttl int
			dest := []any{&o.OrderID, &o.UserID, &o.Status, &o.Total, &o.UpdatedAt}
			if dated {
				times := make([]int64, len(t.dated))
				for n, name := range t.dated {
					columns = append(columns, "WRITETIME("+name+")")
					dest = append(dest, &times[n])
				}
				columns = append(columns, "TTL("+t.dated[0]+")")
				dest = append(dest, &ttl)
			}
			where, low, high := byHandRange(t.token, i%rangesByHand)
			iter := session.Query("SELECT "+strings.Join(columns, ", ")+" FROM "+t.name+where, low, high).WithContext(ctx).Iter()
			n := 0
			for iter.Scan(dest...) {
				n++
			}
			rows.Add(int64(n))
			return iter.Close()
		})
		return int(rows.Load()), err
	}
}
