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

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/testutil/length"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

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
					t.Logf("minute %d: %d writes, %.3f attempts a request, %d writes had no budget for a retry", minute+1, c.writes, ratio, c.refused)
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

// Scattered errors are retried: with one attempt in ten failing, at least 99.9 % of the writes succeed, with at most 1.15
// times the requests.
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
				t.Logf("%d writes, %.3f %% acknowledged, %.3f attempts a request, %d refused a retry", c.writes, 100*share, ratio, c.refused)
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
		for name, child := range map[string]*Writer{"itself": w, "derived": w.With(Retry(retry.Policy{})), "twice": w.With().With(Concurrent())} {
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
