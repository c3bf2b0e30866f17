package retry

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	reasonAttemptTimeout = "attempt_timeout"
	reasonInvalidPolicy  = "invalid_policy"
)

// Retrier carries out writes by a [Policy], with a [Budget] that they share. It is made by [New] and safe for concurrent
// use.
type Retrier struct {
	policy Policy // with defaults
	budget *Budget
	err    error // of a policy that is not valid; every write fails with it
}

// New makes a Retrier. A nil budget stands for one without limit. The error is that of [Policy.Validate] or [Budget.Validate].
func New(policy Policy, budget *Budget) (*Retrier, error) {
	if err := budget.Validate(); err != nil {
		return nil, err
	}
	r := policy.retrier(budget)
	if r.err != nil {
		return nil, r.err
	}
	return &r, nil
}

func (p Policy) retrier(budget *Budget) Retrier {
	if err := p.Validate(); err != nil {
		return Retrier{err: err}
	}
	return Retrier{policy: p.WithDefaults(), budget: budget}
}

// Do carries out one write without a budget: it is [Retrier.Do] of a Retrier that is used once.
func (p Policy) Do(
	ctx context.Context, kind Kind, attempt func(ctx context.Context, n int) error, observe func(Event),
) (Outcome, error) {
	r := p.retrier(nil)
	return r.Do(ctx, kind, attempt, observe)
}

// Do runs attempt until it succeeds, until its error is not to be retried, or until a limit is met. It runs everything
// on the caller's goroutine, one attempt after the other.
//
// attempt is called with its number, from 1, and a context of its own, which ends with ctx and after AttemptTimeout. It
// has to send the whole write, with the same timestamp every time, and has to return the error of gocql, wrapped or
// not, or marked with [Stop] if it is to be the last. An attempt that ends by its own limit is Unknown, has the reason
// "attempt_timeout" and is retried if kind is idempotent; one that ends because ctx did is not retried.
//
// observe, if not nil, is called before each wait, on the caller's goroutine.
//
// Do never waits past the deadline of ctx or past MaxElapsedTime: if the next attempt would come too late it returns
// at once. If ctx is done before the first attempt, nothing is attempted, and the outcome is Safe with zero Attempts.
// So it is, but Permanent, if Validate rejects the policy.
//
// The error is nil if an attempt succeeded. Otherwise it holds the last error that did not come from a context, if
// there was one, so errors.As finds what the database said; and if ctx has ended it also matches context.Canceled or
// context.DeadlineExceeded with errors.Is. An attempt's own limit matches context.DeadlineExceeded too, while ctx.Err()
// is nil. If Do returned early because the next attempt would come too late, ctx has not ended and only the database's
// error is returned. If the budget did not allow another attempt, the error matches [ErrBudget] alongside the last one.
func (r *Retrier) Do(
	ctx context.Context, kind Kind, attempt func(ctx context.Context, n int) error, observe func(Event),
) (Outcome, error) {
	if r.err != nil {
		return Outcome{Class: Permanent, Last: permanent(reasonInvalidPolicy)}, r.err
	}
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
		return Outcome{Attempts: 1}, nil
	}
	return r.GoOn(ctx, Failed{Context: first, Start: start, Err: err}, kind, attempt, observe)
}

// NotAttempted is what [Retrier.Do] returns of a write whose context has ended before the first attempt, with this error.
func NotAttempted(kind Kind, err error) (Outcome, error) {
	last := Verdict{Class: Safe, Reason: Classify(err, kind).Reason}
	return Outcome{Class: Safe, Last: last}, fmt.Errorf("retry: not attempted: %w", err)
}

// AttemptTimeout is the limit of one attempt.
func (r *Retrier) AttemptTimeout() time.Duration { return r.policy.AttemptTimeout }

// Succeeded tells the budget of a first attempt that the caller made by itself.
func (r *Retrier) Succeeded() { r.budget.earn() }

// Spend takes from the budget what a retry costs, and says whether it was there. It is for a caller that sends a request
// once more for another reason than a failure.
func (r *Retrier) Spend() bool { return r.budget.take(cost) }

// Failed is a first attempt that failed, made by a caller that gave it a context of AttemptTimeout.
type Failed struct {
	Context context.Context //nolint:containedctx // of the attempt, to tell its limit from the caller's
	Start   time.Time
	Err     error
}

// GoOn is [Retrier.Do] for a write whose first attempt the caller has made, and which failed.
func (r *Retrier) GoOn(
	ctx context.Context, first Failed, kind Kind, attempt func(ctx context.Context, n int) error, observe func(Event),
) (Outcome, error) {
	run := &run{
		retrier: r, ctx: ctx, kind: kind, attempt: attempt, observe: observe, start: first.Start, limit: r.policy.MaxAttempts,
	}
	run.record(run.judge(first.Context, first.Err)) //nolint:contextcheck // the attempt's is made from ctx
	return run.finish()                             //nolint:contextcheck // run has it
}

// try runs an attempt after the first under a limit of its own.
func (r *run) try(n int) (Verdict, error) {
	own, cancel := context.WithTimeout(r.ctx, r.retrier.policy.AttemptTimeout)
	defer cancel()
	err := r.attempt(own, n)
	if err == nil {
		return Verdict{}, nil
	}
	return r.judge(own, err)
}

// judge classifies the error of an attempt with the context own.
func (r *run) judge(own context.Context, err error) (Verdict, error) {
	verdict := Classify(err, r.kind)
	if verdict.Reason == reasonDeadlineExceeded && errors.Is(own.Err(), context.DeadlineExceeded) &&
		r.ctx.Err() == nil && !ranOut(r.ctx) { //nolint:contextcheck // own is made from it
		verdict = unknown(r.kind, reasonAttemptTimeout)
		err = fmt.Errorf("retry: attempt ended after %v: %w", r.retrier.policy.AttemptTimeout, err)
	}
	var s *stopError
	if errors.As(err, &s) {
		verdict.Retry = false
	}
	return verdict, err
}

// ranOut reports whether the deadline of ctx has passed, which may be a moment before ctx says so.
func ranOut(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) <= 0
}
