package retry

import (
	"errors"
	"math"
	"strings"
	"sync/atomic"
)

// ErrBudget is matched by the error of a write that was given up because the budget for retries was spent.
var ErrBudget = errors.New("retry: the budget for retries is spent")

const (
	defaultBudget = 1000 // retries
	defaultEarned = 0.25 // retries for each success

	// A retry after an attempt that timed out costs twice: it has held a stream and a caller for seconds, and the server
	// may still be working on what it did not answer.
	cost     = 1
	dearCost = 2
)

// Budget limits how many retries many writes make together: in an outage, retries multiply the load of a cluster that
// cannot carry its load already. It is a token bucket. It begins full; a retry takes one token, one that follows an
// attempt that timed out two; every success puts a part of one back. What was taken for a retry that is not made, because the
// caller leaves before it, is put back too. So a total outage costs the bucket's contents in retries, and nothing after
// that, while scattered errors are retried as long as successes pay for them.
//
// It is safe for concurrent use. It is made by [NewBudget].
type Budget struct {
	tokens atomic.Int64 // in thousandths
	size   int64
	earned int64
}

const milli = 1000

// NewBudget makes a full bucket of size tokens, into which each success puts earned tokens. 0 means the default: 1000
// tokens, and 0.25 a success, which pays for retries as long as at most one attempt in five fails, or one in nine times
// out. Negative values are taken for 0; NaN is, too. earned is a fraction and no percentage: more than 1, which is a
// retry for every success, is taken for 1.
func NewBudget(size int, earned float64) *Budget {
	if size <= 0 {
		size = defaultBudget
	}
	if !(earned > 0) { // so written that NaN is 0
		earned = defaultEarned
	}
	b := &Budget{size: min(int64(size), math.MaxInt64/milli) * milli, earned: int64(math.Ceil(min(earned, 1) * milli))}
	b.tokens.Store(b.size)
	return b
}

// Validate says of a budget that was not made by [NewBudget], and so allows no retry, what it is. A nil budget is one without limit.
func (b *Budget) Validate() error {
	if b != nil && b.size == 0 {
		return errors.New("retry: the budget was not made by NewBudget")
	}
	return nil
}

// earn is called for every success. A nil budget is one without limit.
func (b *Budget) earn() {
	if b != nil {
		b.put(b.earned)
	}
}

// put adds thousandths of a token, as far as there is room for them.
func (b *Budget) put(n int64) {
	if b == nil || n == 0 {
		return
	}
	// A full bucket, which is what there is while all goes well, costs a read and no write: all cores share the word.
	for {
		have := b.tokens.Load()
		if have >= b.size {
			return
		}
		if b.tokens.CompareAndSwap(have, min(have+n, b.size)) {
			return
		}
	}
}

// take takes n tokens, or none if there are not as many.
func (b *Budget) take(n int64) bool {
	if b == nil {
		return true
	}
	for {
		have := b.tokens.Load()
		if have < n*milli {
			return false
		}
		if b.tokens.CompareAndSwap(have, have-n*milli) {
			return true
		}
	}
}

// price is what the retry after a failed attempt costs.
func (v Verdict) price() int64 {
	if v.Reason == reasonAttemptTimeout || v.Reason == reasonNoResponse || strings.HasPrefix(v.Reason, reasonWriteTimeout) {
		return dearCost
	}
	return cost
}

// budgetError is the last error of a write that was not tried again for want of budget.
type budgetError struct{ last error }

func (e *budgetError) Error() string   { return ErrBudget.Error() + ", last error: " + e.last.Error() }
func (e *budgetError) Unwrap() []error { return []error{e.last, ErrBudget} }
