package request

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/denorm-go/denorm/internal/settings"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
)

// Retrier sends requests by a policy, with a budget that they share. It is safe for concurrent use.
type Retrier struct {
	policy retry.Policy // with defaults
	budget *settings.Budget
}

// NewRetrier makes a Retrier from a valid policy. A nil budget means a budget without limit.
func NewRetrier(policy retry.Policy, budget *settings.Budget) Retrier {
	return Retrier{policy.WithDefaults(), budget}
}

// Result is what is known after [Retrier.Do].
type Result struct {
	// Attempts is the number of attempts that were started.
	Attempts int

	// Outcome is what is known after all attempts. It is sticky: once an attempt was Unknown or Pending, no later clean
	// failure makes it NotApplied.
	Outcome retry.Outcome

	// Last is the verdict on the last attempt, or the reason why there was none. It is zero if Do returned nil.
	Last retry.Verdict

	// Batchlog reports that some attempt failed at the batchlog, even if a later one succeeded.
	Batchlog bool

	// BudgetSpent reports that another attempt was due but the budget was spent.
	BudgetSpent bool
}

// Event tells the observer of [Retrier.Do] that an attempt failed and that another one follows after a wait. It has no
// host.
type Event = session.Retry

// Do runs attempt until it succeeds, until its error is not to be retried, or until a limit is met, all on the caller's
// goroutine. attempt is called with its number, from 1, and a context that ends with ctx and after AttemptTimeout. It
// has to send the whole write, with the same timestamp every time, and has to return the error of gocql, wrapped or
// not, or marked with [Stop] if it is to be the last. An attempt that ends by its own limit is Unknown, and is retried
// if kind is idempotent; one that ends because ctx did is not. observe, if not nil, is called before each wait. Do
// never waits past the deadline of ctx or past MaxElapsedTime: it returns at once if the next attempt would come too
// late. If ctx is done before the first attempt, the outcome is NotApplied with zero Attempts.
//
// The error is nil if an attempt succeeded. Otherwise it holds the last error that did not come from a context, if
// there was one, so errors.As finds what the database said. If ctx has ended, or the attempt at its own limit, it also
// matches the context's error; if the budget was spent, [retry.ErrBudget].
func (r *Retrier) Do(
	ctx context.Context, kind retry.Kind, attempt func(ctx context.Context, n int) error, observe func(Event),
) (Result, error) {
	if err := ctx.Err(); err != nil {
		return NotAttempted(kind, err)
	}
	start := time.Now()
	first, cancel := context.WithTimeout(ctx, r.policy.AttemptTimeout)
	defer cancel() // if attempt panics
	err := attempt(first, 1)
	cancel()
	if err == nil {
		r.Succeeded()
		return Result{Attempts: 1, Outcome: retry.Applied}, nil
	}
	return r.GoOn(ctx, Failed{Context: first, Start: start, Err: err}, kind, attempt, observe)
}

// NotAttempted is what [Retrier.Do] returns of a write whose context has ended before the first attempt, with this
// error.
func NotAttempted(kind retry.Kind, err error) (Result, error) {
	last := retry.Verdict{Outcome: retry.NotApplied, Reason: retry.Classify(err, kind).Reason}
	return Result{Outcome: retry.NotApplied, Last: last}, fmt.Errorf("retry: not attempted: %w", err)
}

// Retries says whether a request may have a second attempt.
func (r *Retrier) Retries() bool { return r.policy.MaxAttempts > 1 }

// AttemptTimeout is the limit of one attempt.
func (r *Retrier) AttemptTimeout() time.Duration { return r.policy.AttemptTimeout }

// Succeeded tells the budget of a first attempt that the caller made by itself.
func (r *Retrier) Succeeded() { r.budget.Earn() }

// Spend takes the cost of a retry from the budget, and reports whether the budget had it. It is for a caller that sends
// a request again for a reason other than a failure.
func (r *Retrier) Spend() bool { return r.budget.Take(cost) }

// Failed is a first attempt that failed, made by a caller that gave it a context of AttemptTimeout.
type Failed struct {
	Context context.Context //nolint:containedctx // of the attempt, to tell its limit from the caller's
	Start   time.Time
	Err     error
	// Alone, if not nil, says that other requests were sent with this one, in an unlogged batch. They may be the cause of
	// the error. Therefore the second attempt, of this request alone, is made at once, and the error decides only the
	// outcome so far. Alone is called before that attempt, if there is one, instead of the observer, and returns the
	// context for what follows.
	Alone func() context.Context
}

// Judge returns what is known of a request after a failed first attempt that is to be the last.
func (r *Retrier) Judge(ctx context.Context, first Failed, kind retry.Kind) (Result, error) {
	run := r.after(ctx, first, kind)
	return run.result, run.failure()
}

// after is the run of a request after a first attempt.
func (r *Retrier) after(ctx context.Context, first Failed, kind retry.Kind) *run {
	run := &run{
		Retrier: r, ctx: ctx, kind: kind, start: first.Start, limit: r.policy.MaxAttempts,
		result: Result{Outcome: retry.NotApplied},
	}
	if first.Alone != nil {
		run.kind = retry.UnloggedBatch
	}
	run.record(first.Context, first.Err) //nolint:contextcheck // the attempt's is made from ctx
	if first.Alone != nil {
		run.kind, run.limit, run.result.Last.Retry = kind, r.policy.MaxAttempts, true
	}
	return run
}

// GoOn is [Retrier.Do] for a write whose first attempt was made by the caller and failed.
func (r *Retrier) GoOn(
	ctx context.Context, first Failed, kind retry.Kind, attempt func(ctx context.Context, n int) error,
	observe func(Event),
) (Result, error) {
	run := r.after(ctx, first, kind)
	run.attempt = attempt
	for next := waits(r.policy); ; {
		alone := first.Alone != nil && run.result.Attempts == 1
		wait := time.Duration(0)
		if !alone {
			wait = next()
		}
		if !run.again(wait) {
			return run.result, run.failure()
		}
		if alone {
			run.ctx = first.Alone() //nolint:fatcontext // once
		} else if observe != nil {
			observe(Event{Attempt: run.result.Attempts, Err: run.err, Verdict: run.result.Last, Wait: wait})
		}
		if !run.sleep(wait) {
			r.budget.Put(price(run.result.Last)) // the retry is not made
			return run.result, run.failure()
		}
		if run.try(); run.err == nil { //nolint:contextcheck // run has it
			r.Succeeded()
			return Result{Attempts: run.result.Attempts, Outcome: retry.Applied, Batchlog: run.result.Batchlog}, nil
		}
	}
}

// waits gives the waits of one run, one after the other; a negative one ends it. It is not safe for concurrent use, so
// every run has its own.
func waits(p retry.Policy) func() time.Duration {
	if p.BackOff == nil {
		return jitter(p)
	}
	own := p.BackOff()
	if own == nil {
		own = &backoff.StopBackOff{}
	}
	own.Reset() // some, such as a backoff.ExponentialBackOff that is a literal, do not work before
	return own.NextBackOff
}

// jitter draws every wait uniformly from zero up to an interval of backoff's that grows: full jitter, which backoff's
// own RandomizationFactor cannot give (it spreads around the interval, up to twice as far). It never stops.
func jitter(p retry.Policy) func() time.Duration {
	growth := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(p.InitialInterval),
		backoff.WithMultiplier(p.Multiplier),
		backoff.WithMaxInterval(p.MaxInterval),
		backoff.WithRandomizationFactor(0),
		backoff.WithMaxElapsedTime(0), // backoff stops after 15 minutes otherwise; the run has its own limit
	)
	return func() time.Duration {
		return time.Duration(rand.Int64N(int64(growth.NextBackOff()))) //nolint:gosec // G404: spreads load, guards nothing
	}
}

// Stop marks the error of an attempt as the last one: [Retrier.Do] does not try again, whatever the verdict. It does
// not change what is known of the write. It is for callers that have another way to continue. A nil err stays nil.
func Stop(err error) error {
	if err == nil {
		return nil
	}
	return &stopError{err}
}

type stopError struct{ error }

func (e *stopError) Unwrap() error { return e.error }
