//go:build faults

package main

import (
	"context"
	"flag"
	"testing"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/temporal"
	on "github.com/denorm-go/denorm/reconcile/temporal"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

var segments = flag.Int("segments", 2_000, "ranges of two tables together")

// Temporal's own limits of a workflow, at which it warns: it ends one at 51,200 events or 50 MiB, and rejects a payload
// of 2 MiB.
const (
	warnEvents  = 10_240
	warnBytes   = 10 << 20
	warnPayload = 256 << 10
)

// noop registers a unit that does nothing.
type noop struct{ worker.Registry }

// RegisterActivityWithOptions implements [worker.Registry].
func (n noop) RegisterActivityWithOptions(a any, options activity.RegisterOptions) {
	type done struct {
		Begun  bool  `json:"begun"`
		Cursor int64 `json:"cursor"`
		Rows   int64 `json:"rows"`
	}
	if options.Name == "denorm.unit" {
		a = func(_ context.Context, in struct{ High int64 }) (done, error) { return done{true, in.High, 1}, nil }
	}
	n.Registry.RegisterActivityWithOptions(a, options)
}

// serve starts a Temporal and a worker whose activities are replaced, for runs that read nothing.
func serve(t *testing.T, replaces func(worker.Registry) worker.Registry) (*temporal.Server, client.Client) {
	t.Helper()
	server := temporal.Serve(t, "")
	cassandra := cassandratest.Start(t, 1)
	cassandra.Create(orders.Schema.In(map[string]string{"": "shop"}).Statements()...)
	config := cassandra.Config()
	config.Keyspace = "shop"
	s, err := session.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	c, err := client.Dial(client.Options{HostPort: server.Address, Logger: silent{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	w := worker.New(c, "denorm", worker.Options{MaxConcurrentActivityTaskPollers: 8})
	if err := on.Register(replaces(w), s, []tables.Described{orders.Orders}); err != nil {
		t.Fatal(err)
	}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return server, c
}

// A run of 100,000 ranges is many executions of its workflow, each with a short history, and no payload is a plan.
func TestManySegments(t *testing.T) {
	_, c := serve(t, func(w worker.Registry) worker.Registry { return noop{w} })
	begin := time.Now()
	run, err := on.Start(t.Context(), c, "denorm", on.Run{
		Kind: on.Verify, Set: "order", Tables: []string{"orders_by_user"}, Segments: *segments / 2, Units: 64,
	})
	if err != nil {
		t.Fatal(err)
	}
	first := run.GetRunID()
	var report on.Report
	if err := run.Get(t.Context(), &report); err != nil {
		t.Fatal(err)
	}
	lasted := time.Since(begin)
	if rows := report.Tables[0].Rows + report.Tables[1].Rows; rows != int64(*segments/2*2) || report.Err() != nil {
		t.Errorf("%d ranges were read: %v", rows, report)
	}
	executions, units, events, bytes, payload := 0, 0, 0, 0, 0
	for id := first; id != ""; executions++ {
		iter := c.GetWorkflowHistory(t.Context(), run.GetID(), id, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		n, size := 0, 0
		for id = ""; iter.HasNext(); n++ {
			e, err := iter.Next()
			if err != nil {
				t.Fatal(err)
			}
			size += e.Size()
			payload = max(payload, largest(e))
			if e.GetActivityTaskCompletedEventAttributes() != nil {
				units++
			}
			id = e.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
		}
		events, bytes = max(events, n), max(bytes, size)
	}
	t.Logf("%d ranges in %v: %d executions, %d activities; at most %d events and %d bytes of history, and a payload of %d bytes",
		*segments, lasted.Round(time.Second), executions, units, events, bytes, payload)
	if events >= warnEvents || bytes >= warnBytes || payload >= warnPayload/10 {
		t.Error("that is too much")
	}
	if *segments >= 2_000 && executions < 2 {
		t.Error("the workflow has not continued as new")
	}
}

// largest is the size of the largest payload of an event.
func largest(e *history.HistoryEvent) (most int) {
	for _, p := range []*common.Payloads{
		e.GetWorkflowExecutionStartedEventAttributes().GetInput(), e.GetWorkflowExecutionContinuedAsNewEventAttributes().GetInput(),
		e.GetWorkflowExecutionCompletedEventAttributes().GetResult(), e.GetActivityTaskScheduledEventAttributes().GetInput(),
		e.GetActivityTaskCompletedEventAttributes().GetResult(),
	} {
		for _, p := range p.GetPayloads() {
			most = max(most, len(p.GetData()))
		}
	}
	return most
}
