package writer

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
)

// A call returns with its context even if the driver does not look at it. Of what it is still doing nothing is known;
// what has returned is known.
func TestCallLeavesStragglers(t *testing.T) {
	t.Parallel()
	open, paid := move()
	for name, test := range map[string]struct {
		change tables.Change
		stuck  string // table whose request hangs; empty for all
		paths  int    // that hang
	}{
		"single":         {mustSet[Task](t, "task", tables.Table{Name: "tasks", PartKey: []string{"task_id"}}).Insert(newTask("bob")), "", 1},
		"same partition": {noteSet(t).Insert(newNote()), "", 1},
		"logged batch":   {orderSet(t).Update(open, paid), "", 1},
		"fan-out":        {orderSet(t).Insert(open), "", 3},
		"one of three":   {orderSet(t).Insert(open), "orders_by_user", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				var ended WriteEnd
				var late atomic.Int32
				tracer := stragglerTracer{ended: &ended, late: &late}
				x := &fakeExecutor{answer: func(_ context.Context, r request) error {
					if carries(r, test.stuck) {
						<-time.After(time.Minute) // as while a socket is full
					}
					return nil
				}}
				start := time.Now()
				res, err := fakeWriter(x, Trace(tracer)).Write(ctx, "op", test.change)
				if took := time.Since(start); took < time.Second || took > time.Second+10*time.Millisecond {
					t.Errorf("returned after %v", took)
				}
				e := asError(t, err)
				if !errors.Is(err, ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) || e.NotApplied() {
					t.Errorf("error %v", err)
				}
				for table, outcome := range outcomes(e) {
					if want := map[bool]Outcome{true: Unknown, false: Applied}[test.stuck == "" || test.stuck == table]; outcome != want {
						t.Errorf("%s: %v, want %v", table, outcome, want)
					}
				}
				wantConsistent(t, e)
				if ended.Stragglers != test.paths || res.Attempts != len(x.sent()) {
					t.Errorf("%d stragglers, want %d; %d attempts, want %d", ended.Stragglers, test.paths, res.Attempts, len(x.sent()))
				}
				before := late.Load()
				time.Sleep(2 * time.Minute)
				if got := int(late.Load() - before); got != test.paths {
					t.Errorf("%d paths ended later, want %d", got, test.paths)
				}
				sent := len(x.sent())
				if _, err := fakeWriter(x, Timeout(time.Hour)).Resume(context.Background(), e); err != nil {
					t.Errorf("cannot be resumed: %v", err)
				}
				if got := len(x.sent()) - sent; got != test.paths {
					t.Errorf("Resume sent %d paths, want %d", got, test.paths)
				}
			})
		})
	}
}

// The driver may return a moment after the end of the context and know more than that nothing is known: then it counts.
func TestCallWaitsAMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		x := &fakeExecutor{answer: func(ctx context.Context, _ request) error {
			<-ctx.Done()
			<-time.After(leeway - time.Millisecond)
			return nil
		}}
		if _, err := fakeWriter(x).Write(ctx, "op", orderSet(t).Insert(newOrder(Open))); err != nil {
			t.Error(err)
		}
	})
}

// A read of the schema that hangs does not hold the call either.
func TestCallLeavesReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		x := &fakeExecutor{}
		w := newWriter(x, "shop", func(context.Context, string, string) (liveTable, error) {
			<-time.After(time.Minute)
			return liveTable{gcGrace: tenDays}, nil
		})
		open, paid := move()
		start := time.Now()
		_, err := w.Write(ctx, "payOrder", orderSet(t).Update(open, paid))
		if took := time.Since(start); took > time.Second+10*time.Millisecond {
			t.Errorf("returned after %v", took)
		}
		if e := asError(t, err); !e.NotApplied() || len(x.sent()) != 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v after %d requests", err, len(x.sent()))
		}
		time.Sleep(2 * time.Minute)
	})
}

// stragglerTracer keeps the end of the write, and counts the ends of paths.
type stragglerTracer struct {
	ended *WriteEnd
	late  *atomic.Int32
}

func (t stragglerTracer) TraceWriteStart(ctx context.Context, _ WriteStart) context.Context {
	return ctx
}

func (t stragglerTracer) TraceWriteEnd(_ context.Context, data WriteEnd) { *t.ended = data }

func (t stragglerTracer) TracePathStart(ctx context.Context, _ PathStart) context.Context { return ctx }

func (t stragglerTracer) TracePathEnd(context.Context, PathEnd) { t.late.Add(1) }

// The context of first attempts behaves as one: it ends with the caller's or at its own limit, and has its values.
func TestFirstAttemptsContext(t *testing.T) {
	t.Parallel()
	type key struct{}
	for name, test := range map[string]struct {
		timeout  time.Duration // of the caller
		deadline time.Duration
		attempts int
	}{
		"attempt's limit": {time.Minute, 2500 * time.Millisecond, 2},
		"caller's":        {time.Second, time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "value"), test.timeout)
				defer cancel()
				start := time.Now()
				first := true
				x := &fakeExecutor{answer: func(ctx context.Context, _ request) error {
					if !first {
						return nil
					}
					first = false
					if ctx.Value(key{}) != "value" || ctx.Err() != nil {
						t.Errorf("value %v, error %v", ctx.Value(key{}), ctx.Err())
					}
					if d, ok := ctx.Deadline(); !ok || d.Sub(start) != test.deadline {
						t.Errorf("deadline after %v", d.Sub(start))
					}
					derived, cancel := context.WithCancel(ctx)
					defer cancel()
					<-derived.Done()
					if took := time.Since(start); took != test.deadline || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
						t.Errorf("ended after %v with %v", took, ctx.Err())
					}
					return ctx.Err()
				}}
				w := fakeWriter(x, Timeout(time.Hour), Retry(retry.Policy{MaxAttempts: 2}))
				res, _ := w.Write(ctx, "writeNote", noteSet(t).Insert(newNote()))
				if res.Attempts != test.attempts {
					t.Errorf("%d attempts, want %d", res.Attempts, test.attempts)
				}
			})
		})
	}
}
