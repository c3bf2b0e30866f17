package request_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/retry"
)

var (
	errUnavailable  = &gocql.RequestErrUnavailable{Consistency: gocql.LocalQuorum, Required: 2, Alive: 1}
	errSimple       = &gocql.RequestErrWriteTimeout{WriteType: "SIMPLE"}
	errBatch        = &gocql.RequestErrWriteTimeout{WriteType: "BATCH"}
	errBatchLog     = &gocql.RequestErrWriteTimeout{WriteType: "BATCH_LOG"}
	errWriteFailure = &gocql.RequestErrWriteFailure{WriteType: "SIMPLE"}
)

// requestError is a server's error by its code.
type requestError int

func (e requestError) Code() int       { return int(e) }
func (e requestError) Message() string { return "text of the server" }
func (e requestError) Error() string   { return e.Message() }

// do is Do without a budget.
func do(
	ctx context.Context, policy retry.Policy, kind retry.Kind, attempt func(context.Context, int) error,
	observe func(request.Event),
) (request.Result, error) {
	r := request.NewRetrier(policy, nil)
	return r.Do(ctx, kind, attempt, observe)
}

// script is an attempt that fails with these errors in turn, and succeeds where the error is nil or none is left.
func script(errs ...error) func(context.Context, int) error {
	return func(_ context.Context, n int) error {
		if n > len(errs) {
			return nil
		}
		return errs[n-1]
	}
}

func TestDoOutcome(t *testing.T) {
	t.Parallel()
	invalid := requestError(gocql.ErrCodeInvalid)
	noLog := &gocql.RequestErrUnavailable{Consistency: gocql.Two, Required: 2}
	for _, c := range []struct {
		name     string
		kind     retry.Kind
		policy   retry.Policy
		errs     []error
		ok       bool
		attempts int
		class    retry.Outcome
		batchlog bool
	}{
		{name: "success at once", ok: true, attempts: 1},
		{name: "success at last", errs: []error{errSimple, errUnavailable, errSimple}, ok: true, attempts: 4},
		{name: "attempts used up", errs: repeat(errSimple, 9), attempts: 4},
		{name: "attempts set", policy: retry.Policy{MaxAttempts: 2}, errs: repeat(errSimple, 9), attempts: 2},
		{name: "no retry", policy: retry.Policy{MaxAttempts: 1}, errs: repeat(errSimple, 9), attempts: 1},
		{name: "permanent", errs: repeat(invalid, 9), attempts: 1, class: retry.NotApplied},
		{name: "permanent after safe", errs: []error{gocql.ErrNoStreams, invalid}, attempts: 2, class: retry.NotApplied},
		{
			name: "clean on the only attempt", policy: retry.Policy{MaxAttempts: 1},
			errs: []error{errUnavailable}, attempts: 1, class: retry.NotApplied,
		},
		{name: "clean on all attempts", errs: repeat(errUnavailable, 9), attempts: 4, class: retry.NotApplied},

		{name: "clean after unknown", errs: append(repeat(errSimple, 1), repeat(errUnavailable, 9)...), attempts: 4},
		{name: "permanent after unknown", errs: []error{errSimple, invalid}, attempts: 2},
		{name: "unknown after clean", errs: append(repeat(errUnavailable, 3), errSimple), attempts: 4},
		{
			name: "clean around unknown", errs: []error{errUnavailable, errSimple, errUnavailable, errUnavailable},
			attempts: 4,
		},

		{name: "pending", kind: retry.LoggedBatch, errs: repeat(errBatch, 9), attempts: 2, class: retry.Pending},
		{name: "pending, then applied", kind: retry.LoggedBatch, errs: repeat(errBatch, 1), ok: true, attempts: 2},
		{
			name: "pending after unknown", kind: retry.LoggedBatch, errs: append(repeat(errBatchLog, 3), errBatch),
			attempts: 4, class: retry.Pending, batchlog: true,
		},
		{
			name: "unknown after pending", kind: retry.LoggedBatch, errs: []error{errBatch, errSimple, nil},
			attempts: 2, class: retry.Pending,
		},
		{
			name: "clean after pending", kind: retry.LoggedBatch, errs: []error{errBatch, errUnavailable, nil},
			attempts: 2, class: retry.Pending,
		},

		{
			name: "batchlog, then applied", kind: retry.LoggedBatch, errs: repeat(errBatchLog, 1), ok: true, attempts: 2,
			batchlog: true,
		},
		{
			name: "no batchlog nodes", kind: retry.LoggedBatch, errs: repeat(noLog, 9), attempts: 4, class: retry.NotApplied,
			batchlog: true,
		},

		{name: "write failure once", errs: repeat(errWriteFailure, 9), attempts: 2},
		{name: "one more after write failure", errs: []error{errWriteFailure, errSimple, nil}, attempts: 2},
		{name: "write failure late", errs: []error{errSimple, errSimple, errWriteFailure, errSimple, nil}, attempts: 4},
		{name: "write failure last", errs: []error{errSimple, errSimple, errSimple, errWriteFailure, nil}, attempts: 4},

		{name: "decided", kind: retry.Conditional, errs: repeat(errSimple, 9), attempts: 1, class: retry.Applied},
		{name: "conditional unknown", kind: retry.Conditional, errs: repeat(errUnavailable, 9), attempts: 1},
		{
			name: "conditional safe", kind: retry.Conditional, errs: repeat(gocql.ErrNoConnections, 9), attempts: 4,
			class: retry.NotApplied,
		},
		{
			name: "conditional safe, then unknown", kind: retry.Conditional,
			errs: []error{gocql.ErrNoConnections, gocql.ErrConnectionClosed, nil}, attempts: 2,
		},
		{name: "counter unknown", kind: retry.Counter, errs: repeat(gocql.ErrTimeoutNoResponse, 9), attempts: 1},
		{name: "counter safe", kind: retry.Counter, errs: repeat(errUnavailable, 1), ok: true, attempts: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var numbers []int
				events := 0
				out, err := do(t.Context(), c.policy, c.kind, func(ctx context.Context, n int) error {
					numbers = append(numbers, n)
					if d, ok := ctx.Deadline(); !ok || time.Until(d) != 2500*time.Millisecond {
						t.Errorf("attempt %d: limit %v", n, time.Until(d))
					}
					return script(c.errs...)(ctx, n)
				}, func(e request.Event) {
					events++
					if e.Attempt != events || !errors.Is(e.Err, c.errs[e.Attempt-1]) ||
						e.Verdict != retry.Classify(c.errs[e.Attempt-1], c.kind) || e.Wait < 0 || e.Wait >= time.Second {
						t.Errorf("event %d: %+v", events, e)
					}
				})
				for i, n := range numbers {
					if n != i+1 {
						t.Fatalf("attempts numbered %v", numbers)
					}
				}
				if len(numbers) != c.attempts || out.Attempts != c.attempts || events != c.attempts-1 {
					t.Errorf("attempts %v, in the outcome %d, events %d, want %d",
						numbers, out.Attempts, events, c.attempts)
				}
				if out.Batchlog != c.batchlog {
					t.Errorf("batchlog %v", out.Batchlog)
				}
				if c.ok {
					if err != nil || out.Last != (retry.Verdict{}) || out.Outcome != retry.Applied {
						t.Errorf("outcome %+v, error %v", out, err)
					}
					return
				}
				last := c.errs[c.attempts-1]
				if err != last { //nolint:errorlint // the very error
					t.Errorf("error %v, want %v", err, last)
				}
				if out.Outcome != c.class || out.Last != retry.Classify(last, c.kind) {
					t.Errorf("class %v, want %v; last %+v", out.Outcome, c.class, out.Last)
				}
			})
		})
	}
}

func repeat(err error, n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// A PermanentError of backoff inside an attempt's error is nobody's business but the attempt's: backoff itself would
// end its loop, and return what it wraps without the wrapper.
func TestDoForeignPermanent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wrapped := fmt.Errorf("request 3: %w", backoff.Permanent(errSimple))
		out, err := do(t.Context(), retry.Policy{}, retry.Partition, script(repeat(wrapped, 9)...), nil)
		if out.Attempts != 4 || err != wrapped { //nolint:errorlint // the very error
			t.Errorf("%d attempts, %v", out.Attempts, err)
		}
	})
}

// Everything runs on the caller's goroutine: a panic of the attempt or of the observer reaches the caller, and the
// context of the attempt has ended by then.
func TestDoPanic(t *testing.T) {
	t.Parallel()
	for _, at := range []int{1, 2} {
		t.Run(fmt.Sprint("attempt ", at), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var seen context.Context
				defer func() {
					if recover() == nil || seen.Err() == nil {
						t.Errorf("context %v", seen.Err())
					}
				}()
				_, _ = do(t.Context(), retry.Policy{}, retry.Partition, func(ctx context.Context, n int) error {
					if seen = ctx; n == at {
						panic("attempt")
					}
					return errSimple
				}, nil)
			})
		})
	}
}

// The context of an attempt ends with the attempt, so that nothing of it is left behind.
func TestDoEndsAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var all []context.Context
		_, err := do(t.Context(), retry.Policy{}, retry.Partition, func(ctx context.Context, n int) error {
			for _, earlier := range all {
				if earlier.Err() == nil {
					t.Errorf("attempt %d begins while another's context lives", n)
				}
			}
			all = append(all, ctx)
			return script(errSimple, errSimple)(ctx, n)
		}, nil)
		if err != nil || len(all) != 3 || all[2].Err() == nil {
			t.Errorf("%d attempts, %v", len(all), err)
		}
	})
}

func TestErrorTextNamesBoth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := do(ctx, retry.Policy{}, retry.Partition, func(context.Context, int) error {
			cancel()
			return fmt.Errorf("request 1: %w", gocql.ErrNoConnections)
		}, nil)
		for _, part := range []string{"context canceled", "request 1", gocql.ErrNoConnections.Error()} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q is not in %q", part, err)
			}
		}
	})
}
