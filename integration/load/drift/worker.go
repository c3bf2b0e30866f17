package drift

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/child"
	"github.com/denorm-go/denorm/integration/harness/parallel"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/tables"
)

// Sets are those that a [Worker] works on, all at a time, by the names that their runs have.
var Sets = map[string]tables.Described{"order": orders.Orders, "desk": Desks, "profile": Profiles, "ticket": Tickets}

// Worker verifies or repairs in a process of its own that can be killed at any moment. Its runs are stored in the
// keyspace of the tables.
type Worker struct {
	Hosts    []string      `json:"hosts"`
	Keyspace string        `json:"keyspace"`
	Settle   time.Duration `json:"settle"`
	Repairs  bool          `json:"repairs"`
	Resumes  bool          `json:"resumes"` // it continues the latest runs of the kind
	Hangs    int           `json:"hangs"`   // before it removes one row more than so many it waits to be killed; 0: it does not
	Report   string        `json:"report"`  // the file that it is written to at the end
}

// Hanging is the file that is there as soon as the worker waits to be killed.
func (w *Worker) Hanging() string { return w.Report + ".hanging" }

// Kind is that of its runs.
func (w *Worker) Kind() string {
	if w.Repairs {
		return "repair"
	}
	return "verify"
}

// Done is what a worker reports of a run.
type Done struct {
	Set      string
	Run      gocql.UUID
	Rows     int
	Seconds  float64 // of this process
	Findings []Finding
}

// Finding is what a worker reports of a finding.
type Finding struct {
	Table, Key, Why string
	Class           reconcile.Class
	Outcome         reconcile.Outcome
}

// Run verifies or repairs all sets once.
func (w *Worker) Run(ctx context.Context) error {
	s, err := child.Open(ctx, w.Hosts, w.Keyspace)
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := reconcile.New(s, reconcile.Settle(w.Settle), reconcile.State(w.Keyspace), reconcile.MaxRemovals(100_000))
	if err != nil {
		return err
	}
	var removed atomic.Int64
	names := slices.Sorted(maps.Keys(Sets))
	all := make([]Done, len(names))
	err = parallel.Do(len(names), len(names), func(i int) (err error) {
		all[i], err = w.run(ctx, r, names[i], Sets[names[i]], &removed)
		return err
	})
	if err != nil {
		return err
	}
	text, _ := json.Marshal(all) // never fails
	return os.WriteFile(w.Report, text, 0o600)
}

func (w *Worker) run(ctx context.Context, r *reconcile.Reconciler, name string, set tables.Described, removed *atomic.Int64) (Done, error) {
	options := []reconcile.Option{reconcile.OnRemoval(func(reconcile.Removal) error {
		if removed.Add(1) > int64(w.Hangs) && w.Hangs > 0 {
			if err := os.WriteFile(w.Hanging(), nil, 0o600); err != nil {
				return err
			}
			select {}
		}
		return nil
	})}
	if name != "order" { // looking each of many rows up takes too long; hashes of rows that were read are lost with the process
		options = append(options, reconcile.Lookup())
	}
	if w.Resumes {
		run, err := Latest(ctx, r, w.Kind(), name)
		if err != nil {
			return Done{}, err
		}
		options = append(options, reconcile.Resume(run.Run))
	}
	call := r.Verify
	if w.Repairs {
		call = r.Repair
	}
	begin := time.Now()
	report, err := call(ctx, set, options...)
	for errors.Is(err, reconcile.ErrRunning) && time.Since(begin) < 2*time.Minute { // until the lease of the process that was killed expires
		<-time.After(time.Second)
		report, err = call(ctx, set, options...)
	}
	if err != nil && !errors.Is(err, reconcile.ErrDrift) {
		return Done{}, fmt.Errorf("%s: %w\n%v", name, err, report)
	}
	done := Done{Set: name, Run: report.Run, Seconds: time.Since(begin).Seconds()}
	for _, t := range report.Tables {
		done.Rows += t.Rows
	}
	for f := range report.Findings() {
		done.Findings = append(done.Findings, Finding{
			Table: f.Table[strings.LastIndexByte(f.Table, '.')+1:], Key: f.Key(), Why: f.Reason, Class: f.Class, Outcome: f.Outcome,
		})
	}
	return done, nil
}

// Latest is the latest stored run of a kind over a set.
func Latest(ctx context.Context, r *reconcile.Reconciler, kind, set string) (reconcile.RunInfo, error) {
	runs, err := r.Runs(ctx)
	if err != nil {
		return reconcile.RunInfo{}, err
	}
	for _, run := range runs { // the latest first
		if run.Kind == kind && run.Entity == set {
			return run, nil
		}
	}
	return reconcile.RunInfo{}, fmt.Errorf("no run to %s %s is stored", kind, set)
}
