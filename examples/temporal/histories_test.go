//go:build faults

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	on "github.com/denorm-go/denorm/reconcile/temporal"
)

var histories = flag.String("histories", "", "existing folder in which TestHistories leaves the histories, for TestReplay of reconcile/temporal")

// identity has the name of the machine.
var identity = regexp.MustCompile(`"identity": "[^"]*"`)

// pretends registers a unit that reads nothing. How long it takes, and whether it fails, depends on the number of
// ranges of the run.
type pretends struct {
	worker.Registry
	held atomic.Bool
}

const (
	manyRanges   = 400 // of three tables: the workflow continues as new
	failedRanges = 5
)

// RegisterActivityWithOptions implements [worker.Registry].
func (p *pretends) RegisterActivityWithOptions(a any, options activity.RegisterOptions) {
	type done struct {
		Begun  bool  `json:"begun"`
		Cursor int64 `json:"cursor"`
		Rows   int64 `json:"rows"`
	}
	type arguments struct {
		Run       on.Run
		Low, High int64
	}
	if options.Name == "denorm.unit" {
		a = func(ctx context.Context, in arguments) (done, error) {
			if in.Run.Segments == manyRanges {
				return done{true, in.High, 1}, nil
			}
			<-time.After(400 * time.Millisecond)
			switch {
			case in.Run.Segments == failedRanges && in.Low == math.MinInt64 && !p.held.Swap(true):
				return done{}, sdk.NewNonRetryableApplicationError("another declaration", "denorm.invalid", nil) // the run is paused
			case in.Run.Segments == failedRanges && activity.GetInfo(ctx).Attempt == 1:
				return done{}, sdk.NewApplicationError("no rows", "denorm.failed") // and this waits for its next try then
			case in.Low == math.MinInt64 && uint64(in.High)-uint64(in.Low) > 1<<60: // it takes too long, and is cut
				return done{true, in.Low + 1<<59, 1}, nil
			}
			return done{true, in.High, 1}, nil
		}
	}
	p.Registry.RegisterActivityWithOptions(a, options)
}

// The server's histories of runs: one that is paused, resumed and given rates and whose long unit is cut; a backfill
// that waits for Writers; one whose units fail; one that is stopped; both executions of one that continues as new.
func TestHistories(t *testing.T) {
	folder := *histories
	if folder == "" {
		folder = t.TempDir()
	}
	server, c := serve(t, func(w worker.Registry) worker.Registry { return &pretends{Registry: w} })
	signal := func(name string, arg any) func(client.WorkflowRun) error {
		return func(run client.WorkflowRun) error { return c.SignalWorkflow(t.Context(), run.GetID(), "", name, arg) }
	}
	stop := func(run client.WorkflowRun) error {
		_, err := server.Command(t.Context(), "workflow", "cancel", "--workflow-id", run.GetID())
		return err
	}
	verify := func(segments, units int) on.Run {
		return on.Run{Kind: on.Verify, Set: "order", Segments: segments, Units: units, Settle: time.Second}
	}
	for _, tt := range []struct {
		name  string
		run   on.Run
		steps []func(client.WorkflowRun) error
		ends  bool // with an error
	}{
		{name: "verify", run: verify(10, 2), steps: []func(client.WorkflowRun) error{
			signal("pause", nil), signal("resume", nil), signal("rate", 1), signal("rate", "none"), signal("rate", 0), signal("pause", nil), signal("resume", nil),
		}},
		{name: "backfill", run: on.Run{Kind: on.Backfill, Set: "order", Table: "orders_by_user", Segments: 3, Units: 2, Settle: 2 * time.Second}},
		{name: "failed", run: verify(failedRanges, 3), steps: []func(client.WorkflowRun) error{signal("resume", nil)}},
		{name: "stopped", run: verify(10, 2), steps: []func(client.WorkflowRun) error{stop}, ends: true},
		{name: "continued", run: verify(manyRanges, 64)},
	} {
		if tt.run.Kind == on.Backfill {
			tt.run.Writers = time.Now()
		}
		run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: tt.name, TaskQueue: "denorm"}, "denorm.reconcile", tt.run)
		if err != nil {
			t.Fatal(err)
		}
		first := run.GetRunID()
		for _, step := range tt.steps {
			<-time.After(600 * time.Millisecond)
			if err := step(run); err != nil {
				t.Fatal(err)
			}
		}
		if err := run.Get(t.Context(), nil); (err != nil) != tt.ends {
			t.Fatalf("%s: %v", tt.name, err)
		}
		executions := map[string]string{tt.name: first}
		if last := c.GetWorkflow(t.Context(), tt.name, "").GetRunID(); last != "" && last != first {
			executions[tt.name+"-2"] = last
		}
		for name, id := range executions {
			out, err := server.Command(t.Context(), "workflow", "show", "--workflow-id", tt.name, "--run-id", id, "--output", "json")
			if err != nil {
				t.Fatal(err, out)
			}
			var history bytes.Buffer
			packed := gzip.NewWriter(&history)
			if _, err := packed.Write(identity.ReplaceAll([]byte(out), []byte(`"identity": "test"`))); err != nil {
				t.Fatal(err)
			}
			if err := packed.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, name+".json.gz"), history.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %d bytes, %d packed", name, len(out), history.Len())
		}
	}
}
