package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/internal/runtrace"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/session"
)

// telling is a Reconciler that reports to a tracer.
func (x *world) telling(tracer session.Tracer) *reconcile.Reconciler {
	x.t.Helper()
	r, err := reconcile.New(x.s.With(session.Trace(tracer)), reconcile.Settle(30*time.Second))
	if err != nil {
		x.t.Fatal(err)
	}
	return r
}

// A run tells a tracer of itself, of each range that it reads, of repairs and findings, and how far it is.
func TestTrace(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 3)
		drifts[5].plant(x, x.orders[0])
		<-time.After(time.Minute)
		told := &told{}
		if _, err := x.telling(told).Repair(t.Context(), orders.Orders); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"start repair order 3", "found orders_by_status newer settled repaired", "end repair order true 3 rows", "0 units open", "10 rows in units", "1 repaired",
		}
		if got := told.all(); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if told.states < 30 {
			t.Errorf("told %d times how far it is", told.states)
		}
	})
}

// told is a tracer of runs.
type told struct {
	session.Tracer

	mu                           sync.Mutex
	lines                        []string
	open, rows, repaired, states int
	full                         bool
}

func (o *told) say(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = append(o.lines, fmt.Sprintf(format, args...))
}

func (o *told) all() []string {
	return append(o.lines, fmt.Sprintf("%d units open", o.open), fmt.Sprintf("%d rows in units", o.rows), fmt.Sprintf("%d repaired", o.repaired))
}

func (o *told) TraceRunStart(ctx context.Context, data runtrace.RunStart) context.Context {
	o.say("start %s %s %d", data.Kind, data.Entity, len(data.Tables))
	o.full = data.Full
	return ctx
}

func (o *told) TraceRunEnd(_ context.Context, data runtrace.RunEnd) {
	o.say("end %s %s %t %d rows", data.Kind, data.Entity, data.Complete, data.Tables[0].Rows)
}

func (o *told) TraceRun(context.Context, runtrace.RunState) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.states++
}

func (o *told) TraceUnitStart(ctx context.Context, _ runtrace.UnitStart) context.Context {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open++
	return ctx
}

func (o *told) TraceUnitEnd(_ context.Context, data runtrace.UnitEnd) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open--
	o.rows += data.Rows
	if data.Outcome == "repaired" {
		o.repaired++
	}
}

func (o *told) TraceFinding(_ context.Context, data runtrace.RunFinding) {
	o.say("found %s %s %s %s", strings.TrimPrefix(data.Table, "shop."), data.Class, data.Certainty, data.Outcome)
}
