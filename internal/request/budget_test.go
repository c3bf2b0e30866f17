package request_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/settings"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// A retry takes one token, one after a timeout two, and a success puts a part of one back.
func TestBudgetPrices(t *testing.T) {
	t.Parallel()
	timeout := &gocql.RequestErrWriteTimeout{WriteType: "SIMPLE"}
	refused := &gocql.RequestErrUnavailable{Consistency: gocql.LocalQuorum}
	for name, test := range map[string]struct {
		err    error
		tokens int
		want   int // attempts of writes that all fail
	}{
		"cheap":                       {refused, 10, 10},
		"dear":                        {timeout, 10, 5},
		"dear, one token over":        {timeout, 11, 5},
		"no answer":                   {gocql.ErrTimeoutNoResponse, 10, 5},
		"attempt's own limit":         {context.DeadlineExceeded, 10, 5},
		"connection closed":           {gocql.ErrConnectionClosed, 10, 10},
		"one token":                   {refused, 1, 1},
		"one token, but it costs two": {timeout, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				retrier := request.NewRetrier(retry.Policy{}, settings.NewBudget(test.tokens, 0.1))
				retries, refusals := 0, 0
				for range 20 {
					outcome, err := retrier.Do(t.Context(), retry.Partition, func(ctx context.Context, _ int) error {
						if errors.Is(test.err, context.DeadlineExceeded) {
							<-ctx.Done()
							return ctx.Err()
						}
						return test.err
					}, nil)
					retries += outcome.Attempts - 1
					if outcome.BudgetSpent != errors.Is(err, retry.ErrBudget) {
						t.Errorf("outcome %+v, error %v", outcome, err)
					}
					if !errors.Is(err, test.err) {
						t.Errorf("the last error is lost: %v", err)
					}
					if outcome.BudgetSpent {
						refusals++
					}
				}
				if retries != test.want || refusals == 0 {
					t.Errorf("%d retries and %d refusals, want %d retries", retries, refusals, test.want)
				}
			})
		})
	}
}

// Successes earn retries, up to the size of the bucket and no more.
func TestBudgetEarns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		retrier := request.NewRetrier(retry.Policy{MaxAttempts: 2}, settings.NewBudget(2, 0.5))
		ctx := t.Context()
		run := func(errs ...error) (request.Result, error) {
			return retrier.Do(ctx, retry.Partition, func(_ context.Context, n int) error { return errs[n-1] }, nil)
		}
		unavailable := &gocql.RequestErrUnavailable{}
		fail := func() bool { o, _ := run(unavailable, unavailable); return o.Attempts == 2 }
		succeed := func(n int) {
			for range n {
				if _, err := run(nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		spent := func() (n int) {
			for fail() {
				n++
			}
			return n
		}
		if got := spent(); got != 2 {
			t.Errorf("%d retries from a full bucket of 2", got)
		}
		succeed(1)
		if got := spent(); got != 0 {
			t.Errorf("%d retries for half a token", got)
		}
		succeed(1)
		if got := spent(); got != 1 {
			t.Errorf("%d retries for two successes, want 1", got)
		}
		succeed(100)
		if got := spent(); got != 2 {
			t.Errorf("%d retries after many successes, want the 2 that the bucket holds", got)
		}
		succeed(2)
		if _, err := run(unavailable, nil); err != nil { // takes a token, earns half of one
			t.Fatal(err)
		}
		succeed(1)
		if got := spent(); got != 1 {
			t.Errorf("%d retries: a success on a retry earns, too", got)
		}
	})
}

// A retry that is not made costs nothing: that of a caller that leaves while it waits for it, at whatever price.
func TestBudgetGivesBack(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{
		"cheap": &gocql.RequestErrUnavailable{},
		"dear":  gocql.ErrTimeoutNoResponse,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				retrier := request.NewRetrier(retry.Policy{MaxAttempts: 2}, settings.NewBudget(2, 0.001))
				do := func(ctx context.Context, wait func(request.Event)) request.Result {
					o, _ := retrier.Do(ctx, retry.Partition, func(context.Context, int) error { return failure }, wait)
					return o
				}
				for range 10 {
					ctx, leave := context.WithCancel(t.Context())
					if o := do(ctx, func(request.Event) { leave() }); o.Attempts != 1 || o.BudgetSpent {
						t.Fatalf("outcome %+v of a caller that leaves", o)
					}
				}
				retries := 0
				for range 10 {
					retries += do(t.Context(), nil).Attempts - 1
				}
				if want := map[string]int{"cheap": 2, "dear": 1}[name]; retries != want {
					t.Errorf("%d retries from a budget of 2 that nobody had used, want %d", retries, want)
				}
			})
		})
	}
}

// A budget is shared by all writes at once: together they get what is there, exactly.
func TestBudgetIsShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		retrier := request.NewRetrier(retry.Policy{}, settings.NewBudget(100, 1))
		var mu sync.Mutex
		var wg sync.WaitGroup
		retries := 0
		for range 64 {
			wg.Go(func() {
				for range 5 {
					o, _ := retrier.Do(t.Context(), retry.Partition, func(context.Context, int) error {
						return &gocql.RequestErrUnavailable{}
					}, nil)
					mu.Lock()
					retries += o.Attempts - 1
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if retries != 100 {
			t.Errorf("%d retries of 100", retries)
		}
	})
}

// Sizes that make no sense mean the default, and none overflows.
func TestBudgetSizes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		size   int
		earned float64
		want   int
	}{{0, 0, 1000}, {-5, math.NaN(), 1000}, {7, -1, 7}, {math.MaxInt, math.Inf(1), 2000}} {
		t.Run(fmt.Sprint(test.size, test.earned), func(t *testing.T) {
			t.Parallel()
			retrier := request.NewRetrier(retry.Policy{MaxAttempts: 2}, settings.NewBudget(test.size, test.earned))
			got := 0
			for got < 2000 && retrier.Spend() {
				got++
			}
			if got != test.want {
				t.Errorf("%d tokens, want %d", got, test.want)
			}
		})
	}
}

// No success pays for more than one retry: a percentage in place of a fraction would make a budget that limits nothing.
func TestBudgetEarnsAtMostOne(t *testing.T) {
	t.Parallel()
	for _, earned := range []float64{1, 25, math.Inf(1)} {
		retrier := request.NewRetrier(retry.Policy{MaxAttempts: 2}, settings.NewBudget(10, earned))
		for retrier.Spend() { // until it is empty
		}
		if _, err := retrier.Do(t.Context(), retry.Partition, func(context.Context, int) error {
			return nil
		}, nil); err != nil {
			t.Fatal(err)
		}
		if !retrier.Spend() || retrier.Spend() {
			t.Errorf("earned %v: a success does not pay for one retry", earned)
		}
	}
}
