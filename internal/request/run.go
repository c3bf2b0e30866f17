package request

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/denorm-go/denorm/retry"
)

// Reasons of package retry, and one of its own.
const (
	reasonAttemptTimeout   = "attempt_timeout"
	reasonCanceled         = "canceled"
	reasonDeadlineExceeded = "deadline_exceeded"
)

// A retry after an attempt that timed out costs twice: it has held a stream and a caller for seconds, and the server
// may still be working on what it did not answer.
const (
	cost     = 1
	dearCost = 2
)

// price is what the retry after a failed attempt costs.
func price(v retry.Verdict) int64 {
	if v.Reason == reasonAttemptTimeout || v.Reason == "no_response" || strings.HasPrefix(v.Reason, "write_timeout") {
		return dearCost
	}
	return cost
}

// run is one call of [Retrier.Do] whose first attempt has failed.
type run struct {
	*Retrier
	ctx     context.Context //nolint:containedctx // lives as long as the call
	kind    retry.Kind
	attempt func(ctx context.Context, n int) error
	start   time.Time // of the first attempt
	limit   int       // attempts allowed; a verdict may lower it
	late    bool      // the next attempt would have started after MaxElapsedTime

	result   Result
	err      error // of the last attempt, nil if it succeeded
	database error // the last one that did not come from a context
}

// try runs an attempt after the first under a limit of its own.
func (r *run) try() {
	own, cancel := context.WithTimeout(r.ctx, r.policy.AttemptTimeout)
	defer cancel()
	r.record(own, r.attempt(own, r.result.Attempts+1))
}

// record adds an attempt with the context own to the result.
func (r *run) record(own context.Context, err error) {
	r.result.Attempts++
	if r.err = err; err == nil {
		return
	}
	verdict := retry.Classify(err, r.kind)
	if verdict.Reason == reasonDeadlineExceeded && errors.Is(own.Err(), context.DeadlineExceeded) &&
		r.ctx.Err() == nil && !ranOut(r.ctx) { //nolint:contextcheck // own is made from it
		verdict = retry.Verdict{Retry: r.kind.Idempotent(), Reason: reasonAttemptTimeout}
		r.err = fmt.Errorf("retry: attempt ended after %v: %w", r.policy.AttemptTimeout, err)
	}
	if errors.As(err, new(*stopError)) {
		verdict.Retry = false
	}
	r.result.Outcome = r.result.Outcome.Then(verdict.Outcome)
	r.result.Last = verdict
	r.result.Batchlog = r.result.Batchlog || verdict.Batchlog
	if !fromContext(verdict) {
		r.database = r.err
	}
	if verdict.Once {
		r.limit = min(r.limit, r.result.Attempts+1)
	}
}

// ranOut reports whether the deadline of ctx has passed, which may be a moment before ctx says so.
func ranOut(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) <= 0
}

// fromContext reports whether the error was a context's, and not the answer of driver or server.
func fromContext(v retry.Verdict) bool {
	return v.Reason == reasonCanceled || v.Reason == reasonDeadlineExceeded || v.Reason == reasonAttemptTimeout
}

// again says whether there is another attempt after a wait, and takes the price of it from the budget. A negative wait
// stands for none.
func (r *run) again(wait time.Duration) bool {
	if wait < 0 || !r.result.Last.Retry || r.result.Attempts >= r.limit || r.ctx.Err() != nil {
		return false
	}
	if wait > r.policy.MaxElapsedTime-time.Since(r.start) {
		r.late = true
		return false
	}
	if deadline, ok := r.ctx.Deadline(); ok && wait >= time.Until(deadline) {
		return false
	}
	r.result.BudgetSpent = !r.budget.Take(price(r.result.Last))
	return !r.result.BudgetSpent
}

// sleep waits, and says whether the next attempt may be made: the wait may have ended together with ctx, and the timer
// may have been late.
func (r *run) sleep(wait time.Duration) bool {
	_ = Sleep(r.ctx, wait) // looked at below
	r.late = time.Since(r.start) > r.policy.MaxElapsedTime
	return r.ctx.Err() == nil && !r.late
}

// Sleep waits, and gives the error of ctx if that ends before.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// failure is the error of a write of which no attempt succeeded.
func (r *run) failure() error {
	last, ended := r.err, r.ctx.Err()
	if r.result.Last.Reason == reasonAttemptTimeout {
		// The context's error alone would read as if the caller's deadline had passed.
		last = &RewordedError{r.err, fmt.Sprintf("no answer within %v", r.policy.AttemptTimeout)}
		if r.late {
			last = fmt.Errorf("%w; MaxElapsedTime %v of the retry policy allows no further attempt", last,
				r.policy.MaxElapsedTime)
		}
	}
	if r.database != nil {
		if ended == nil && fromContext(r.result.Last) {
			ended = last // the last attempt's own limit
		}
		last = r.database
	}
	if ended != nil && !errors.Is(last, ended) {
		last = &endedError{last: last, ended: ended}
	}
	if r.result.BudgetSpent {
		last = &endedError{last: last, ended: retry.ErrBudget}
	}
	return last
}

// endedError is the last error of a write, and why no attempt followed: both can be found with errors.Is and errors.As.
type endedError struct{ last, ended error }

func (e *endedError) Error() string   { return fmt.Sprintf("%v, last error: %v", e.ended, e.last) }
func (e *endedError) Unwrap() []error { return []error{e.last, e.ended} }
func (e *endedError) Last() error     { return e.last }
