package retry

import (
	"context"
	"fmt"
	"time"
)

const (
	reasonAttemptTimeout = "attempt_timeout"
	reasonInvalidPolicy  = "invalid_policy"
)

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
// So it is, but Permanent, if Validate refuses the policy.
//
// The error is nil if an attempt succeeded. Otherwise it holds the last error that did not come from a context, if
// there was one, so errors.As finds what the database said; and if ctx has ended it also matches context.Canceled or
// context.DeadlineExceeded with errors.Is. An attempt's own limit matches context.DeadlineExceeded too, while ctx.Err()
// is nil. If Do returned early because the next attempt would come too late, ctx has not ended and only the database's
// error is returned.
func (p Policy) Do(
	ctx context.Context, kind Kind, attempt func(ctx context.Context, n int) error, observe func(Event),
) (Outcome, error) {
	return p.DoFrom(ctx, nil, kind, attempt, observe)
}

// Attempt gives a context for the first attempts of several runs of [Policy.DoFrom] that start together: one timer in
// place of one each. cancel must be called when all of them have returned.
func (p Policy) Attempt(ctx context.Context) (own context.Context, cancel context.CancelFunc) {
	return context.WithTimeout(ctx, p.WithDefaults().AttemptTimeout)
}

// DoFrom is [Policy.Do] with a context for its first attempt, made by [Policy.Attempt] from the same ctx. Nil stands for
// one of its own, as all later attempts have.
func (p Policy) DoFrom(
	ctx, first context.Context, kind Kind, attempt func(ctx context.Context, n int) error, observe func(Event),
) (Outcome, error) {
	if outcome, err := p.refusal(ctx, kind); err != nil {
		return outcome, err
	}
	p = p.WithDefaults()
	start := time.Now()
	verdict, err := p.try(ctx, first, kind, attempt, 1)
	if err == nil { // a write that succeeds at once pays for nothing of what follows
		return Outcome{Attempts: 1}, nil
	}
	r := &run{policy: p, ctx: ctx, kind: kind, attempt: attempt, observe: observe, start: start, limit: p.MaxAttempts}
	return r.goOn(verdict, err)
}

// refusal says why nothing is attempted: the policy is not valid, or ctx is done, where backoff.Retry would run the first
// attempt even now.
//
//go:noinline
func (p Policy) refusal(ctx context.Context, kind Kind) (Outcome, error) {
	if err := p.Validate(); err != nil {
		return Outcome{Class: Permanent, Last: permanent(reasonInvalidPolicy)}, err
	}
	if err := ctx.Err(); err != nil {
		last := Verdict{Class: Safe, Reason: Classify(err, kind).Reason}
		return Outcome{Class: Safe, Last: last}, fmt.Errorf("retry: not attempted: %w", err)
	}
	return Outcome{}, nil
}

// try runs one attempt under a limit, own if it has one already, and classifies its error.
func (p Policy) try(
	ctx, own context.Context, kind Kind, attempt func(ctx context.Context, n int) error, n int,
) (Verdict, error) {
	if own == nil {
		var cancel context.CancelFunc
		own, cancel = context.WithTimeout(ctx, p.AttemptTimeout)
		defer cancel()
	}
	err := attempt(own, n)
	if err == nil {
		return Verdict{}, nil
	}
	verdict := Classify(err, kind)
	if verdict.Reason == reasonDeadlineExceeded && own.Err() != nil && ctx.Err() == nil && !ranOut(ctx) {
		verdict = unknown(kind, reasonAttemptTimeout)
		err = fmt.Errorf("retry: attempt ended after %v: %w", p.AttemptTimeout, err)
	}
	if stopped(err) {
		verdict.Retry = false
	}
	return verdict, err
}

// ranOut reports whether the deadline of ctx has passed, which may be a moment before ctx says so.
func ranOut(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) <= 0
}
