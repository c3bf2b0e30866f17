//go:build faults

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

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

var histories = flag.String("histories", "", "existing folder in which TestHistories leaves the histories, for TestReplay of reconcile/temporal")

// slow registers a unit that does nothing, for a while.
type slow struct{ worker.Registry }

// RegisterActivityWithOptions implements [worker.Registry].
func (s slow) RegisterActivityWithOptions(a any, options activity.RegisterOptions) {
	type done struct {
		Begun  bool  `json:"begun"`
		Cursor int64 `json:"cursor"`
		Rows   int64 `json:"rows"`
	}
	if options.Name == "denorm.unit" {
		a = func(_ context.Context, in struct{ Low, High int64 }) (done, error) {
			<-time.After(400 * time.Millisecond)
			if in.Low < -1<<62 && uint64(in.High)-uint64(in.Low) > 1<<61 { // it takes too long, and is cut
				return done{true, in.Low + 1<<60, 1}, nil
			}
			return done{true, in.High, 1}, nil
		}
	}
	s.Registry.RegisterActivityWithOptions(a, options)
}

// The server's history of a run that was paused, resumed, given rates and cut, of one that goes on after a continuation, of a backfill, and of one that was stopped.
func TestHistories(t *testing.T) {
	folder := *histories
	if folder == "" {
		folder = t.TempDir()
	}
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
	c, err := client.Dial(client.Options{HostPort: server.Address, Logger: silent{}, Identity: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	w := worker.New(c, "denorm", worker.Options{Identity: "test"})
	if err := on.Register(slow{w}, s, []tables.Described{orders.Orders}); err != nil {
		t.Fatal(err)
	}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	signal := func(name string, arg any) func(client.WorkflowRun) error {
		return func(run client.WorkflowRun) error { return c.SignalWorkflow(t.Context(), run.GetID(), "", name, arg) }
	}
	for name, tt := range map[string]struct {
		run   any
		steps []func(client.WorkflowRun) error
		ends  bool // with an error
	}{
		"verify": {
			run: on.Run{Kind: on.Verify, Set: "order", Segments: 4, Units: 2, Settle: time.Second},
			steps: []func(client.WorkflowRun) error{
				signal("pause", nil), signal("resume", nil), signal("rate", 1), signal("rate", "none"), signal("rate", 0), signal("pause", nil), signal("resume", nil),
			},
		},
		"backfill": {run: on.Run{Kind: on.Backfill, Set: "order", Table: "orders_by_user", Writers: time.Now(), Segments: 3, Units: 2, Settle: time.Second}},
		"stopped": {
			run:   on.Run{Kind: on.Verify, Set: "order", Segments: 10, Units: 2, Settle: time.Second},
			steps: []func(client.WorkflowRun) error{func(run client.WorkflowRun) error { return c.CancelWorkflow(t.Context(), run.GetID(), "") }}, ends: true,
		},
		"continued": {run: map[string]any{
			"kind": on.Verify, "set": "order", "segments": 2, "units": 2, "settle": time.Second, "inFlight": 256, "state": map[string]any{
				"began": time.Now(), "declaration": "some", "phases": []any{map[string]any{"tables": []string{"orders_by_id"}, "names": []string{"shop.orders_by_id"}}},
				"next": 1, "rest": []any{map[string]any{"t": 0, "l": -100, "h": 0}}, "bound": 0, "ended": 3, "covered": 0.25,
				"sums": map[string]any{"rows": map[string]int{"shop.orders_by_id": 7}},
			},
		}},
	} {
		run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: name, TaskQueue: "denorm"}, "denorm.reconcile", tt.run)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range tt.steps {
			<-time.After(600 * time.Millisecond)
			if err := step(run); err != nil {
				t.Fatal(err)
			}
		}
		if err := run.Get(t.Context(), nil); (err != nil) != tt.ends {
			t.Fatalf("%s: %v", name, err)
		}
		out, err := server.Command(t.Context(), "workflow", "show", "--workflow-id", name, "--output", "json")
		if err != nil {
			t.Fatal(err, out)
		}
		var history bytes.Buffer
		if err := json.Compact(&history, []byte(out)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name+".json"), history.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes", name, history.Len())
	}
}
