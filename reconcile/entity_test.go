package reconcile_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile"
)

// All rows of an entity are found where one of them leads to the others, though there is no base row, and each is handed out before it is
// removed.
func TestEntity(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 2)
		o := x.orders[0]
		x.remove("orders_by_id", o, o.UpdatedAt+9)
		<-time.After(time.Minute)
		var removed atomic.Int32
		report, err := reconcile.Entity(t.Context(), x.r, orders.Orders, orders.Order{OrderID: o.OrderID},
			reconcile.OnRemoval(func(reconcile.Removal) error { removed.Add(1); return nil }))
		if err != nil {
			t.Fatal(err)
		}
		if found := slices.Collect(report.Findings()); len(found) != 2 || found[0].Outcome != reconcile.Repaired || removed.Load() != 2 {
			t.Errorf("%v, %d removed", found, removed.Load())
		}
		if rows := x.rows(o); len(rows) > 0 {
			t.Error(rows)
		}
		if rows := x.rows(x.orders[1]); len(rows) != 3 {
			t.Errorf("another order: %v", rows)
		}
	})
}
