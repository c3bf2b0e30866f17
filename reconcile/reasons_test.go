package reconcile_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile"
)

// An entity is left as a whole if its ghost cannot be removed, and what else differs of it says that this is why.
func TestReasonsOfAnEntityWithAGhost(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 1)
		x.put("orders_by_id", paid(x.orders[0]), x.orders[0].UpdatedAt+9)
		report, err := x.r.Repair(t.Context(), orders.Orders)
		if !errors.Is(err, reconcile.ErrDrift) {
			t.Fatal(err)
		}
		const because = "not repaired, because the ghost of the same entity in shop.orders_by_status is left: rows are removed only if they are handed out"
		want := map[reconcile.Class]string{reconcile.Missing: because, reconcile.Differing: because, reconcile.Ghost: "rows are removed only if they are handed out"}
		for f := range report.Findings() {
			if !strings.HasPrefix(f.Reason, want[f.Class]) || want[f.Class] == "" {
				t.Errorf("%s", f)
			}
			delete(want, f.Class)
		}
		if len(want) > 0 {
			t.Errorf("not found: %v", want)
		}
		if _, err = x.r.Repair(t.Context(), orders.Orders, handed); err != nil {
			t.Error(err)
		}
	})
}

// A repair that MaxRemovals ends says of each finding whether it was tried, and of none that a context was cancelled.
func TestReasonsOfARunThatHasStopped(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 20)
		for _, o := range x.orders {
			x.put("orders_by_status", paid(o), o.UpdatedAt-9)
		}
		var reads atomic.Int64
		c.When(cassandratest.Table("orders_by_id"), cassandratest.Where(func(r cassandratest.Request) bool {
			return r.Consistency == gocql.All && reads.Add(1) > 5 // these have not been answered when the run ends
		})).Do(cassandratest.Delay(2 * time.Second))
		report, err := x.r.Repair(t.Context(), orders.Orders, handed, reconcile.MaxRemovals(2))
		if !errors.Is(err, reconcile.ErrTooMuch) {
			t.Errorf("%v\n%v", err, report)
		}
		stopped := 0
		for f := range report.Findings() {
			if strings.Contains(f.String(), "context canceled") {
				t.Errorf("%s", f)
			}
			if f.Outcome == reconcile.Found && f.Reason == "not attempted: the run had stopped" {
				stopped++
			}
		}
		if stopped == 0 {
			t.Errorf("no finding says that the run had stopped\n%v", report)
		}
	})
}
