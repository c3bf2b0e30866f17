package retry

import (
	"errors"

	"github.com/denorm-go/denorm/internal/settings"
)

// ErrBudget is matched by the error of a write that was given up because the budget for retries was spent.
var ErrBudget = errors.New("retry: the budget for retries is spent")

// Budget limits how many retries many writes make together. In an outage, retries multiply the load of a cluster that already
// cannot carry its load. A Budget is a token bucket that begins full. A retry takes one token, or two if it follows an
// attempt that timed out. Every success puts a part of a token back. Tokens taken for a retry that is not made, because the
// caller leaves before it, are put back too. So a total outage costs the bucket's contents in retries, and nothing after
// that, while scattered errors are retried as long as successes pay for them.
//
// It is safe for concurrent use. It is made by [NewBudget].
type Budget settings.Budget

// NewBudget makes a full bucket of size tokens, into which each success puts earned tokens. 0 means the default: 1000
// tokens, and 0.25 per success, which pays for retries as long as at most one attempt in five fails, or one in nine
// times out. Negative values and NaN count as 0. earned is a fraction, not a percentage: more than 1, which is a retry
// for every success, counts as 1.
func NewBudget(size int, earned float64) *Budget {
	return (*Budget)(settings.NewBudget(size, earned))
}
