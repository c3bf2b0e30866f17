package main

import (
	"context"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
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
	ordersPerBatch = 10
	rangesByHand   = 256
)

// load creates the orders, in all statuses, with one timestamp in all tables.
func (b *reconcileBench) load(ctx context.Context, p *place) error {
	begin := time.Now()
	var done atomic.Int64
	session := p.admin.Writes()
	return share(inFlight, (b.orders+ordersPerBatch-1)/ordersPerBatch, func(i int) error {
		at := time.Now().Add(-time.Hour).UnixMicro()
		batch := session.NewBatch(gocql.UnloggedBatch).RetryPolicy(&gocql.SimpleRetryPolicy{NumRetries: 20}).WithTimestamp(at).WithContext(ctx)
		for n := i * ordersPerBatch; n < min(b.orders, (i+1)*ordersPerBatch); n++ {
			o := orders.New(gocql.MustRandomUUID(), inf.NewDec(int64(n), 2))
			o.Status, o.UpdatedAt = orders.Statuses[n%len(orders.Statuses)], at
			for _, statement := range statements {
				batch.Entries = append(batch.Entries, gocql.BatchEntry{
					Stmt: statement, Args: []any{o.OrderID, o.UserID, o.Status, o.Total, o.UpdatedAt}, Idempotent: true,
				})
			}
		}
		if n := done.Add(ordersPerBatch); n%20_000 == 0 {
			progress("%d orders after %.0f s", n, time.Since(begin).Seconds())
		}
		return session.ExecuteBatch(batch)
	})
}

// byHandReader is the scan that a service would write: ranges of tokens, some at a time, with the paging of the driver.
func byHandReader(session *gocql.Session, dated bool) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		var rows atomic.Int64
		err := share(inFlight, len(orderTables)*rangesByHand, func(i int) error {
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
			const width = math.MaxUint64/rangesByHand + 1
			low := int64(math.MinInt64) + int64(uint64(i%rangesByHand)*width)
			high := low + width
			if i%rangesByHand == rangesByHand-1 {
				high = math.MaxInt64
			}
			key := "token(" + t.token + ")"
			statement := "SELECT " + strings.Join(columns, ", ") + " FROM " + t.name + " WHERE " + key + " > ? AND " + key + " <= ?"
			iter := session.Query(statement, low, high).WithContext(ctx).Iter()
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
