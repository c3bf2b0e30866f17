package reconcile_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile"
)

// replica is a process of a service that watches orders.
type replica struct {
	cancel context.CancelFunc
	passes chan pass
	ended  chan error
}

type pass struct {
	report *reconcile.Report
	err    error
}

const period = 2 * time.Hour

func (x *world) watch(options ...reconcile.Option) *replica {
	ctx, cancel := context.WithCancel(x.t.Context())
	p := &replica{cancel, make(chan pass, 100), make(chan error, 1)}
	go func() {
		p.ended <- x.r.Watch(ctx, orders.Orders, append(options, reconcile.Every(period),
			reconcile.OnReport(func(r *reconcile.Report, err error) { p.passes <- pass{r, err} }))...)
	}()
	x.t.Cleanup(cancel)
	return p
}

// next is what the next pass has found.
func (p *replica) next(t *testing.T) pass {
	t.Helper()
	select {
	case got := <-p.passes:
		return got
	case <-time.After(3 * period):
		t.Fatal("no pass has ended")
		return pass{}
	}
}

func (x *world) stored() []reconcile.RunInfo {
	x.t.Helper()
	runs, err := x.storing().Runs(x.t.Context())
	if err != nil {
		x.t.Fatal(err)
	}
	return runs
}

// One of two replicas works, at a pace that lasts for the period. When it is canceled, the other one continues its
// pass, finds what comes to disagree between two passes, and goes on after a pass that has failed.
func TestWatch(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 10)
		x.Create(reconcile.StateSchema("shop"))
		began := time.Now()
		first := x.watch(reconcile.State("shop"))
		<-time.After(time.Minute)
		second := x.watch(reconcile.State("shop"))
		<-time.After(period/2 - time.Minute)
		runs := x.stored()
		if len(runs) != 1 || runs[0].State != "running" || runs[0].Kind != "watch" || runs[0].Done < 370 || runs[0].Done > 390 || runs[0].Ranges != 768 {
			t.Fatalf("half of the period has passed: %+v", runs)
		}
		first.cancel()
		if err := <-first.ended; !errors.Is(err, context.Canceled) || len(first.passes) > 0 {
			t.Errorf("%v, %d passes", err, len(first.passes))
		}
		one := second.next(t)
		lasted := time.Since(began)
		if one.err != nil || one.report.Run != runs[0].Run || one.report.Tables[2].Rows != 10 || lasted < period || lasted > period+period/10 {
			t.Errorf("taken over: %v after %s\n%v", one.err, lasted, one.report)
		}

		x.differ(x.orders[0])
		two := second.next(t)
		found := slices.Collect(two.report.Findings())
		if !errors.Is(two.err, reconcile.ErrDrift) || len(found) != 1 || !strings.Contains(found[0].Key(), x.orders[0].OrderID.String()) {
			t.Errorf("%v\n%v", two.err, two.report)
		}
		if since := two.report.Began.Sub(one.report.Began); since < period-time.Second || since > period+period/10 {
			t.Errorf("the second pass began %s after the first", since)
		}

		x.put("orders_by_user", paid(x.orders[0]), x.orders[0].UpdatedAt+9)
		rule := c.When(cassandratest.Execute, cassandratest.Table("orders_by_status")).Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeInvalid)))
		three := second.next(t)
		rule.End()
		if !errors.Is(three.err, reconcile.ErrIncomplete) {
			t.Errorf("%v\n%v", three.err, three.report)
		}
		again := second.next(t)
		if again.err != nil || again.report.Run != three.report.Run || again.report.Tables[2].Rows != 10 {
			t.Errorf("the rest of a pass: %v\n%v", again.err, again.report)
		}
		if n := len(x.stored()); n != 3 {
			t.Errorf("%d runs are stored", n)
		}
	})
}

// A pass that was stopped is not continued. One whose process was killed is continued, as is seen by its lease.
func TestWatchStopped(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 3)
		x.Create(reconcile.StateSchema("shop"))
		p := x.watch(reconcile.State("shop"))
		<-time.After(period / 4)
		if err := x.storing().Stop(t.Context(), x.stored()[0].Run); err != nil {
			t.Fatal(err)
		}
		stopped := p.next(t)
		if !errors.Is(stopped.err, reconcile.ErrStopped) {
			t.Error(stopped.err)
		}
		<-time.After(period / 2)
		if runs := x.stored(); len(runs) != 1 || runs[0].State != "incomplete" {
			t.Errorf("before the next is due: %+v", runs)
		}
		if next := p.next(t); next.err != nil || next.report.Run == stopped.report.Run || next.report.Began.Sub(stopped.report.Began) < period-time.Second {
			t.Errorf("%v\n%v", next.err, next.report)
		}
	})
}

// A pass that is paused stays so when its process ends and another one continues it, and one that was to be stopped
// does not go on.
func TestWatchStaysPaused(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 3)
		x.Create(reconcile.StateSchema("shop"))
		first := x.watch(reconcile.State("shop"))
		<-time.After(period / 4)
		run := x.stored()[0].Run
		if err := x.storing().Pause(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		first.cancel()
		if err := <-first.ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		second := x.watch(reconcile.State("shop"))
		<-time.After(period / 4)
		before := x.stored()[0]
		<-time.After(period / 4)
		if now := x.stored()[0]; now.Run != run || now.State != "running" || now.Wanted != "pause" || now.Done != before.Done {
			t.Errorf("%+v\nthen %+v", before, now)
		}
		if err := x.storing().Stop(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		second.cancel()
		if err := <-second.ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		third := x.watch(reconcile.State("shop"))
		if next := third.next(t); next.err != nil || next.report.Run == run {
			t.Errorf("%v\n%v", next.err, next.report)
		}
	})
}

// Without State there is nothing to continue, and a call that is not valid ends at once.
func TestWatchAlone(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 3)
		for name, options := range map[string][]reconcile.Option{
			"no tables of State": {reconcile.State("shop")},
			"Every":              {reconcile.Every(0)},
			"Resume":             {reconcile.Resume(gocql.TimeUUID())},
			"Tables":             {reconcile.Tables("orders_by_day")},
		} {
			if err := x.r.Watch(t.Context(), orders.Orders, options...); !errors.Is(err, reconcile.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		p := x.watch()
		one, two := p.next(t), p.next(t)
		if one.err != nil || two.err != nil || two.report.Began.Sub(one.report.Began) < period {
			t.Errorf("%v, %v\n%v%v", one.err, two.err, one.report, two.report)
		}
		p.cancel()
		if err := <-p.ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
