package writer

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/testutil/length"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// counting is a BackOff with state, without a lock: the race detector finds two requests that share one.
type counting struct{ calls int }

func (b *counting) Reset() { b.calls = 0 }

func (b *counting) NextBackOff() time.Duration {
	b.calls++
	return time.Duration(b.calls) * time.Millisecond
}

// Each request of each of many writes at the same time has a BackOff of its own.
func TestOwnBackOffOfConcurrentWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const writes, failures = 64, 2
		var made atomic.Int64
		policy := retry.Policy{BackOff: func() backoff.BackOff {
			made.Add(1)
			return &counting{}
		}}
		var mu sync.Mutex
		tries := make(map[any]int)
		x := &fakeExecutor{answer: func(_ context.Context, r fanout.Attempt) error {
			mu.Lock()
			defer mu.Unlock()
			request := &r.Mutations[0]
			if tries[request]++; tries[request] <= failures {
				return errUnavailable
			}
			return nil
		}}
		w := fakeWriter(x, Retry(policy))
		made.Store(0) // by Validate
		begun := time.Now()
		var wg sync.WaitGroup
		for range writes {
			wg.Go(func() {
				if _, err := w.Write(t.Context(), "createOrder", orderSet(t).Insert(newOrder(Open))); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if waited := time.Since(begun); waited != 3*time.Millisecond { // 1 ms and 2 ms: a shared BackOff would go on counting
			t.Errorf("waited %v", waited)
		}
		if got := len(x.sent()); got != 3*writes*(failures+1) || made.Load() != 3*writes {
			t.Errorf("%d requests, %d BackOffs made", got, made.Load())
		}
	})
}

// traffic sends writes at an even rate, in virtual time, for as long as it is told, and counts what comes of them.
type traffic struct {
	writes, acknowledged, refused, requests int
}

// scaled is a tenth of the traffic, and of the budget, but at full length.
func scaled(t *testing.T, n int) int {
	t.Helper()
	if length.Of(t, n) < n {
		return n / 10
	}
	return n
}

func trafficWriter(t *testing.T, x fanout.Executor) *Writer {
	t.Helper()
	return fakeWriter(x, shared(session.Budget(retry.NewBudget(scaled(t, 1000), 0))))
}

func (c *traffic) run(t *testing.T, w *Writer, changes []tables.Change, requests int, long time.Duration) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	perSecond := scaled(t, 200)
	for i := range int(long.Seconds()) * perSecond {
		change := changes[i%len(changes)]
		wg.Go(func() {
			_, err := w.Write(context.Background(), "op", change)
			mu.Lock()
			defer mu.Unlock()
			c.writes++
			c.requests += requests
			if err == nil {
				c.acknowledged++
			}
			if errors.Is(err, retry.ErrBudget) {
				c.refused++
			}
		})
		time.Sleep(time.Second / time.Duration(perSecond))
	}
	wg.Wait()
}

// In a total outage the attempts stay within 1.1 times the requests of the writes in the first minute, and within 1.05
// times after it.
func TestOutageIsNotMultiplied(t *testing.T) {
	t.Parallel()
	open, paid := move()
	for name, test := range map[string]struct {
		change   tables.Change
		requests int
		answer   func(context.Context, fanout.Attempt) error
	}{
		"fan-out, unavailable":      {orderSet(t).Insert(open), 3, always(errUnavailable)},
		"fan-out, silent":           {orderSet(t).Insert(open), 3, silent},
		"fan-out, write timeouts":   {orderSet(t).Insert(open), 3, always(errSimple)},
		"logged batch, unavailable": {orderSet(t).Update(open, paid), 1, always(errUnavailable)},
		"one request, overloaded":   {noteSet(t).Insert(newNote()), 1, always(errOverloaded)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				x := &countingExecutor{answer: test.answer}
				w := trafficWriter(t, x)
				for minute, most := range []float64{1.1, 1.05, 1.05} {
					var c traffic
					x.requests.Store(0)
					c.run(t, w, []tables.Change{test.change}, test.requests, time.Minute)
					ratio := float64(x.requests.Load()) / float64(c.requests)
					t.Logf("minute %d: %d writes, %.3f attempts a request, %d writes had no budget for a retry", minute+1, c.writes,
						ratio, c.refused)
					if ratio > most || ratio < 1 {
						t.Errorf("minute %d: %.3f attempts a request, want at most %v", minute+1, ratio, most)
					}
					if c.acknowledged != 0 {
						t.Errorf("%d acknowledged", c.acknowledged)
					}
				}
			})
		})
	}
}

// Scattered errors are retried: with one attempt in ten failing, at least 99.9 % of the writes succeed, with at most
// 1.15 times the requests.
func TestScatteredErrorsAreRetried(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"unavailable": errUnavailable, "write timeout": errSimple} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(1, 2))
				var mu sync.Mutex
				x := &countingExecutor{answer: func(context.Context, fanout.Attempt) error {
					mu.Lock()
					defer mu.Unlock()
					if random.IntN(10) == 0 {
						return err
					}
					return nil
				}}
				var c traffic
				c.run(t, trafficWriter(t, x), []tables.Change{orderSet(t).Insert(newOrder(Open))}, 3, 2*time.Minute)
				ratio := float64(x.requests.Load()) / float64(c.requests)
				share := float64(c.acknowledged) / float64(c.writes)
				t.Logf("%d writes, %.3f %% acknowledged, %.3f attempts a request, %d refused a retry", c.writes, 100*share, ratio,
					c.refused)
				least := 0.999 // 99.97 % is what four attempts can give
				if scaled(t, 10) < 10 {
					least = 0.997 // chance fails three of 2,400 once in thirty runs
				}
				if share < least || ratio > 1.15 {
					t.Errorf("%.3f %% acknowledged with %.3f attempts a request", 100*share, ratio)
				}
			})
		})
	}
}

// Writers derived from one share its budget, others have their own, and Budget lets them share.
func TestBudgetIsShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := &fakeExecutor{answer: always(errUnavailable)}
		note := noteSet(t).Insert(newNote())
		attempts := func(w *Writer) int {
			res, _ := w.Write(t.Context(), "op", note)
			return res.Attempts
		}
		w := fakeWriter(down, shared(session.Budget(retry.NewBudget(3, 0.1))))
		if got := attempts(w.With(Logged())); got != 4 {
			t.Errorf("%d attempts with a full budget", got)
		}
		for name, child := range map[string]*Writer{
			"itself": w, "derived": w.With(Retry(retry.Policy{})),
			"twice": w.With().With(Concurrent()),
		} {
			if got := attempts(child); got != 1 {
				t.Errorf("%s: %d attempts although the budget is spent", name, got)
			}
		}
		if got := attempts(fakeWriter(down)); got != 4 {
			t.Errorf("another writer: %d attempts", got)
		}
		_, err := w.Write(t.Context(), "op", note)
		if !errors.Is(err, retry.ErrBudget) || !errors.Is(err, errUnavailable) || !asError(t, err).NotApplied() {
			t.Errorf("error %v", err)
		}
	})
}

// countingExecutor counts requests without keeping them.
type countingExecutor struct {
	answer   func(context.Context, fanout.Attempt) error
	requests atomic.Int64
}

func (x *countingExecutor) Execute(ctx context.Context, r *fanout.Attempt) error {
	x.requests.Add(1)
	return x.answer(ctx, *r)
}

func always(err error) func(context.Context, fanout.Attempt) error {
	return func(context.Context, fanout.Attempt) error { return err }
}

// script answers the n-th request after a wait.
type step struct {
	after time.Duration
	err   error
}

func script(steps ...step) (func(context.Context, fanout.Attempt) error, *atomic.Int32) {
	var n atomic.Int32
	return func(ctx context.Context, _ fanout.Attempt) error {
		s := steps[int(n.Add(1))-1]
		select {
		case <-time.After(s.after):
			return s.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}, &n
}

// The first success wins; an error waits for the other request.
func TestHedge(t *testing.T) {
	t.Parallel()
	const hedge, never = 50 * time.Millisecond, time.Hour
	for name, test := range map[string]struct {
		steps    []step
		took     time.Duration
		requests int
		want     error // nil for applied
		outcome  Outcome
	}{
		"answered in time": {[]step{{after: 49 * time.Millisecond}}, 49 * time.Millisecond, 1, nil, Applied},
		"first silent": {
			[]step{{after: never}, {after: 5 * time.Millisecond}},
			55 * time.Millisecond, 2, nil,
			Applied,
		},
		"first slow, second slower": {
			[]step{{after: 60 * time.Millisecond}, {after: never}},
			60 * time.Millisecond, 2,
			nil, Applied,
		},
		"error in time is no hedge": {
			[]step{{10 * time.Millisecond, errSyntax}},
			10 * time.Millisecond, 1, errSyntax,
			NotApplied,
		},
		"second fails, first succeeds": {
			[]step{{after: 90 * time.Millisecond}, {10 * time.Millisecond, errUnavailable}},
			90 * time.Millisecond, 2, nil, Applied,
		},
		"first fails late, second succeeds": {
			[]step{{60 * time.Millisecond, errSimple}, {after: 40 * time.Millisecond}}, 90 * time.Millisecond, 2, nil, Applied,
		},
		"both fail cleanly": {
			[]step{{60 * time.Millisecond, errSyntax}, {20 * time.Millisecond, errSyntax}},
			70 * time.Millisecond, 2, errSyntax,
			NotApplied,
		},
		"one fails cleanly, one not": {
			[]step{{60 * time.Millisecond, errSimple}, {20 * time.Millisecond, errSyntax}},
			70 * time.Millisecond, 2, errSimple,
			Unknown,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				answer, n := script(test.steps...)
				w := fakeWriter(&fakeExecutor{answer: answer}, Hedge(hedge), once())
				start := time.Now()
				res, err := w.Write(t.Context(), "writeNote", noteSet(t).Insert(newNote()))
				if took := time.Since(start); took != test.took || int(n.Load()) != test.requests || res.Attempts != test.requests {
					t.Errorf("%v, %d requests, %d attempts, want %v and %d", took, n.Load(), res.Attempts, test.took, test.requests)
				}
				if !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
					t.Fatalf("error %v, want %v", err, test.want)
				}
				if err == nil {
					return
				}
				if got := asError(t, err).Tables[0]; got.Outcome != test.outcome || got.Attempts != test.requests {
					t.Errorf("%+v, want %v", got, test.outcome)
				}
			})
		})
	}
}

// A hedge is a request more, so it takes from the budget; without a token there is none. By default there is none at
// all.
func TestHedgeNeedsBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer, n := script(step{after: time.Second}, step{after: time.Second}, step{after: time.Second},
			step{after: time.Second})
		set, ctx := noteSet(t), t.Context()
		w := fakeWriter(&fakeExecutor{answer: answer}, shared(session.Budget(retry.NewBudget(1, 0.001))))
		hedged := w.With(Hedge(100 * time.Millisecond))
		for i, test := range []struct {
			w    *Writer
			want int32
		}{{w, 1}, {hedged, 3}, {hedged, 4}} {
			if _, err := test.w.Write(ctx, "writeNote", set.Insert(newNote())); err != nil || n.Load() != test.want {
				t.Errorf("write %d: %v, %d requests, want %d", i, err, n.Load(), test.want)
			}
		}
	})
}

// When the call's context ends, both requests do, and what is not known stays so.
func TestHedgeEndsWithTheCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		x := &fakeExecutor{answer: silent}
		w := fakeWriter(x, Hedge(100*time.Millisecond), Retry(retry.Policy{AttemptTimeout: 300 * time.Millisecond}))
		start := time.Now()
		_, err := w.Write(ctx, "writeNote", noteSet(t).Insert(newNote()))
		if took := time.Since(start); took > time.Second || !errors.Is(err, ErrUnknown) ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v after %v", err, took)
		}
		if n := len(x.sent()); n < 4 {
			t.Errorf("%d requests", n)
		}
	})
}

// The error of a failed hedge knows both answers.
func TestHedgeKeepsBothErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer, _ := script(step{60 * time.Millisecond, errOverloaded},
			step{20 * time.Millisecond, gocql.ErrConnectionClosed})
		w := fakeWriter(&fakeExecutor{answer: answer}, Hedge(50*time.Millisecond), once())
		_, err := w.Write(t.Context(), "writeNote", noteSet(t).Insert(newNote()))
		if !errors.Is(err, errOverloaded) || !errors.Is(err, gocql.ErrConnectionClosed) {
			t.Error(err)
		}
	})
}

// The second request goes to another replica than the one that is slow, and is answered. Every try has nodes of its
// own: one that was slow in another would be out of rotation.
func TestWireHedgeGoesElsewhere(t *testing.T) {
	t.Parallel()
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			unwind(t)
			s := openWire(t, cassandratest.Start, 3, Hedge(50*time.Millisecond))
			set := noteSet(t)
			<-time.After(time.Second)                                                      // for the pools to be full
			if _, err := s.w.Write(t.Context(), "op", set.Insert(newNote())); err != nil { // prepares statements
				t.Fatal(err)
			}
			s.When(cassandratest.Batch, cassandratest.Nth(1)).Do(cassandratest.Delay(time.Second))
			begin := time.Now()
			_, err := s.w.Write(t.Context(), "op", set.Insert(newNote()))
			if took := time.Since(begin); err != nil || took > 100*time.Millisecond {
				t.Errorf("%v after %v", err, took)
			}
			if sent := s.Journal(cassandratest.Batch)[1:]; len(sent) != 2 || sent[0].Node == sent[1].Node {
				t.Errorf("requests: %v", sent)
			}
		})
	}
}
