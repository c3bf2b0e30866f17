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

// storing is a Reconciler that stores its runs.
func (x *world) storing(options ...reconcile.Option) *reconcile.Reconciler {
	x.t.Helper()
	r, err := reconcile.New(x.s, append([]reconcile.Option{reconcile.Settle(30 * time.Second), reconcile.State("shop"), reconcile.Lookup()}, options...)...)
	if err != nil {
		x.t.Fatal(err)
	}
	return r
}

// soon makes the tables forget what was deleted after four hours, so that a finding is proven after two.
func (x *world) soon() {
	x.t.Helper()
	x.Create(reconcile.StateSchema("shop"))
	for _, table := range []string{"orders_by_id", "orders_by_user", "orders_by_status"} {
		x.exec("ALTER TABLE " + table + " WITH gc_grace_seconds = 14400")
	}
}

// What nothing can prove is removed when an earlier run has seen it so long ago that nothing of it can still be
// delivered.
func TestFirstSightingsOutliveRuns(t *testing.T) {
	t.Parallel()
	for _, stored := range []bool{false, true} {
		cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
			x := newWorld(t, c, 2)
			x.soon()
			o := x.orders[0]
			x.remove("orders_by_id", o, o.UpdatedAt+9)
			<-time.After(4 * time.Hour) // too old to be put into the base table again
			r := x.r
			if stored {
				r = x.storing()
			}
			var removed atomic.Int32
			repair := func() reconcile.Finding {
				t.Helper()
				report, err := r.Repair(t.Context(), orders.Orders, reconcile.MaxRemovals(2),
					reconcile.OnRemoval(func(reconcile.Removal) error { removed.Add(1); return nil }))
				if err != nil && !errors.Is(err, reconcile.ErrDrift) {
					t.Fatal(err)
				}
				for f := range report.Findings() {
					return f
				}
				return reconcile.Finding{}
			}
			f := repair()
			how := "repair with State (--state) now, and with OnRemoval (--removed) and MaxRemovals (--max-removals) after that time, which removes it"
			if stored {
				how = f.FirstSeen.Add(2*time.Hour).UTC().Format(time.RFC3339) + ": a repair after that time, with OnRemoval (--removed) and MaxRemovals (--max-removals), removes it"
			}
			if f.Outcome != reconcile.Found || f.Certainty != reconcile.Settled || !strings.Contains(f.Reason, "purged") || !strings.Contains(f.Reason, how) {
				t.Errorf("stored %t: %v", stored, f)
			}
			<-time.After(time.Until(f.FirstSeen.Add(2*time.Hour + time.Second)))
			f = repair()
			if !stored && (f.Outcome != reconcile.Found || len(x.rows(o)) == 0) {
				t.Errorf("%v, though nobody knows for how long", f)
			}
			if stored && (f.Outcome != reconcile.Repaired || f.Certainty != reconcile.Proven || removed.Load() != 2 || len(x.rows(o)) > 0) {
				t.Errorf("%v, %d removed, left %v", f, removed.Load(), x.rows(o))
			}
		})
	}
}

// An entity that is created again while a repair removes what a former one has left keeps its rows.
func TestCreateUnderRepair(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 3)
		x.soon()
		r, o := x.storing(), x.orders[0]
		x.remove("orders_by_id", o, o.UpdatedAt+9)
		<-time.After(time.Minute)
		if _, err := r.Verify(t.Context(), orders.Orders); !errors.Is(err, reconcile.ErrDrift) {
			t.Fatal(err)
		}
		<-time.After(3 * time.Hour)
		began := make(chan struct{}, 100)
		x.When(cassandratest.Execute, cassandratest.Table("orders_by_id"), cassandratest.Where(func(q cassandratest.Request) bool {
			all := q.Consistency == gocql.All
			if all {
				select {
				case began <- struct{}{}:
				default:
				}
			}
			return all
		})).Do(cassandratest.Delay(2*time.Second), cassandratest.Apply)
		var at int64
		created, again := make(chan struct{}), paid(o)
		go func() {
			defer close(created)
			<-began
			at = time.Now().UnixMicro() // its first statement arrives
			x.put("orders_by_status", again, at)
		}()
		if report, err := r.Repair(t.Context(), orders.Orders, reconcile.MaxRemovals(100),
			reconcile.OnRemoval(func(reconcile.Removal) error { return nil })); report == nil {
			t.Fatal(err)
		}
		<-created
		for _, table := range []string{"orders_by_id", "orders_by_user", "orders_by_status"} { // and then all of it
			x.put(table, again, at)
		}
		if rows := x.rows(again); len(rows) != 3 {
			t.Errorf("of an order that was created again there is %v", rows)
		}
	})
}

// A run is paused, continued and stopped by another process, and no second one runs meanwhile.
func TestSteeredRun(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 3)
		x.Create(reconcile.StateSchema("shop"))
		other := x.storing()
		ended := make(chan error, 1)
		start := func(options ...reconcile.Option) {
			go func() {
				_, err := x.storing(reconcile.Rate(10)).Verify(t.Context(), orders.Orders, options...)
				ended <- err
			}()
			<-time.After(20 * time.Second)
		}
		check := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		sent := func(d time.Duration) int {
			of := cassandratest.Table("orders_by_id", "orders_by_user", "orders_by_status")
			before := len(c.Journal(cassandratest.Execute, of))
			<-time.After(d)
			return len(c.Journal(cassandratest.Execute, of)) - before
		}
		start()
		runs, err := other.Runs(t.Context())
		check(err)
		if len(runs) != 1 {
			t.Fatalf("%+v", runs)
		}
		run := runs[0].Run
		if _, err := other.Verify(t.Context(), orders.Orders); !errors.Is(err, reconcile.ErrRunning) {
			t.Errorf("a second run: %v", err)
		}
		check(other.Pause(t.Context(), run))
		<-time.After(30 * time.Second) // until it has heard of it, and what waited for its turn is done
		if n := sent(2 * time.Minute); n > 0 {
			t.Errorf("paused, it sends %d requests", n)
		}
		check(other.Continue(t.Context(), run))
		<-time.After(10 * time.Second)
		if n := sent(10 * time.Second); n < 50 {
			t.Errorf("continued, it sends %d requests in ten seconds", n)
		}
		check(other.Stop(t.Context(), run))
		if err := <-ended; !errors.Is(err, reconcile.ErrStopped) {
			t.Errorf("stopped: %v", err)
		}
		start(reconcile.Resume(run))
		check(other.SetRate(t.Context(), run, 1000))
		if err := <-ended; err != nil {
			t.Errorf("resumed: %v", err)
		}
		if runs, err = other.Runs(t.Context()); err != nil || len(runs) != 1 || runs[0].Done != runs[0].Ranges {
			t.Errorf("%v, %+v", err, runs)
		}
	})
}
