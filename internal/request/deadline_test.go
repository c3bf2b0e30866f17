package request_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/retry"
)

// patient waits up to a minute between attempts and has no limit in reach.
var patient = retry.Policy{
	MaxAttempts: 100, MaxElapsedTime: time.Hour, InitialInterval: time.Minute, MaxInterval: time.Minute, Multiplier: 1,
}

// backoff's own Retry runs the operation once whatever the context says.
func TestDoContextDoneBefore(t *testing.T) {
	t.Parallel()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	expired, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for _, c := range []struct {
		ctx    context.Context
		cause  error
		reason string
	}{
		{canceled, context.Canceled, "canceled"},
		{expired, context.DeadlineExceeded, "deadline_exceeded"},
	} {
		for _, kind := range []retry.Kind{
			retry.Partition, retry.LoggedBatch, retry.UnloggedBatch, retry.Conditional,
			retry.Counter,
		} {
			out, err := do(c.ctx, retry.Policy{}, kind, func(context.Context, int) error {
				t.Error("attempted")
				return nil
			}, func(request.Event) { t.Error("observed") })
			want := request.Result{Outcome: retry.NotApplied, Last: retry.Verdict{Outcome: retry.NotApplied, Reason: c.reason}}
			if out != want || !errors.Is(err, c.cause) || out.Outcome != retry.NotApplied {
				t.Errorf("%v: %+v, %v", kind, out, err)
			}
		}
	}
}

// No attempt starts later than MaxElapsedTime after the first, Do returns as soon as the next would, and never sleeps
// past the deadline of the caller. While the context lives the error is the database's alone.
func TestDoNeverLate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		policy   retry.Policy
		deadline time.Duration
		limit    time.Duration // last start
	}{
		{"elapsed", retry.Policy{MaxAttempts: 1000, MaxElapsedTime: 5 * time.Second}, 0, 5 * time.Second},
		{
			"elapsed below deadline",
			retry.Policy{MaxAttempts: 1000, MaxElapsedTime: 3 * time.Second},
			time.Minute,
			3 * time.Second,
		},
		{"deadline", retry.Policy{MaxAttempts: 1000, MaxElapsedTime: time.Hour}, 4 * time.Second, 4 * time.Second},
		{
			"deadline below the first wait",
			retry.Policy{InitialInterval: time.Hour, MaxElapsedTime: 2 * time.Hour},
			time.Millisecond, time.Millisecond,
		},
		{"no limit of backoff's own", retry.Policy{
			MaxAttempts: 1000, MaxElapsedTime: 5 * time.Hour, InitialInterval: 10 * time.Minute,
			MaxInterval: 10 * time.Minute, Multiplier: 1,
		}, 0, 5 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for range 50 {
				synctest.Test(t, func(t *testing.T) {
					ctx, start := t.Context(), time.Now()
					if c.deadline > 0 {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, c.deadline)
						defer cancel()
					}
					var last time.Duration
					out, err := do(ctx, c.policy, retry.Partition, func(context.Context, int) error {
						last = time.Since(start)
						return errSimple
					}, nil)
					if last > c.limit {
						t.Errorf("an attempt started after %v", last)
					}
					if end := time.Since(start); end != last {
						t.Errorf("returned %v after the last attempt", end-last)
					}
					if err != error(errSimple) || out.Attempts == 0 || ctx.Err() != nil { //nolint:errorlint // the very error
						t.Errorf("%+v, %v", out, err)
					}
					if c.limit == 5*time.Hour && last < 15*time.Minute {
						t.Errorf("gave up after %v", last)
					}
				})
			}
		})
	}
}

// An observer may be slow, and the machine may be: a wait that ends too late is followed by no attempt.
func TestDoSlowObserver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		deadline time.Duration
	}{
		{"past MaxElapsedTime", time.Hour},
		{"past the deadline", 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.deadline)
				defer cancel()
				out, err := do(ctx, retry.Policy{}, retry.Partition, script(errSimple),
					func(request.Event) { time.Sleep(6 * time.Second) })
				var timeout *gocql.RequestErrWriteTimeout
				if out.Attempts != 1 || !errors.As(err, &timeout) ||
					errors.Is(err, context.DeadlineExceeded) != (ctx.Err() != nil) {
					t.Errorf("%+v, %v", out, err)
				}
			})
		})
	}
}

// backoff drops the last error when the context ends in a wait.
func TestDoCanceledInWait(t *testing.T) {
	t.Parallel()
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			at := time.Now().Add(90 * time.Second)
			time.AfterFunc(90*time.Second, cancel)
			out, err := do(ctx, patient, retry.Partition, func(context.Context, int) error {
				if ctx.Err() != nil {
					t.Error("attempted after the context ended")
				}
				return errUnavailable
			}, nil)
			if !time.Now().Equal(at) {
				t.Errorf("returned %v after the context ended", time.Since(at))
			}
			var unavailable *gocql.RequestErrUnavailable
			if !errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
				!errors.As(err, &unavailable) || unavailable != errUnavailable {
				t.Errorf("error %v", err)
			}
			if out.Outcome != retry.NotApplied || out.Last.Reason != "unavailable" || out.Attempts == 0 {
				t.Errorf("outcome %+v", out)
			}
		})
	}
}

// When the wait is over and the context has ended, select takes either; the next attempt must not be made.
func TestDoWaitEndsWithContext(t *testing.T) {
	t.Parallel()
	policy := retry.Policy{InitialInterval: 1, MaxInterval: 1} // waits of zero
	synctest.Test(t, func(t *testing.T) {
		for range 200 {
			ctx, cancel := context.WithCancel(t.Context())
			out, err := do(ctx, policy, retry.Partition, func(context.Context, int) error { return errSimple },
				func(request.Event) { cancel() })
			if out.Attempts != 1 || !errors.Is(err, context.Canceled) || !errors.Is(err, errSimple) {
				t.Fatalf("%+v, %v", out, err)
			}
		}
	})
}

// An attempt that takes longer than its own limit may be repeated; the caller's deadline has not passed.
func TestDoAttemptTimeout(t *testing.T) {
	t.Parallel()
	block := func(ctx context.Context, _ int) error {
		<-ctx.Done()
		return ctx.Err() // as gocql does, conn.go
	}
	for _, c := range []struct {
		kind     retry.Kind
		attempts int
		took     time.Duration
	}{
		{retry.Partition, 2, 5 * time.Second}, // the third would start after MaxElapsedTime
		{retry.LoggedBatch, 2, 5 * time.Second},
		{retry.UnloggedBatch, 2, 5 * time.Second},
		{retry.Conditional, 1, 2500 * time.Millisecond},
		{retry.Counter, 1, 2500 * time.Millisecond},
	} {
		t.Run(c.kind.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				out, err := do(t.Context(), retry.Policy{}, c.kind, block, func(e request.Event) {
					if e.Verdict.Reason != "attempt_timeout" || !errors.Is(e.Err, context.DeadlineExceeded) {
						t.Errorf("event %+v", e)
					}
				})
				if took := time.Since(start); took < c.took || took > c.took+50*time.Millisecond {
					t.Errorf("took %v", took)
				}
				want := retry.Verdict{Retry: c.kind.Idempotent(), Reason: "attempt_timeout"}
				if out.Attempts != c.attempts || out.Outcome != retry.Unknown || out.Last != want {
					t.Errorf("outcome %+v", out)
				}
				if !errors.Is(err, context.DeadlineExceeded) || t.Context().Err() != nil {
					t.Errorf("error %v", err)
				}
			})
		})
	}
	t.Run("then success", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			out, err := do(t.Context(), retry.Policy{AttemptTimeout: time.Second}, retry.Partition,
				func(ctx context.Context, n int) error {
					if n == 1 {
						return block(ctx, n)
					}
					return nil
				}, nil)
			if err != nil || out != (request.Result{Attempts: 2, Outcome: retry.Applied}) {
				t.Errorf("%+v, %v", out, err)
			}
		})
	})
	t.Run("after a database error", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			out, err := do(t.Context(), retry.Policy{MaxAttempts: 2}, retry.Partition,
				func(ctx context.Context, n int) error {
					if n == 1 {
						return errUnavailable
					}
					return block(ctx, n)
				}, nil)
			var unavailable *gocql.RequestErrUnavailable
			if !errors.As(err, &unavailable) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			if out.Outcome != retry.Unknown || out.Last.Reason != "attempt_timeout" {
				t.Errorf("outcome %+v", out)
			}
		})
	})
}

// The caller's context ends while an attempt runs: Unknown, not repeated, and the last database error is kept.
func TestDoContextEndsInAttempt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		end    func(context.Context) (context.Context, context.CancelFunc)
		cause  error
		reason string
	}{
		{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 2*time.Second)
		}, context.DeadlineExceeded, "deadline_exceeded"},
		{"deadline with the attempt's limit", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 2500*time.Millisecond)
		}, context.DeadlineExceeded, "deadline_exceeded"},
		{"cancel", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(2*time.Second, cancel)
			return ctx, cancel
		}, context.Canceled, "canceled"},
	} {
		for _, earlier := range []error{nil, errUnavailable, errSimple} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := c.end(t.Context())
					defer cancel()
					out, err := do(ctx, retry.Policy{}, retry.Partition, func(ctx context.Context, n int) error {
						if n == 1 && earlier != nil {
							return earlier
						}
						<-ctx.Done()
						return ctx.Err()
					}, nil)
					attempts := 1
					if earlier != nil {
						attempts = 2
					}
					want := request.Result{Attempts: attempts, Last: retry.Verdict{Reason: c.reason}}
					if out != want {
						t.Errorf("outcome %+v, want %+v", out, want)
					}
					if !errors.Is(err, c.cause) || (earlier != nil && !errors.Is(err, earlier)) {
						t.Errorf("error %v", err)
					}
				})
			})
		}
	}
}

// A clean answer that comes as the context ends is clean, and the error says both.
func TestDoContextEndsWithAnswer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	out, err := do(ctx, retry.Policy{}, retry.Partition, func(context.Context, int) error {
		cancel()
		return gocql.ErrNoConnections
	}, nil)
	if out.Attempts != 1 || out.Outcome != retry.NotApplied || out.Last.Reason != "no_connections" {
		t.Errorf("outcome %+v", out)
	}
	if !errors.Is(err, context.Canceled) || !errors.Is(err, gocql.ErrNoConnections) {
		t.Errorf("error %v", err)
	}
}

// An attempt that succeeds is a success, whatever happened to the context meanwhile.
func TestDoSuccessAsContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	out, err := do(ctx, retry.Policy{}, retry.Partition, func(context.Context, int) error {
		cancel()
		return nil
	}, nil)
	if err != nil || out != (request.Result{Attempts: 1, Outcome: retry.Applied}) {
		t.Errorf("%+v, %v", out, err)
	}
}

// An attempt that cancels a context of its own says nothing about the caller's, and is not repeated.
func TestDoForeignCancel(t *testing.T) {
	t.Parallel()
	out, err := do(t.Context(), retry.Policy{}, retry.Partition, script(context.Canceled), nil)
	if out.Attempts != 1 || out.Outcome != retry.Unknown || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", out, err)
	}
}
