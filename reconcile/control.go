package reconcile

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"
)

// RunInfo is a run that [State] has stored.
type RunInfo struct {
	Run    gocql.UUID
	Kind   string // verify, repair, backfill, adopt, copy or watch
	Entity string
	// Keyspaces are the physical keyspaces of the tables, separated by commas.
	Keyspaces string
	// State is running, interrupted, incomplete or done. The process of an interrupted run has died, or has lost its
	// lease. An incomplete run was stopped, or could not read all. [Resume] takes runs in all states but running;
	// [Reconciler.Watch] continues its own runs.
	State string
	// Wanted is what the process of the run does, or is about to do: run, pause or stop.
	Wanted string
	Rate   int // the bound of requests a second, 0 for none
	// Done counts the token ranges that are read and settled, of Ranges in total. Verify and Repair without [Lookup] count
	// those that are read. Rows counts the rows read. All are a few seconds old.
	Done, Ranges, Rows, Findings int
	Began, Ended                 time.Time // Ended is zero while it has not

	job string
}

// Runs returns the stored runs of all sets, the latest first. The error matches ErrInvalid if the Reconciler has no
// [State].
func (r *Reconciler) Runs(ctx context.Context) ([]RunInfo, error) {
	s, err := r.stored()
	if err != nil {
		return nil, err
	}
	type held struct {
		job string
		run gocql.UUID
	}
	leases, err := all(ctx, s, func(row gocql.Scanner, h *held) error { return row.Scan(&h.job, &h.run) },
		"SELECT job, run FROM "+s.name(leaseTable))
	if err != nil {
		return nil, err
	}
	runs, err := all(ctx, s, func(row gocql.Scanner, i *RunInfo) error {
		return row.Scan(&i.job, &i.Run, &i.Kind, &i.Entity, &i.State, &i.Wanted, &i.Rate, &i.Done, &i.Ranges, &i.Rows, &i.Findings, &i.Began, &i.Ended)
	}, "SELECT job, run, kind, entity, state, wanted, rate, done, segments, rows, findings, started, ended FROM "+s.name(runTable))
	for i := range runs {
		for _, count := range []*int{&runs[i].Rate, &runs[i].Done, &runs[i].Ranges, &runs[i].Rows, &runs[i].Findings} {
			*count = max(0, *count)
		}
		if parts := strings.SplitN(runs[i].job, " ", 3); len(parts) == 3 {
			runs[i].Keyspaces = parts[1]
		}
		if runs[i].State == stateRunning && !slices.Contains(leases, held{runs[i].job, runs[i].Run}) {
			runs[i].State = stateInterrupted
		}
	}
	slices.SortFunc(runs, func(a, b RunInfo) int {
		return cmp.Or(b.Began.Compare(a.Began), cmp.Compare(b.Run.Timestamp(), a.Run.Timestamp()))
	})
	return runs, err
}

// Pause makes a run read and repair nothing until [Reconciler.Continue]. It keeps its lease and its stored progress.
// The process of the run learns of it within some seconds, and requests in flight end as usual. The error matches
// ErrInvalid if no such run is stored, or if it has ended.
func (r *Reconciler) Pause(ctx context.Context, run gocql.UUID) error {
	return r.want(ctx, run, "wanted", wantPause)
}

// Continue ends a [Reconciler.Pause], and returns the same errors. A run that was stopped, or whose process has died,
// needs a call with [Resume].
func (r *Reconciler) Continue(ctx context.Context, run gocql.UUID) error {
	return r.want(ctx, run, "wanted", wantRun)
}

// Stop ends a run within some seconds, with [ErrStopped]; the run can be resumed. Stop returns the same errors as
// [Reconciler.Pause].
func (r *Reconciler) Stop(ctx context.Context, run gocql.UUID) error {
	return r.want(ctx, run, "wanted", wantStop)
}

// SetRate bounds the requests per second of a run, and takes effect within some seconds; 0 removes the bound. See
// [Rate]. For an interrupted run the rate applies once it is resumed. SetRate returns the same errors as
// [Reconciler.Pause].
func (r *Reconciler) SetRate(ctx context.Context, run gocql.UUID, requests int) error {
	if requests < 0 || requests > math.MaxInt32 {
		return invalid("SetRate: %d is negative, or more than %d", requests, math.MaxInt32)
	}
	return r.want(ctx, run, "rate", requests)
}

func (r *Reconciler) want(ctx context.Context, run gocql.UUID, column string, value any) error {
	s, err := r.stored()
	if err != nil {
		return err
	}
	runs, err := r.Runs(ctx)
	if err != nil {
		return err
	}
	runs = slices.DeleteFunc(runs, func(i RunInfo) bool { return i.Run != run })
	if len(runs) == 0 {
		return invalid("no run %s is stored in keyspace %s", run, s.keyspace)
	}
	ended := func(i RunInfo) bool { return i.State == stateDone || i.State == stateIncomplete }
	state := runs[0].State
	if runs = slices.DeleteFunc(runs, ended); len(runs) == 0 {
		return invalid("run %s has ended, and is %s: only a run that is under way can be changed; option Resume (--resume of the command) "+
			"continues one that is incomplete", run, state)
	}
	for _, i := range runs { // one, unless somebody has put rows with its id under other jobs
		err = errors.Join(err, s.exec(ctx, "UPDATE "+s.name(runTable)+" SET "+column+" = ? WHERE job = ? AND run = ?", value, i.job, run))
	}
	return err
}

// stored is the store of the Reconciler itself.
func (r *Reconciler) stored() (*store, error) {
	c, err := r.options(nil)
	if err != nil {
		return nil, err
	}
	if c.state == "" {
		return nil, invalid("no runs are stored: give New the option State")
	}
	return r.store(c.state), nil
}
