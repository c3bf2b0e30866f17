package reconcile_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile"
)

// A run that has read all is done, however long it takes to delete the findings of former runs.
func TestManyFindingsOfFormerRuns(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 20)
		x.Create(reconcile.StateSchema("shop"))
		for _, o := range x.orders {
			x.remove("orders_by_status", o, o.UpdatedAt-1)
			x.exec("DELETE total FROM orders_by_status USING TIMESTAMP ? WHERE status = ? AND order_id = ?", o.UpdatedAt, string(o.Status), o.OrderID)
		}
		r := x.storing()
		if _, err := r.Verify(t.Context(), orders.Orders); !errors.Is(err, reconcile.ErrDrift) {
			t.Fatal(err)
		}
		for _, o := range x.orders {
			x.put("orders_by_id", o, o.UpdatedAt+9)
			x.put("orders_by_user", o, o.UpdatedAt+9)
			x.put("orders_by_status", o, o.UpdatedAt+9)
		}
		<-time.After(time.Hour)
		x.When(cassandratest.Execute, cassandratest.Table("denorm_finding"), cassandratest.Text("DELETE")).
			Do(cassandratest.Delay(4*time.Second), cassandratest.Apply)
		if _, err := r.Verify(t.Context(), orders.Orders); err != nil {
			t.Fatal(err)
		}
		runs, err := r.Runs(t.Context())
		if err != nil || len(runs) != 2 || runs[0].State != "done" {
			t.Errorf("%v: %+v", err, runs)
		}
		var left int
		if err := x.s.Reads().Query("SELECT count(*) FROM denorm_finding").Scan(&left); err != nil || left > 0 {
			t.Errorf("%d findings are left: %v", left, err)
		}
	})
}

// What was deleted while a run was paused is not sent again, although the run has read the base row before: the
// tombstone may be purged, which the in-process Cassandra does not do.
func TestDeletedWhilePaused(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 2)
		x.Create(reconcile.StateSchema("shop"))
		o := x.orders[0]
		for _, table := range []string{"orders_by_user", "orders_by_status"} {
			x.remove(table, o, o.UpdatedAt) // shadows it; the put below shows through
		}
		x.put("orders_by_id", o, o.UpdatedAt+9)
		<-time.After(time.Hour)
		r, err := reconcile.New(x.s, reconcile.Settle(30*time.Second), reconcile.State("shop"))
		if err != nil {
			t.Fatal(err)
		}
		var looks atomic.Int32
		second := make(chan struct{})
		x.When(cassandratest.Execute, cassandratest.Table("orders_by_id"), cassandratest.Where(func(q cassandratest.Request) bool {
			look := len(q.Statements) == 1 && strings.HasPrefix(q.Statements[0].Text, "SELECT") && strings.HasSuffix(q.Statements[0].Text, "order_id = ?")
			if !look || looks.Add(1) != 2 {
				return false
			}
			close(second)
			return true
		})).Do(cassandratest.Apply, cassandratest.Delay(10*time.Second))
		paused := make(chan error, 1)
		go func() {
			<-second
			runs, err := r.Runs(t.Context())
			if err == nil && len(runs) == 1 {
				err = r.Pause(t.Context(), runs[0].Run)
			}
			<-time.After(time.Minute)
			x.remove("orders_by_id", o, o.UpdatedAt+10)
			x.remove("orders_by_user", o, o.UpdatedAt+10)
			x.remove("orders_by_status", o, o.UpdatedAt+10)
			<-time.After(time.Hour)
			if err == nil {
				err = r.Continue(t.Context(), runs[0].Run)
			}
			paused <- err
		}()
		report, err := r.Repair(t.Context(), orders.Orders)
		if err != nil || report.InFlight != 1 {
			t.Errorf("%v\n%v", err, report)
		}
		if err := <-paused; err != nil {
			t.Fatal(err)
		}
		sent := len(c.Journal(cassandratest.Table("orders_by_user", "orders_by_status"), cassandratest.Where(func(q cassandratest.Request) bool {
			return q.Kind == cassandratest.Execute && !isRead(q) && q.At.After(report.Began)
		})))
		if sent > 2 {
			t.Errorf("besides the two deletes of the test, %d writes were sent", sent-2)
		}
	})
}
