//go:build faults

package outage_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/internal/testutil/shop"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/writer"
)

// outcomes are what the writes of a contender said of each table.
type outcomes struct {
	contender

	mu     sync.Mutex
	orders []created
	failed int
	tables map[writer.Outcome]int // of the writes that failed
}

// created is an order whose insert was answered.
type created struct {
	row    orders.Order
	at     time.Time // when it was sent
	err    error
	tables map[string]writer.Outcome // nil: all are Applied
}

func creates(name string, w *writer.Writer) *outcomes {
	o := &outcomes{tables: make(map[writer.Outcome]int)}
	o.name = name
	o.write = func(ctx context.Context) (int, error) {
		c := created{row: shop.NewOrder(), at: time.Now()}
		result, err := w.Write(ctx, "createOrder", orders.Orders.Insert(c.row))
		c.err = err
		o.mu.Lock()
		defer o.mu.Unlock()
		if failed := (*writer.Error)(nil); errors.As(err, &failed) {
			o.failed++
			c.tables = make(map[string]writer.Outcome)
			for _, t := range failed.Tables {
				c.tables[t.Table] = t.Outcome
				o.tables[t.Outcome]++
			}
		}
		o.orders = append(o.orders, c)
		return result.Attempts, err
	}
	return o
}

// Two nodes are killed while orders are created, by single requests and by groups, so that writes fail. No table that
// was said to be NotApplied has the row afterwards, and each that was Applied has it. How many tables are Unknown is
// reported: this is what groups cost.
func TestNodesLost(t *testing.T) {
	cluster.Alone(t)
	connect := open(t)
	w, err := writer.New(testsession.New(t, connect(), connect()), writer.Timeout(2*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	single, grouped := creates("fan-out", w), creates("groups", w.With(writer.Group(4<<10)))
	nodes, f := cluster.Nodes(t), length()
	f.end, f.stop = max(f.end, f.begin+25), max(f.stop, f.begin+28) // the last node takes seconds to know that the others are down
	endure(t, f, func(ctx context.Context) error {
		return errors.Join(nodes[1].Kill(ctx), nodes[2].Kill(ctx))
	}, func(ctx context.Context) error {
		return errors.Join(nodes[1].Start(ctx), nodes[2].Start(ctx))
	}, &single.contender, &grouped.contender)
	if err := cluster.Whole(t.Context(), nodes); err != nil {
		t.Fatal(err)
	}
	reads := connect(func(c *gocql.ClusterConfig) { c.Consistency, c.Timeout = gocql.All, time.Minute })
	for _, o := range []*outcomes{single, grouped} {
		t.Logf("%s: %d writes, %d failed; tables of these: %d Applied, %d NotApplied, %d Unknown", o.name, len(o.orders), o.failed,
			o.tables[writer.Applied], o.tables[writer.NotApplied], o.tables[writer.Unknown])
		if o.failed == 0 || o.failed == len(o.orders) {
			t.Errorf("%s: %d of %d writes failed: this load is of no use", o.name, o.failed, len(o.orders))
		}
		for _, c := range o.orders {
			if err := c.check(t.Context(), reads); err != nil {
				t.Errorf("%s: %v", o.name, err)
			}
		}
	}
}

// check compares what is in the tables with what was said of them.
func (c created) check(ctx context.Context, reads *gocql.Session) error {
	for _, q := range []struct {
		table, where string
		key          []any
	}{
		{"orders_by_id", "order_id = ?", []any{c.row.OrderID}},
		{"orders_by_user", "user_id = ? AND order_id = ?", []any{c.row.UserID, c.row.OrderID}},
		{"orders_by_status", "status = ? AND order_id = ?", []any{c.row.Status, c.row.OrderID}},
	} {
		outcome := writer.Applied
		if c.tables != nil {
			outcome = c.tables[q.table]
		}
		if outcome == writer.Unknown {
			continue
		}
		rows, err := count(ctx, reads, `SELECT count(*) FROM `+q.table+` WHERE `+q.where, q.key...)
		if err != nil {
			return err
		}
		if (rows == 1) != (outcome == writer.Applied) {
			return fmt.Errorf("%s is %v of order %v, sent at %s, and has %d rows: %w", q.table, outcome, c.row.OrderID, c.at.Format(time.TimeOnly), rows, c.err)
		}
	}
	return nil
}

// count reads until all nodes answer: one that has just started may be taken for down again for a moment.
func count(ctx context.Context, reads *gocql.Session, text string, key ...any) (rows int, err error) {
	for range 120 {
		if err = reads.Query(text, key...).WithContext(ctx).Scan(&rows); err == nil {
			return rows, nil
		}
		<-time.After(500 * time.Millisecond)
	}
	return 0, err
}
