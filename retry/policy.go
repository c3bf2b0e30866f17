package retry

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/denorm-go/denorm/internal/settings"
)

const (
	defaultMaxAttempts     = 4
	defaultMaxElapsedTime  = 5 * time.Second
	defaultAttemptTimeout  = 2500 * time.Millisecond
	defaultInitialInterval = 50 * time.Millisecond
	defaultMaxInterval     = time.Second
	defaultMultiplier      = 2
)

// Policy says how often and how long one write is tried. The zero value means the defaults. It is a plain value, safe
// for concurrent use.
//
// The wait before attempt n+1 is drawn uniformly from [0, min(InitialInterval * Multiplier^(n-1), MaxInterval)). This
// is full jitter: clients that failed together do not come back together. BackOff replaces these waits.
//
// The attempts of a request take at most MaxElapsedTime + AttemptTimeout. The call ends earlier if its context or the
// Timeout of the writer ends.
type Policy struct {
	// MaxAttempts is the number of attempts, the first included; 1 means no retry, 0 means 4.
	MaxAttempts int

	// MaxElapsedTime limits the time in which attempts start: none starts later than this after the first one did.
	// 0 means 5 s.
	MaxElapsedTime time.Duration

	// AttemptTimeout limits one attempt. 0 means 2.5 s. It should be above the server's own limit (write_request_timeout,
	// 2 s), or every slow write ends without the server's answer. It should be well below the Timeout of the writer, or
	// an attempt that gets no answer leaves no time for another one.
	AttemptTimeout time.Duration

	// InitialInterval is the upper bound of the first wait. 0 means 50 ms, or MaxInterval if that is set and less. 1 ns
	// stands for no waits; any other time below a millisecond is an error, as it is a number without its unit.
	InitialInterval time.Duration

	// MaxInterval is the upper bound of all waits. 0 means 1 s, or InitialInterval if that is more. 1 ns stands for no
	// waits, as in InitialInterval.
	MaxInterval time.Duration

	// Multiplier is the factor by which the upper bound grows from wait to wait, at least 1. 0 means 2.
	Multiplier float64

	// BackOff, if not nil, makes the waits in place of InitialInterval, MaxInterval and Multiplier, which must then be
	// 0. It is called once for each request whose first attempt has failed, by many goroutines at the same time, and
	// once by Validate. It returns a new BackOff, with jitter of its own: Reset is called once, then NextBackOff before
	// each further attempt. backoff.Stop, another negative wait or a nil BackOff ends the retries of the request. All
	// other limits apply as without it. Nothing recovers a panic in it.
	BackOff func() backoff.BackOff
}

// Validate returns every fault of the policy, joined, each with the name of its field, or nil.
func (p Policy) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("retry: "+format, args...)) }
	if p.MaxAttempts < 0 {
		fault("MaxAttempts is %d, must not be negative", p.MaxAttempts)
	}
	for _, f := range []struct {
		name     string
		value    time.Duration
		interval bool
	}{
		{"MaxElapsedTime", p.MaxElapsedTime, false},
		{"AttemptTimeout", p.AttemptTimeout, false},
		{"InitialInterval", p.InitialInterval, true},
		{"MaxInterval", p.MaxInterval, true},
	} {
		switch d := f.value; {
		case d < 0:
			fault("%s is %v, must not be negative", f.name, d)
		case f.interval && d == time.Nanosecond: // no waits
		case 0 < d && d < time.Millisecond:
			fault("%s is %v, less than a millisecond: write it with a unit, as in 5*time.Second", f.name, d)
		}
	}
	if p.InitialInterval > 0 && p.MaxInterval > 0 && p.InitialInterval > p.MaxInterval {
		fault("InitialInterval is %v, must not be above MaxInterval %v", p.InitialInterval, p.MaxInterval)
	}
	if p.BackOff != nil {
		if p.InitialInterval != 0 || p.MaxInterval != 0 || p.Multiplier != 0 {
			fault("BackOff makes all waits, so InitialInterval, MaxInterval and Multiplier do nothing: leave them out, or " +
				"leave BackOff out")
		}
		if p.BackOff() == nil {
			fault("BackOff returns nil: return a new backoff.BackOff from each call")
		}
	}
	// Written so that NaN fails.
	if p.Multiplier != 0 && !(p.Multiplier >= 1 && p.Multiplier <= math.MaxFloat64) {
		fault("Multiplier is %v, must be a number of at least 1", p.Multiplier)
	}
	return errors.Join(faults...)
}

// WithDefaults returns the policy with every field that is zero replaced by its default. With BackOff the fields that
// it replaces stay zero.
func (p Policy) WithDefaults() Policy {
	p.MaxAttempts = cmp.Or(p.MaxAttempts, defaultMaxAttempts)
	p.MaxElapsedTime = cmp.Or(p.MaxElapsedTime, defaultMaxElapsedTime)
	p.AttemptTimeout = cmp.Or(p.AttemptTimeout, defaultAttemptTimeout)
	if p.BackOff != nil {
		return p
	}
	initial := defaultInitialInterval
	if p.MaxInterval > 0 {
		initial = min(initial, p.MaxInterval)
	}
	p.InitialInterval = cmp.Or(p.InitialInterval, initial)
	p.MaxInterval = cmp.Or(p.MaxInterval, max(defaultMaxInterval, p.InitialInterval))
	p.Multiplier = cmp.Or(p.Multiplier, defaultMultiplier)
	return p
}

// ErrBudget is matched by the error of a write that was given up because the budget for retries was spent.
var ErrBudget = errors.New("retry: the budget for retries is spent")

// Budget limits how many retries many writes make together. In an outage, retries multiply the load of a cluster that
// already cannot carry its load. A Budget is a token bucket that begins full. A retry takes one token, or two if it
// follows an attempt that timed out. Every success puts a part of a token back. A token for a retry that is not made,
// because the caller leaves first, is put back too. So a total outage costs the bucket's contents in retries, and
// nothing after that. Scattered errors are retried as long as successes pay for them.
//
// A Budget is safe for concurrent use. [NewBudget] makes it.
type Budget settings.Budget

// NewBudget makes a full bucket of size tokens, into which each success puts earned tokens. 0 means the default: 1000
// tokens, and 0.25 per success. That pays for retries as long as at most one attempt in five fails, or one in nine
// times out. Negative values and NaN count as 0. earned is a fraction, not a percentage: more than 1, which is a retry
// for every success, counts as 1.
func NewBudget(size int, earned float64) *Budget {
	return (*Budget)(settings.NewBudget(size, earned))
}
