package drift

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/session"
)

// Worker repairs in a process of its own that can be killed at any moment.
type Worker struct {
	Hosts    []string      `json:"hosts"`
	Keyspace string        `json:"keyspace"`
	Settle   time.Duration `json:"settle"`
	Report   string        `json:"report"` // the file that it is written to at the end
}

// Repairing is the file that is there as soon as the worker is about to remove a row.
func (w *Worker) Repairing() string { return w.Report + ".repairing" }

// Done is what a worker reports of a finding.
type Done struct {
	Class    reconcile.Class
	Outcome  reconcile.Outcome
	Key, Why string
}

// Run repairs once.
func (w *Worker) Run(ctx context.Context) error {
	config := gocql.NewCluster(w.Hosts...)
	config.Keyspace, config.ConnectTimeout = w.Keyspace, 10*time.Second
	s, err := session.Open(config)
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := reconcile.New(s, reconcile.Settle(w.Settle))
	if err != nil {
		return err
	}
	report, err := r.Repair(ctx, orders.Orders, reconcile.MaxRemovals(10_000),
		reconcile.OnRemoval(func(reconcile.Removal) error { return os.WriteFile(w.Repairing(), nil, 0o600) }))
	if err != nil && !errors.Is(err, reconcile.ErrDrift) {
		return fmt.Errorf("%w\n%v", err, report)
	}
	var done []Done
	for f := range report.Findings() {
		done = append(done, Done{f.Class, f.Outcome, f.Key(), f.Reason})
	}
	text, err := json.Marshal(done)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, report)
	return os.WriteFile(w.Report, text, 0o600)
}
