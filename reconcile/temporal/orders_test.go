package temporal

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/denorm-go/denorm/internal/engine"
	"github.com/denorm-go/denorm/reconcile"
)

// holding has units that end half a second after what [fake.when] does, unless they are told to end, and at once if
// they begin later. Temporal's test environment does not wait for units that are canceled, and drops what they have
// done, so that all of it is done again: what the server does is tested in examples/temporal.
func holding() *fake {
	f := new(fake)
	over := func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.after
	}
	f.each = func(ctx context.Context, in unitArguments) (engine.Done, error) {
		for n := 0; n < 100 && (n > 0 || !over()); {
			select {
			case <-ctx.Done():
				return engine.Done{}, ctx.Err()
			case <-time.After(5 * time.Millisecond):
				activity.RecordHeartbeat(ctx)
			}
			if over() {
				n++
			}
		}
		return engine.Done{Begun: true, Cursor: in.High, Rows: 1}, nil
	}
	return f
}

// when does something as soon as so many units have begun, however busy the machine is.
func (f *fake) when(env *testsuite.TestWorkflowEnvironment, begun int, do func()) {
	var look func()
	look = func() {
		f.mu.Lock()
		f.after = len(f.units) >= begun
		after := f.after
		f.mu.Unlock()
		if after {
			do()
		} else {
			env.RegisterDelayedCallback(look, 100*time.Millisecond)
		}
	}
	env.RegisterDelayedCallback(look, 100*time.Millisecond)
}

// Pause ends the units, and nothing is begun until resume: then they are done. Progress says so.
func TestPauseAndResume(t *testing.T) {
	f := holding()
	env := environment(t, f)
	f.when(env, 4, func() { env.SignalWorkflow(pauseSignal, nil) })
	var paused Progress
	begun := 0
	env.RegisterDelayedCallback(func() {
		paused = progressOf(t, env)
		f.mu.Lock()
		begun = len(f.units)
		f.mu.Unlock()
	}, time.Hour)
	env.RegisterDelayedCallback(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.units) != begun {
			t.Errorf("%d units have begun while the run was paused", len(f.units)-begun)
		}
		env.SignalWorkflow(resumeSignal, nil)
	}, 2*time.Hour)
	env.ExecuteWorkflow(workflowType, Run{Kind: Verify, Set: "order", Segments: 2})
	r := reported(t, env)
	if paused.State != "paused" || paused.Running != 0 || paused.Units != 4 {
		t.Errorf("%+v", paused)
	}
	if r.Tables[0].Rows != 2 || r.Tables[1].Rows != 2 || len(f.units) != 8 || r.Err() != nil {
		t.Errorf("%+v", r)
	}
}

// An execution that begins with a run that is paused begins nothing.
func TestContinuesPaused(t *testing.T) {
	f := new(fake)
	env := environment(t, f)
	var p Progress
	env.RegisterDelayedCallback(func() { p = progressOf(t, env) }, time.Hour)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(resumeSignal, nil) }, 2*time.Hour)
	phases := []engine.Phase{{Tables: []string{"a"}, Names: []string{"shop.a"}}}
	env.ExecuteWorkflow(workflowType, input{Run{Kind: Verify, Set: "order", Segments: 3}, &state{Declaration: "declared", Phases: phases, Paused: true, Next: 1}})
	if r := reported(t, env); p.State != "paused" || p.Units != 0 || r.Tables[0].Rows != 2 {
		t.Errorf("%+v, %+v", p, r)
	}
}

// A rate is shared among the units, each of which has at least one request a second. Another rate ends those that have
// a share of the old one.
func TestRateIsShared(t *testing.T) {
	f := holding()
	env := environment(t, f)
	f.when(env, 8, func() { env.SignalWorkflow(rateSignal, 3) })
	env.ExecuteWorkflow(workflowType, Run{Kind: Verify, Set: "order", Segments: 4, Units: 8, Rate: 400})
	r := reported(t, env)
	old := 0
	for _, u := range f.units {
		switch {
		case u.Rate == 400 && u.Of == 8:
			old++
		case u.Rate != 3 || u.Of != 3:
			t.Errorf("%+v", u)
		}
	}
	if old != 8 || len(f.units) != 16 || r.Tables[0].Rows != 4 {
		t.Errorf("%d units of the old rate, %d in all, %+v", old, len(f.units), r)
	}
}

// A run that is canceled begins nothing more, and says what was counted, and that it is not all.
func TestCancel(t *testing.T) {
	f := holding()
	env := environment(t, f)
	f.when(env, 3, env.CancelWorkflow)
	env.ExecuteWorkflow(workflowType, Run{Kind: Verify, Set: "order", Segments: 4, Units: 3})
	var canceled *temporal.CanceledError
	var r Report
	if err := env.GetWorkflowError(); !errors.As(err, &canceled) || canceled.Details(&r) != nil || len(r.Tables) != 2 || !errors.Is(r.Err(), reconcile.ErrIncomplete) {
		t.Errorf("%v, %+v", err, r)
	}
	if len(f.units) != 3 {
		t.Errorf("%d units", len(f.units))
	}
}

// A worker with which a run is not valid pauses it, and says why. When it is gone, the run is resumed, and nothing of
// it is lost.
func TestOtherWorkerPauses(t *testing.T) {
	f := new(fake)
	other := true
	f.each = func(_ context.Context, in unitArguments) (engine.Done, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if other && in.Low >= 0 {
			f.units = f.units[:len(f.units)-1]
			return engine.Done{}, temporal.NewNonRetryableApplicationError("another declaration", invalidType, nil)
		}
		return all(in), nil
	}
	env := environment(t, f)
	env.RegisterDelayedCallback(func() {
		if p := progressOf(t, env); p.State != "paused" || p.Waits != "another declaration" || p.Running != 0 {
			t.Errorf("%+v", p)
		}
		f.mu.Lock()
		other = false
		f.mu.Unlock()
		env.SignalWorkflow(resumeSignal, nil)
	}, time.Hour)
	env.ExecuteWorkflow(workflowType, Run{Kind: Verify, Set: "order", Segments: 8, Units: 1})
	if r := reported(t, env); r.Uncovered != 0 || r.Tables[0].Rows != 8 || progressOf(t, env).Waits != "" {
		t.Errorf("%+v", r)
	}
	f.covers(t)
}

// A worker may be lost when its units are told to end. What it has told is done, and the rest is done by others.
func TestWorkerIsLostAtPause(t *testing.T) {
	env := environment(t, new(fake))
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		canceled, cancel := workflow.WithCancel(ctx)
		cancel()
		phase := &engine.Phase{Tables: []string{"a"}, Names: []string{"shop.a"}}
		for _, told := range []struct {
			details []any
			rest    []span
			rows    int64
		}{
			{nil, []span{{0, 0, 100}}, 0},
			{[]any{told{engine.Done{Begun: true, Cursor: 40, Rows: 3}, 2}}, []span{{0, 40, 100}}, 3},
		} {
			e := &execution{}
			e.note(canceled, phase, span{0, 0, 100}, engine.Done{}, temporal.NewHeartbeatTimeoutError(told.details...))
			if r := e.report(ctx); !slices.Equal(e.Rest, told.rest) || r.Uncovered != 0 || e.Sums.Rows["shop.a"] != told.rows {
				t.Errorf("%v: %v, %+v", told.details, e.Rest, r)
			}
		}
		return nil
	})
	if err := env.GetWorkflowError(); err != nil {
		t.Error(err)
	}
}

// A rate that is no number changes nothing, and the orders after it are heard.
func TestRateThatIsNone(t *testing.T) {
	for _, rate := range []any{"5000", nil, 5.5, map[string]int{"rate": 5}, -1} {
		f := holding()
		env := environment(t, f)
		var p Progress
		f.when(env, 4, func() {
			env.SignalWorkflow(rateSignal, rate)
			env.SignalWorkflow(pauseSignal, nil)
		})
		env.RegisterDelayedCallback(func() { p = progressOf(t, env) }, time.Hour)
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(resumeSignal, nil) }, 2*time.Hour)
		env.ExecuteWorkflow(workflowType, Run{Kind: Verify, Set: "order", Segments: 2, Rate: 400})
		if reported(t, env); p.State != "paused" || p.Rate != 400 {
			t.Errorf("after a rate of %v: %+v", rate, p)
		}
	}
}
