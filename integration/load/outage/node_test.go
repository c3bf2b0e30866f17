//go:build faults

package outage_test

import (
	"context"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/testutil/shop"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/writer"
)

func newWriter(t *testing.T, writes, reads *gocql.Session) *writer.Writer {
	t.Helper()
	w, err := writer.New(testsession.New(t, writes, reads), writer.Timeout(10*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// One node of three falls silent under a steady load of createOrder, alongside the same with the driver's host policy.
// The figures are reported; what is compared with the policy is how often it still has to ask twice once it should
// know.
func TestNodeSilent(t *testing.T) {
	cluster.Alone(t)
	connect := open(t)
	create := func(w *writer.Writer) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			result, err := w.Write(ctx, "createOrder", orders.Orders.Insert(shop.NewOrder()))
			return result.Attempts, err
		}
	}
	ours := &contender{name: "denorm", write: create(newWriter(t, connect(), connect()))}
	theirs := &contender{name: "with gocql's policy", write: create(newWriter(t, connect(driversPolicy), connect()))}
	node, f := cluster.Nodes(t)[1], length()
	endure(t, f, node.Pause, node.Continue, ours, theirs)
	again := func(c *contender) int {
		again := 0
		for _, w := range c.writes {
			if second := int(w.at / time.Second); second >= f.begin+5 && second < f.end {
				again += w.attempts - 3
			}
		}
		return again
	}
	t.Logf("second attempts from 5 s after the begin: denorm %d, with gocql's policy %d", again(ours), again(theirs))
	if again(ours) > 30 && again(ours) > again(theirs)/4 { // what a busy machine adds, it adds to both
		t.Errorf("%d attempts were made again, %d with gocql's policy", again(ours), again(theirs))
	}
	ours.failures(t)
}

// One node of three is killed, and started again, under a steady load of creates and status changes: no write fails,
// nor any of those that are sent in groups. The figures of a logged batch by hand stand alongside.
func TestNodeKilled(t *testing.T) {
	cluster.Alone(t)
	connect := open(t)
	w := newWriter(t, connect(), connect())
	createAndPay := func(w *writer.Writer) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			o := shop.NewOrder()
			created, err := w.Write(ctx, "createOrder", orders.Orders.Insert(o))
			if err != nil {
				return created.Attempts, err
			}
			o.UpdatedAt = created.Timestamp
			paid := o
			paid.Status = orders.Paid
			changed, err := w.Write(ctx, "payOrder", orders.Orders.Update(o, paid))
			return created.Attempts + changed.Attempts, err
		}
	}
	ours := &contender{name: "denorm", write: createAndPay(w)}
	grouped := &contender{name: "in groups", write: createAndPay(w.With(writer.Concurrent(), writer.Group(4<<10)))}
	byHand := connect(driversPolicy)
	theirs := &contender{name: "logged batches by hand", write: func(ctx context.Context) (int, error) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		o := shop.NewOrder()
		if err := byHand.ExecuteBatch(batch(ctx, byHand, o, o.Status)); err != nil {
			return 1, err
		}
		paid := o
		paid.Status = orders.Paid
		return 2, byHand.ExecuteBatch(batch(ctx, byHand, paid, o.Status))
	}}
	node, f := cluster.Nodes(t)[1], length()
	endure(t, f, node.Kill, node.Start, ours, grouped, theirs)
	ours.failures(t)
	grouped.failures(t)
}

// batch writes an order that was in status before, as a service does that knows nothing of concurrent movers.
func batch(ctx context.Context, session *gocql.Session, o orders.Order, before orders.Status) *gocql.Batch {
	b := session.NewBatch(gocql.LoggedBatch).WithContext(ctx).WithTimestamp(time.Now().UnixMicro())
	for _, table := range []string{"orders_by_id", "orders_by_user", "orders_by_status"} {
		b.Query(`INSERT INTO `+table+` (order_id, user_id, status, total, updated_at) VALUES (?, ?, ?, ?, ?)`,
			o.OrderID, o.UserID, o.Status, o.Total, time.Now().UnixMicro())
	}
	if before != o.Status {
		b.Query(`DELETE FROM orders_by_status WHERE status = ? AND order_id = ?`, before, o.OrderID)
	}
	return b
}
