package temporal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/denorm-go/denorm/internal/engine"
	"github.com/denorm-go/denorm/reconcile"
)

// fake is a worker that only counts. A row is a unit of width.
type fake struct {
	mu    sync.Mutex
	units []unitArguments
	most  int // units at a time
	now   int
	after bool // units begin after what was done when enough had begun
	each  func(ctx context.Context, in unitArguments) (engine.Done, error)
}

func (f *fake) plan(context.Context, Run) (plan, error) {
	return plan{"declared", []engine.Phase{{Tables: []string{"a", "b"}, Names: []string{"shop.a", "shop.b"}}}}, nil
}

func (f *fake) unit(ctx context.Context, in unitArguments) (engine.Done, error) {
	f.mu.Lock()
	f.units = append(f.units, in)
	f.now++
	f.most = max(f.most, f.now)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.now--
		f.mu.Unlock()
	}()
	if f.each != nil {
		return f.each(ctx, in)
	}
	return all(in), nil
}

func all(in unitArguments) engine.Done {
	return engine.Done{Begun: true, Cursor: in.High, Rows: 1, Found: map[string]map[string]int64{"shop.b": {"missing": 2}}}
}

// covers sees that units have read both tables once, from end to end.
func (f *fake) covers(t *testing.T) {
	t.Helper()
	for _, table := range []string{"a", "b"} {
		var of []unitArguments
		for _, u := range f.units {
			if u.Table == table {
				of = append(of, u)
			}
		}
		slices.SortFunc(of, func(a, b unitArguments) int { return cmp.Compare(a.Low, b.Low) })
		at := int64(math.MinInt64)
		for _, u := range of {
			if u.Low != at {
				t.Fatalf("%s: a unit begins at %d, want %d", table, u.Low, at)
			}
			at = u.High
		}
		if at != math.MaxInt64 {
			t.Errorf("%s: the last unit ends at %d", table, at)
		}
	}
}

func environment(t *testing.T, f *fake) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	env.RegisterWorkflowWithOptions(reconcileRun, workflow.RegisterOptions{Name: workflowType})
	env.RegisterActivityWithOptions(f.plan, activity.RegisterOptions{Name: planActivity})
	env.RegisterActivityWithOptions(f.unit, activity.RegisterOptions{Name: unitActivity})
	return env
}

func reported(t *testing.T, env *testsuite.TestWorkflowEnvironment) (r Report) {
	t.Helper()
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if err := env.GetWorkflowResult(&r); err != nil {
		t.Fatal(err)
	}
	return r
}

func progressOf(t *testing.T, env *testsuite.TestWorkflowEnvironment) (p Progress) {
	t.Helper()
	v, err := env.QueryWorkflow(progressQuery)
	if err == nil {
		err = v.Get(&p)
	}
	if err != nil {
		t.Error(err)
	}
	return p
}

// Every range of every table is a unit, a bounded number at a time, and what they count is summed.
func TestEveryRangeOnce(t *testing.T) {
	for _, segments := range []int{1, 7, 256, 1000} {
		f := new(fake)
		env := environment(t, f)
		full := make(chan struct{})
		f.each = func(_ context.Context, in unitArguments) (engine.Done, error) {
			f.mu.Lock()
			if f.now == 5 && len(f.units) == 5 {
				close(full)
			}
			f.mu.Unlock()
			if segments > 5 { // the first ones wait for each other
				<-full
			}
			return all(in), nil
		}
		env.ExecuteWorkflow(workflowType, Run{Kind: Verify, Set: "order", Segments: segments, Units: 5})
		r := reported(t, env)
		n := int64(segments)
		if r.Tables[0].Rows != n || r.Tables[1].Rows != n || r.Tables[1].Found["missing"] != 4*n || !errors.Is(r.Err(), reconcile.ErrDrift) {
			t.Errorf("%d segments: %+v", segments, r)
		}
		if f.most > 5 {
			t.Errorf("%d units at a time", f.most)
		}
		f.covers(t)
		if p := progressOf(t, env); p.State != "done" || p.Done != 1 || p.Rows != 2*n || p.Units != 2*segments {
			t.Errorf("%+v", p)
		}
	}
}

// A unit that takes too long is cut: the rest of it becomes two.
func TestLongUnitsAreCut(t *testing.T) {
	f := new(fake)
	f.each = func(_ context.Context, in unitArguments) (engine.Done, error) {
		done := all(in)
		if width := uint64(in.High) - uint64(in.Low); width > 1<<62 {
			done.Cursor = in.Low + 1<<60
		}
		return done, nil
	}
	env := environment(t, f)
	env.ExecuteWorkflow(workflowType, Run{Kind: Verify, Set: "order", Segments: 1})
	r := reported(t, env)
	var widths []int
	for _, u := range f.units {
		if u.Table == "a" {
			widths = append(widths, int((uint64(u.High)-uint64(u.Low))>>60))
		}
	}
	slices.Sort(widths)
	if !slices.Equal(widths, []int{3, 3, 3, 3, 7, 7, 15}) || r.Tables[0].Rows != 7 { // the ring has one token less than 16 times 1<<60

		t.Errorf("%v, %+v", widths, r)
	}
}

// The history of an execution stays short: the workflow continues as new with a state that has no list of ranges, and
// what is counted goes with it.
func TestContinuesAsNew(t *testing.T) {
	in := input{Run: Run{Kind: Verify, Set: "order", Segments: 100_000, Units: 8}}
	f := new(fake)
	executions, most := 0, 0
	for over := false; !over; executions++ {
		env := environment(t, f)
		ended := 0
		env.SetOnActivityCompletedListener(func(*activity.Info, converter.EncodedValue, error) {
			if ended++; ended == 500 {
				env.SetContinueAsNewSuggested(true)
			}
		})
		if executions == 3 { // a rate goes with it
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(rateSignal, 7000) }, 0)
		}
		env.ExecuteWorkflow(workflowType, in)
		var again *workflow.ContinueAsNewError
		if over = !errors.As(env.GetWorkflowError(), &again); over {
			reported(t, env)
			break
		}
		text := again.Input.Payloads[0].Data
		if len(text) > 2000 {
			t.Fatalf("the state has %d bytes: %s", len(text), text)
		}
		most = max(most, len(text))
		in = input{}
		if err := json.Unmarshal(text, &in); err != nil {
			t.Fatal(err)
		}
		if executions == 5 { // the rest of the ring is not worth the time
			in.State.Next = 2*in.Segments - 10
		}
	}
	if executions < 5 || in.State.Bound != 7000 || in.State.Sums.Rows["shop.a"] < 500*int64(executions-1) {
		t.Errorf("%d executions, %+v", executions, in.State)
	}
	t.Logf("the state has at most %d bytes", most)
}

// A unit that somebody has had fail is not covered, and the rest is done.
func TestUnitsThatFail(t *testing.T) {
	f := new(fake)
	f.each = func(_ context.Context, in unitArguments) (engine.Done, error) {
		if in.Table == "b" && in.Low == math.MinInt64 {
			return engine.Done{}, temporal.NewNonRetryableApplicationError("no more", "denorm.failed", nil)
		}
		return all(in), nil
	}
	env := environment(t, f)
	env.ExecuteWorkflow(workflowType, Run{Kind: Verify, Set: "order", Segments: 2})
	r := reported(t, env)
	if !errors.Is(r.Err(), reconcile.ErrIncomplete) || r.Uncovered != 1 || len(r.Gaps) != 1 || r.Gaps[0] != (Gap{"shop.b", math.MinInt64, 0}) {
		t.Errorf("%+v", r)
	}
}

// A backfill waits until writers without the table are long gone.
func TestWaitsForWriters(t *testing.T) {
	f := new(fake)
	env := environment(t, f)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	env.SetStartTime(start)
	var p Progress
	env.RegisterDelayedCallback(func() { p = progressOf(t, env) }, time.Minute)
	env.ExecuteWorkflow(workflowType, Run{Kind: Backfill, Set: "order", Table: "b", Writers: start.Add(-time.Second), Settle: time.Hour, Segments: 1})
	reported(t, env)
	if p.State != "waiting" || p.Waits == "" || p.Units != 0 {
		t.Errorf("%+v", p)
	}
}

// Runs that cannot be meant are rejected.
func TestInvalidRuns(t *testing.T) {
	for _, r := range []Run{
		{},
		{Kind: "repair", Set: "order"},
		{Kind: Verify},
		{Kind: Verify, Set: "order", Table: "b"},
		{Kind: Backfill, Set: "order"},
		{Kind: Backfill, Set: "order", Table: "b", Tables: []string{"b"}},
		{Kind: Verify, Set: "order", Segments: 1_000_001},
		{Kind: Verify, Set: "order", Units: 1001},
		{Kind: Verify, Set: "order", Rate: -1},
	} {
		if _, err := r.withDefaults(); !errors.Is(err, reconcile.ErrInvalid) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// What is left of long units is done before others are begun, so that few of them wait, however long they take.
func TestRestsDoNotPileUp(t *testing.T) {
	f := new(fake)
	const segments, units = 4, 4
	begun, cut, most := 0, 0, 0
	f.each = func(_ context.Context, in unitArguments) (engine.Done, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		done := all(in)
		if begun++; uint64(in.High)-uint64(in.Low) > 1<<54 {
			cut++
			done.Cursor = in.Low + 1
		}
		most = max(most, 2*cut-max(0, begun-2*segments)) // that wait, at most
		return done, nil
	}
	env := environment(t, f)
	env.ExecuteWorkflow(workflowType, Run{Kind: Verify, Set: "order", Segments: segments, Units: units})
	reported(t, env)
	if cut < 1000 || most > 200 {
		t.Errorf("%d units were cut, and up to %d halves waited", cut, most)
	}
}

// Units that take long do not keep a run from continuing as new: they are ended, and begun again after it.
func TestContinuesAsNewInTime(t *testing.T) {
	lastUnits = 50 * time.Millisecond
	t.Cleanup(func() { lastUnits = 5 * time.Minute })
	f := new(fake)
	env := environment(t, f)
	f.each = func(ctx context.Context, in unitArguments) (engine.Done, error) {
		if in.Low == math.MinInt64 { // the first one ends, and the workflow looks
			return all(in), nil
		}
		<-ctx.Done()
		return engine.Done{}, ctx.Err()
	}
	env.SetOnActivityCompletedListener(func(info *activity.Info, _ converter.EncodedValue, _ error) {
		if info.ActivityType.Name == unitActivity {
			env.SetContinueAsNewSuggested(true)
		}
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		env.ExecuteWorkflow(workflowType, Run{Kind: Verify, Set: "order", Segments: 2, Units: 4})
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("the workflow waits for its units")
	}
	var again *workflow.ContinueAsNewError
	if !errors.As(env.GetWorkflowError(), &again) {
		t.Fatal(env.GetWorkflowError())
	}
}
