package retry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// errAttempt is all that backoff learns about a failed attempt. Handed the error itself, it would look for a
// *backoff.PermanentError anywhere inside and return what that wraps, without the wrapper; when the context ends it
// drops the error altogether. So the run keeps its errors, and backoff does the loop and the waiting.
var errAttempt = errors.New("retry: attempt failed")

// run is one call of [Retrier.Do] whose first attempt has failed. It is the [backoff.BackOff] of its own loop, so all
// reasons to stop are in one place, NextBackOff.
type run struct {
	retrier *Retrier
	ctx     context.Context //nolint:containedctx // lives as long as the call; backoff takes the context from here
	kind    Kind
	attempt func(ctx context.Context, n int) error
	observe func(Event)
	start   time.Time // of the first attempt
	limit   int       // attempts allowed; a verdict may lower it
	jitter  jitter

	outcome  Outcome
	err      error // of the last attempt, nil if it succeeded
	database error // the last one that did not come from a context
	entered  bool  // backoff has asked for the first attempt, which was made before
	tooLate  bool  // the wait ended after a limit
	paid     int64 // what was taken from the budget for a retry that has not been made
}

var _ backoff.BackOffContext = (*run)(nil)

// finish makes the attempts that are left and returns what Do returns.
func (r *run) finish() (Outcome, error) {
	r.jitter = newJitter(r.retrier.policy)
	_ = backoff.RetryNotify(r.next, r, r.notify) // its error is errAttempt or that of ctx, both known here
	r.retrier.budget.put(r.paid * milli)         // the caller has left in the wait
	if r.err == nil {
		r.retrier.budget.earn()
		return Outcome{Attempts: r.outcome.Attempts, Batchlog: r.outcome.Batchlog}, nil
	}
	return r.outcome, r.failure()
}

// next is backoff's operation: the attempt after those that were made.
func (r *run) next() error {
	if !r.entered {
		r.entered = true
		return errAttempt
	}
	// The wait may have ended together with ctx, and the timer may have been late.
	if r.ctx.Err() != nil || time.Since(r.start) > r.retrier.policy.MaxElapsedTime {
		r.tooLate = true
		return errAttempt
	}
	r.paid = 0
	r.record(r.try(r.outcome.Attempts + 1))
	if r.err != nil {
		return errAttempt
	}
	return nil
}

// record adds an attempt to the outcome.
func (r *run) record(verdict Verdict, err error) {
	first := r.outcome.Attempts == 0
	r.outcome.Attempts++
	r.err = err
	if err == nil {
		return
	}
	if first {
		r.outcome.Class = verdict.Class
	} else {
		r.outcome.Class = r.outcome.Class.then(verdict.Class)
	}
	r.outcome.Last = verdict
	r.outcome.Batchlog = r.outcome.Batchlog || verdict.Batchlog
	if !fromContext(verdict) {
		r.database = err
	}
	if verdict.Once {
		r.limit = min(r.limit, r.outcome.Attempts+1)
	}
}

// fromContext reports whether the error was a context's, and not the answer of driver or server.
func fromContext(v Verdict) bool {
	return v.Reason == reasonCanceled || v.Reason == reasonDeadlineExceeded || v.Reason == reasonAttemptTimeout
}

// NextBackOff returns the wait before the next attempt, or backoff.Stop if there is to be none.
func (r *run) NextBackOff() time.Duration {
	if r.tooLate || !r.outcome.Last.Retry || r.outcome.Attempts >= r.limit || r.ctx.Err() != nil {
		return backoff.Stop
	}
	wait := r.jitter.NextBackOff()
	if wait > r.retrier.policy.MaxElapsedTime-time.Since(r.start) {
		return backoff.Stop
	}
	if deadline, ok := r.ctx.Deadline(); ok && wait >= time.Until(deadline) {
		return backoff.Stop
	}
	price := r.outcome.Last.price()
	if !r.retrier.budget.take(price) {
		r.outcome.Refused = true
		return backoff.Stop
	}
	r.paid = price
	return wait
}

// Reset is called by backoff when the loop begins.
func (r *run) Reset() { r.jitter.Reset() }

// Context is where backoff finds the context that ends a wait.
func (r *run) Context() context.Context { return r.ctx }

func (r *run) notify(_ error, wait time.Duration) {
	if r.observe != nil {
		r.observe(Event{Attempt: r.outcome.Attempts, Err: r.err, Verdict: r.outcome.Last, Wait: wait})
	}
}

// failure is the error of a write of which no attempt succeeded.
func (r *run) failure() error {
	last, ended := r.err, r.ctx.Err()
	if r.outcome.Last.Reason == reasonAttemptTimeout {
		last = &limitError{r.retrier.policy.AttemptTimeout, r.err}
	}
	if r.database != nil {
		if ended == nil && fromContext(r.outcome.Last) {
			ended = last // the last attempt's own limit
		}
		last = r.database
	}
	if ended != nil && !errors.Is(last, ended) {
		last = &endedError{last: last, ended: ended}
	}
	if r.outcome.Refused {
		last = &budgetError{last}
	}
	return last
}

// limitError is the end of an attempt by its own limit. The context's error alone would read as if the caller's deadline had
// passed.
type limitError struct {
	limit time.Duration
	err   error
}

func (e *limitError) Error() string { return fmt.Sprintf("no answer within %v", e.limit) }
func (e *limitError) Unwrap() error { return e.err }

// endedError is the last error of a write whose context ended: both can be found with errors.Is and errors.As.
type endedError struct{ last, ended error }

func (e *endedError) Error() string   { return fmt.Sprintf("%v, last error: %v", e.ended, e.last) }
func (e *endedError) Unwrap() []error { return []error{e.last, e.ended} }
