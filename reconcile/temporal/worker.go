package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/denorm-go/denorm/internal/engine"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

// The names of what Temporal's tools, and other versions of this module, address.
const (
	workflowType  = "denorm.reconcile"
	planActivity  = "denorm.plan"
	unitActivity  = "denorm.unit"
	pauseSignal   = "pause"
	resumeSignal  = "resume"
	rateSignal    = "rate"
	progressQuery = "progress"
)

// Register makes a worker take part in runs over sets, on the cluster and in the keyspaces of the session. The session
// must have reads and writes, and outlive the worker. The options apply to all runs, such as [reconcile.Consistency],
// [reconcile.Target] and [reconcile.OldTimestamps]; a [Run] overrides those for which it has a field. Runs are told to
// the tracer of the session. All workers of a task queue must have the same sets and options. Call Register before the
// worker runs. The error matches [reconcile.ErrInvalid] if an option is not valid, or if two sets have one name. With
// option [reconcile.State] runs fail, because Temporal stores them.
func Register(to worker.Registry, s *session.Session, sets []tables.Described, options ...reconcile.Option) error {
	if _, err := reconcile.New(s, options...); err != nil {
		return err
	}
	w := &runner{session: s, options: options, sets: make(map[string]tables.Described), open: make(map[string]*opened)}
	for _, set := range sets {
		if set == nil || set.Internal() == nil {
			return invalid("a set is nil")
		}
		name := set.Internal().Entity()
		if w.sets[name] != nil {
			return invalid("two sets are named %s: give their entities different names", name)
		}
		w.sets[name] = set
	}
	to.RegisterWorkflowWithOptions(reconcileRun, workflow.RegisterOptions{Name: workflowType})
	to.RegisterActivityWithOptions(w.plan, activity.RegisterOptions{Name: planActivity})
	to.RegisterActivityWithOptions(w.unit, activity.RegisterOptions{Name: unitActivity})
	return nil
}

// runner has the activities.
type runner struct {
	session *session.Session
	options []reconcile.Option
	sets    map[string]tables.Described

	mu   sync.Mutex
	open map[string]*opened
}

// opened is a run of which this worker does units. They share one access to the cluster.
type opened struct {
	engine.Run
	units          int // that are being done
	rate, inFlight int
	of             int
	used           time.Time
}

// forgetAfter is how long a run without running units is kept.
const forgetAfter = 10 * time.Minute

// plan is what an activity tells the workflow.
type plan struct {
	Declaration string         `json:"declaration"`
	Phases      []engine.Phase `json:"phases"`
}

// plan opens a run.
func (w *runner) plan(ctx context.Context, run Run) (out plan, err error) {
	defer w.recovered(ctx, &err)
	o, err := w.opening(ctx, run)
	if err != nil {
		return plan{}, w.failure(ctx, err)
	}
	return plan{o.Declaration(), o.Phases()}, nil
}

// unitArguments are those of a unit.
type unitArguments struct {
	Run         Run    `json:"run"`
	Declaration string `json:"declaration"`
	Fills       bool   `json:"fills,omitempty"`
	Table       string `json:"table"`
	Low         int64  `json:"low"`
	High        int64  `json:"high"`
	Rate        int    `json:"rate,omitempty"` // of all units; 0: no bound
	Of          int    `json:"of"`             // units that share it
}

const (
	// slice is how long a unit reads before it leaves the rest to others.
	slice = 2 * time.Minute
	// mostTries is the attempt, counted as told.Tries counts, at which parts that cannot be read are left out.
	mostTries = 30
	// telling is how often a unit records a heartbeat; the SDK sends some of them.
	telling = time.Second
)

// unit does a unit until it is done, its time is up, or it is told to end. It returns what is done.
func (w *runner) unit(ctx context.Context, in unitArguments) (done engine.Done, err error) {
	defer w.recovered(ctx, &err)
	var from told
	if activity.HasHeartbeatDetails(ctx) {
		if err := activity.GetHeartbeatDetails(ctx, &from); err != nil {
			from = told{} // all is done again
		}
	}
	last := from
	if !last.Begun {
		last.Cursor = in.Low
	}
	work, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	group.Go(func() { // also while a large partition is read, or nothing is sent
		ticker := time.NewTicker(telling)
		defer ticker.Stop()
		for {
			mu.Lock()
			activity.RecordHeartbeat(ctx, last)
			mu.Unlock()
			select {
			case <-ticker.C:
			case <-activity.GetWorkerStopChannel(ctx):
				cancel()
				return
			case <-work.Done():
				return
			}
		}
	})
	o, release, err := w.share(ctx, in)
	if err != nil {
		return engine.Done{}, w.failure(ctx, err)
	}
	defer release()
	done, err = o.Do(work, engine.Unit{
		Fills: in.Fills, Table: in.Table, Low: in.Low, High: in.High, Until: time.Now().Add(slice), Skip: from.Tries+1 >= mostTries,
	}, from.Done, func(d engine.Done) {
		mu.Lock()
		defer mu.Unlock()
		if d.Cursor > last.Cursor {
			last.Tries = 0 // what fails now is another place
		}
		last.Done = d
	})
	cause := context.Cause(ctx)
	switch {
	case err == nil:
		return done, nil
	case errors.Is(cause, activity.ErrActivityPaused) || errors.Is(cause, activity.ErrActivityReset):
		return engine.Done{}, cause // an operator has ordered that, and the activity will go on
	case work.Err() != nil:
		return done, nil // the workflow has ordered it, or this worker is to end: others do the rest
	}
	if !errors.Is(err, engine.ErrAway) {
		mu.Lock()
		last.Tries++
		activity.RecordHeartbeat(ctx, last)
		mu.Unlock()
	}
	return engine.Done{}, w.failure(ctx, err)
}

// told is what the heartbeats of a unit have.
type told struct {
	engine.Done
	// Tries are the attempts in a row that have failed without progress, while the cluster answered.
	Tries int `json:"tries,omitempty"`
}

// share opens the run of a unit, unless it is open, and adds the unit's share to what the run may send from here.
func (w *runner) share(ctx context.Context, in unitArguments) (o *opened, release func(), err error) {
	text, err := json.Marshal(in.Run)
	if err != nil {
		return nil, nil, err
	}
	id := activity.GetInfo(ctx).WorkflowExecution.ID + " " + in.Declaration + " " + string(text)
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, other := range w.open {
		if other.units == 0 && time.Since(other.used) > forgetAfter {
			delete(w.open, key)
		}
	}
	if o = w.open[id]; o == nil {
		if o, err = w.opening(ctx, in.Run); err != nil {
			return nil, nil, err
		}
		if o.Declaration() != in.Declaration {
			return nil, nil, invalid("this worker declares set %s otherwise, or has other keyspaces, than the worker that planned the run: "+
				"resume when all workers agree, or start another run", in.Run.Set)
		}
		w.open[id] = o
	}
	o.rate, o.inFlight, o.of = in.Rate, in.Run.InFlight, in.Of
	o.change(1)
	return o, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		o.change(-1)
	}, nil
}

// change changes the number of running units, each of which adds one share to what may be sent.
func (o *opened) change(by int) {
	o.units += by
	o.used = time.Now()
	if o.units == 0 {
		return
	}
	rate := o.rate * o.units / o.of
	if o.rate > 0 {
		rate = max(1, rate)
	}
	o.Share(rate, max(1, o.inFlight*o.units/o.of))
}

// opening opens a run.
func (w *runner) opening(ctx context.Context, run Run) (*opened, error) {
	set := w.sets[run.Set]
	if set == nil {
		return nil, invalid("the worker has not registered a set %q", run.Set)
	}
	options := append(slices.Clone(w.options), reconcile.Settle(run.Settle))
	if run.PageSize > 0 {
		options = append(options, reconcile.PageSize(run.PageSize))
	}
	if len(run.Tables) > 0 {
		options = append(options, reconcile.Tables(run.Tables...))
	}
	if run.Kind == Backfill {
		options = append(options, reconcile.Writers(run.Writers))
	}
	r, err := reconcile.New(w.session, options...)
	if err != nil {
		return nil, err
	}
	on, err := r.Internal(ctx, run.Kind, set, run.Table)
	if err != nil {
		return nil, err
	}
	return &opened{Run: on}, nil
}

// failure makes an error for Temporal, which stores its text. Only the text that says why a run is not valid is passed
// on, because it has names and settings only. Any other goes to the log of the worker.
func (w *runner) failure(ctx context.Context, err error) error {
	if errors.Is(err, reconcile.ErrInvalid) {
		return temporal.NewNonRetryableApplicationError(err.Error(), invalidType, nil)
	}
	activity.GetLogger(ctx).Warn("denorm: a part of a run is tried again", "error", err)
	return temporal.NewApplicationError(failed, "denorm.failed")
}

const failed = "rows could not be read or put: the log of the worker says why"

// recovered keeps the text of a panic, which may have values, from Temporal.
func (w *runner) recovered(ctx context.Context, err *error) {
	if p := recover(); p != nil {
		activity.GetLogger(ctx).Error("denorm: panic", "type", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
		*err = temporal.NewApplicationError("the worker has panicked: its log has the stack", "denorm.failed")
	}
}
