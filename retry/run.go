package retry

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// run is one call of [Retrier.Do] whose first attempt has failed.
type run struct {
	retrier *Retrier
	ctx     context.Context //nolint:containedctx // lives as long as the call
	kind    Kind
	attempt func(ctx context.Context, n int) error
	observe func(Event)
	start   time.Time // of the first attempt
	limit   int       // attempts allowed; a verdict may lower it
	late    bool      // the next attempt would have started after MaxElapsedTime

	outcome  Outcome
	err      error // of the last attempt, nil if it succeeded
	database error // the last one that did not come from a context
}

// finish makes the attempts that are left and returns what Do returns.
func (r *run) finish() (Outcome, error) {
	waits := newJitter(r.retrier.policy)
	for {
		wait := waits.next()
		price, again := r.again(wait)
		if !again {
			return r.outcome, r.failure()
		}
		if r.observe != nil {
			r.observe(Event{Attempt: r.outcome.Attempts, Err: r.err, Verdict: r.outcome.Last, Wait: wait})
		}
		if !r.sleep(wait) {
			r.retrier.budget.put(price * milli) // the retry is not made
			return r.outcome, r.failure()
		}
		if r.record(r.try(r.outcome.Attempts + 1)); r.err == nil {
			r.retrier.budget.earn()
			return Outcome{Attempts: r.outcome.Attempts, Batchlog: r.outcome.Batchlog}, nil
		}
	}
}

// sleep waits, and says whether the next attempt may be made: the wait may have ended together with ctx, and the timer may
// have been late.
func (r *run) sleep(wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.ctx.Done():
	}
	r.late = time.Since(r.start) > r.retrier.policy.MaxElapsedTime
	return r.ctx.Err() == nil && !r.late
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

// again says whether there is another attempt after a wait, and what was taken from the budget for it.
func (r *run) again(wait time.Duration) (price int64, again bool) {
	if !r.outcome.Last.Retry || r.outcome.Attempts >= r.limit || r.ctx.Err() != nil {
		return 0, false
	}
	if wait > r.retrier.policy.MaxElapsedTime-time.Since(r.start) {
		r.late = true
		return 0, false
	}
	if deadline, ok := r.ctx.Deadline(); ok && wait >= time.Until(deadline) {
		return 0, false
	}
	price = r.outcome.Last.price()
	if !r.retrier.budget.take(price) {
		r.outcome.Refused = true
		return 0, false
	}
	return price, true
}

// failure is the error of a write of which no attempt succeeded.
func (r *run) failure() error {
	last, ended := r.err, r.ctx.Err()
	if r.outcome.Last.Reason == reasonAttemptTimeout {
		last = &limitError{limit: r.retrier.policy.AttemptTimeout, err: r.err}
		if r.late {
			last = &lateError{r.retrier.policy.MaxElapsedTime, last}
		}
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

// lateError is the error of a write without an answer that was not tried again because of MaxElapsedTime: its context may have time left.
type lateError struct {
	limit time.Duration
	last  error
}

func (e *lateError) Error() string {
	return fmt.Sprintf("%v; MaxElapsedTime %v of the retry policy allows no further attempt", e.last, e.limit)
}
func (e *lateError) Unwrap() error { return e.last }
