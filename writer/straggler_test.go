package writer

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

// A call returns with its context even if the driver does not look at it. Of what it is still doing nothing is known;
// what has returned is known.
func TestCallLeavesStragglers(t *testing.T) {
	t.Parallel()
	open, paid := move()
	for name, test := range map[string]struct {
		change   tables.Change
		stuck    string // table whose request hangs; empty for all
		requests int    // that hang
	}{
		"single": {mustSet[Task](t, "task", tables.Table{Name: "tasks", PartKey: []string{"task_id"}}).
			Insert(newTask("bob")), "", 1},
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
				var ended session.OperationEnd
				var late atomic.Int32
				tracer := stragglerTracer{ended: &ended, late: &late}
				x := &fakeExecutor{answer: func(_ context.Context, r fanout.Attempt) error {
					if carries(r, test.stuck) {
						<-time.After(time.Minute) // as while a socket is full
					}
					return nil
				}}
				start := time.Now()
				res, err := fakeWriter(x, traced(tracer)).Write(ctx, "op", test.change)
				if took := time.Since(start); took < time.Second || took > time.Second+10*time.Millisecond {
					t.Errorf("returned after %v", took)
				}
				e := asError(t, err)
				if !errors.Is(err, ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) || e.NotApplied() {
					t.Errorf("error %v", err)
				}
				for table, outcome := range outcomes(e) {
					if want := map[bool]Outcome{true: Unknown, false: Applied}[test.stuck == "" ||
						test.stuck == table]; outcome != want {
						t.Errorf("%s: %v, want %v", table, outcome, want)
					}
				}
				wantConsistent(t, e)
				if ended.Stragglers != test.requests || res.Attempts != len(x.sent()) {
					t.Errorf("%d stragglers, want %d; %d attempts, want %d", ended.Stragglers, test.requests, res.Attempts,
						len(x.sent()))
				}
				before := late.Load()
				time.Sleep(2 * time.Minute)
				if got := int(late.Load() - before); got != test.requests {
					t.Errorf("%d requests ended later, want %d", got, test.requests)
				}
				sent := len(x.sent())
				if _, err := fakeWriter(x, Timeout(time.Hour)).Resume(context.Background(), e); err != nil {
					t.Errorf("cannot be resumed: %v", err)
				}
				if got := len(x.sent()) - sent; got != test.requests {
					t.Errorf("Resume sent %d requests, want %d", got, test.requests)
				}
			})
		})
	}
}

// The writer's own timeout ends a call without deadline in the same way. What was known of the request before stays.
func TestResumeLeavesStragglers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open, paid := move()
		var stuck atomic.Bool
		x := &fakeExecutor{answer: func(context.Context, fanout.Attempt) error {
			if stuck.Load() {
				<-time.After(time.Minute)
			}
			return errBatch
		}}
		w := fakeWriter(x, Timeout(time.Second), Retry(retry.Policy{MaxAttempts: 1}))
		_, err := w.Write(context.Background(), "payOrder", orderSet(t).Update(open, paid))
		first := asError(t, err)
		stuck.Store(true)
		start := time.Now()
		_, err = w.Resume(context.Background(), first)
		if took := time.Since(start); took < time.Second || took > time.Second+10*time.Millisecond {
			t.Errorf("returned after %v", took)
		}
		for _, table := range asError(t, err).Tables {
			if table.Outcome != Pending || table.Attempts != 2 {
				t.Errorf("%s: %v after %d attempts", table.Table, table.Outcome, table.Attempts)
			}
		}
		time.Sleep(2 * time.Minute)
	})
}

// The driver may return a moment after the end of the context and know more than that nothing is known: then it counts.
func TestCallWaitsAMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		x := &fakeExecutor{answer: func(ctx context.Context, _ fanout.Attempt) error {
			<-ctx.Done()
			<-time.After(fanout.Leeway - time.Millisecond)
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

// stragglerTracer keeps the end of the write, and counts the ends of requests.
type stragglerTracer struct {
	ended *session.OperationEnd
	late  *atomic.Int32
}

func (t stragglerTracer) TraceStart(ctx context.Context, _ session.OperationStart) context.Context {
	return ctx
}

func (t stragglerTracer) TraceEnd(_ context.Context, data session.OperationEnd) { *t.ended = data }

func (t stragglerTracer) TraceRequestStart(ctx context.Context, _ session.RequestStart) context.Context {
	return ctx
}

func (t stragglerTracer) TraceRequestEnd(context.Context, session.RequestEnd) { t.late.Add(1) }

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
				x := &fakeExecutor{answer: func(ctx context.Context, _ fanout.Attempt) error {
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

// hangingTracer holds requests back before they send anything, as a process does that has too little CPU, and gives
// them a context that does not end.
type hangingTracer struct {
	stragglerTracer
	hold <-chan struct{}
}

func (t hangingTracer) TraceRequestStart(ctx context.Context, data session.RequestStart) context.Context {
	<-t.hold
	return context.WithoutCancel(t.stragglerTracer.TraceRequestStart(ctx, data))
}

// What has not been sent when a call ends is not applied, and is not sent afterwards.
func TestCallGroundsWhatHasNotBegun(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(t *testing.T) (context.Context, []NewOption, error){
		"deadline": func(t *testing.T) (context.Context, []NewOption, error) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			t.Cleanup(cancel)
			return ctx, nil, context.DeadlineExceeded
		},
		"the writer's": func(*testing.T) (context.Context, []NewOption, error) {
			return context.Background(), []NewOption{Timeout(time.Second)}, context.DeadlineExceeded
		},
		"a context that says Done before it says why": func(*testing.T) (context.Context, []NewOption, error) {
			parent := &ending{Context: context.Background(), done: make(chan struct{})}
			time.AfterFunc(time.Second, func() { close(parent.done) })
			return parent, nil, context.Canceled
		},
		"hedged": func(*testing.T) (context.Context, []NewOption, error) {
			return context.Background(), []NewOption{Timeout(time.Second), Hedge(time.Millisecond)}, context.DeadlineExceeded
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var ended session.OperationEnd
				var late atomic.Int32
				hold := make(chan struct{})
				x := &fakeExecutor{answer: func(context.Context, fanout.Attempt) error { return nil }}
				ctx, options, want := call(t)
				options = append(options, traced(hangingTracer{stragglerTracer{ended: &ended, late: &late}, hold}))
				res, err := fakeWriter(x, options...).Write(ctx, "op", orderSet(t).Insert(newOrder(Open)))
				e := asError(t, err)
				if !e.NotApplied() || !errors.Is(err, want) || res.Attempts != 0 {
					t.Errorf("%v after %d attempts", err, res.Attempts)
				}
				wantConsistent(t, e)
				if ended.Stragglers != 3 {
					t.Errorf("%d stragglers", ended.Stragglers)
				}
				close(hold)
				synctest.Wait()
				if sent := len(x.sent()); sent != 0 || late.Load() != 3 {
					t.Errorf("%d requests were sent afterwards; %d requests ended", sent, late.Load())
				}
				if _, err := fakeWriter(x).Resume(t.Context(), e); err != nil {
					t.Errorf("cannot be resumed: %v", err)
				}
			})
		})
	}
}

// What is not a request is not begun either when the call is over.
func TestLeaveDoesNotBeginTooLate(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := fanout.Detached(ctx, func() (int, error) {
		t.Error("it was done")
		return 0, nil
	})
	if !errors.Is(err, fanout.ErrUnbegun) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Each request has a goroutine of its own, so that the caller can leave when its context ends.
func TestGoroutines(t *testing.T) {
	t.Parallel()
	open, paid := move()
	for name, test := range map[string]struct {
		change tables.Change
		want   int
	}{
		"single": {mustSet[Task](t, "task", tables.Table{Name: "tasks", PartKey: []string{"task_id"}}).
			Insert(newTask("bob")), 1},
		"same partition": {noteSet(t).Insert(newNote()), 1},
		"logged batch":   {orderSet(t).Update(open, paid), 1},
		"fan-out":        {orderSet(t).Insert(open), 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			seen := make(map[string]bool)
			x := &fakeExecutor{answer: func(context.Context, fanout.Attempt) error {
				mu.Lock()
				defer mu.Unlock()
				seen[goroutine()] = true
				return nil
			}}
			if _, err := fakeWriter(x).Write(t.Context(), "op", test.change); err != nil {
				t.Fatal(err)
			}
			if seen[goroutine()] || len(seen) != test.want {
				t.Errorf("%d goroutines, the caller's among them: %v", len(seen), seen[goroutine()])
			}
		})
	}
}

// goroutine names the current one.
func goroutine() string {
	buf := make([]byte, 64)
	return string(bytes.Fields(buf[:runtime.Stack(buf, false)])[1])
}

// What is looked up by partition or table takes no longer for each when there are many: a stored error may have
// 100,000.
func TestManyRequestsTakeNoSquareOfTime(t *testing.T) {
	t.Parallel()
	const n = 50_000
	mutations := make([]*statement.Mutation, 0, 2*n)
	for i := range 2 * n {
		name := strconv.Itoa(i % n)
		mutations = append(mutations, &statement.Mutation{Keyspace: "shop", Table: "t" + name, PartitionKey: []byte(name)})
	}
	start := time.Now()
	requests := fanout.Requests(mutations)
	if len(requests) != n || len(requests[7].Mutations) != 2 || requests[7].Mutations[0] != mutations[7] ||
		requests[7].Mutations[1] != mutations[n+7] {
		t.Errorf("%d requests, the eighth of %v", len(requests), requests[7].Mutations)
	}
	requests[7].Outcome = Unknown
	if results := tableResults(requests); len(results) != n || results[7].Table != "t7" || results[7].Outcome != Unknown ||
		results[8].Outcome != NotApplied {
		t.Errorf("%d results, the eighth %+v", len(results), results[7])
	}
	if took := time.Since(start); took > 10*time.Second { // compared with each other they take minutes
		t.Errorf("took %v", took)
	}
}
