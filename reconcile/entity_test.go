package reconcile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile"
)

// All rows of an entity are found where one of them leads to the others, though there is no base row, and each is
// handed out before it is removed.
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

// Entity finds what Repair of the set finds, and names the tables of which it has not looked under all keys.
func TestEntityFindsWhatRepairFinds(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, len(drifts)+4)
		planted := slices.Clone(x.orders)
		for i, d := range drifts {
			x.planted = x.orders[i]
			d.plant(x, x.orders[i])
			planted[i] = x.planted
		}
		agrees, ahead, expired, elsewhere := planted[len(drifts)], planted[len(drifts)+1], planted[len(drifts)+2], planted[len(drifts)+3]
		x.put("orders_by_id", paid(ahead), time.Now().Add(time.Hour).UnixMicro())
		x.exec("INSERT INTO orders_by_id (order_id,user_id,status,total,updated_at) VALUES (?,?,?,?,?) USING TIMESTAMP ? AND TTL 20",
			expired.OrderID, expired.UserID, "open", expired.Total, expired.UpdatedAt+9, expired.UpdatedAt+9)
		elsewhere.UserID = gocql.MustRandomUUID()
		x.put("orders_by_user", elsewhere, elsewhere.UpdatedAt-9)
		<-time.After(time.Minute)
		all, err := x.r.Repair(t.Context(), orders.Orders, reconcile.DryRun())
		if !errors.Is(err, reconcile.ErrDrift) {
			t.Fatal(err, all)
		}
		of := func(report *reconcile.Report, o orders.Order) (out []string) {
			for f := range report.Findings() {
				if strings.Contains(f.Key(), o.OrderID.String()) {
					out = append(out, fmt.Sprint(f.Class, f.Table, f.Key(), f.Certainty, f.Outcome, f.Reason))
				}
			}
			slices.Sort(out)
			return out
		}
		other := []string{"shop.orders_by_user, under other keys"}
		for i, o := range planted {
			given, want := o, of(all, o)
			if o.OrderID == elsewhere.OrderID {
				given = elsewhere
			}
			report, err := reconcile.Entity(t.Context(), x.r, orders.Orders, given, reconcile.DryRun())
			if got := of(report, o); !slices.Equal(got, want) || (err == nil) != (len(want) == 0) || len(want) == 0 != (o.OrderID == agrees.OrderID) {
				t.Errorf("order %d: %v, %q, and of all %q", i, err, got, want)
			}
			if report.InFlight != 0 || !slices.Equal(report.NotCompared, other) {
				t.Errorf("order %d: %v", i, report)
			}
		}
		for _, o := range []orders.Order{elsewhere, planted[4]} { // nothing names their keys
			report, err := reconcile.Entity(t.Context(), x.r, orders.Orders, orders.Order{OrderID: o.OrderID}, reconcile.DryRun())
			if err != nil || !slices.Equal(report.NotCompared, other) || !strings.Contains(report.String(), other[0]) {
				t.Errorf("%v\n%v", err, report)
			}
		}
		if len(all.NotCompared) > 0 {
			t.Error(all.NotCompared)
		}
	})
}

// A write in flight explains a difference only if there was one.
func TestEntityInFlight(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 1)
		o := x.orders[0]
		for want := range 2 {
			ended := time.After(time.Second)
			if want == 1 {
				x.differ(o)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				if <-ended; want == 1 { // the move reaches the last table
					x.put("orders_by_user", paid(o), o.UpdatedAt+9)
				}
			}()
			report, err := reconcile.Entity(t.Context(), x.r, orders.Orders, o, reconcile.DryRun())
			if err != nil || report.InFlight != want {
				t.Errorf("%v, want %d in flight\n%v", err, want, report)
			}
			<-done
		}
	})
}
