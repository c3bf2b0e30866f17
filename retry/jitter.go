package retry

import (
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// jitter draws every wait uniformly from zero up to an interval of backoff's that grows: full jitter, which backoff's own
// RandomizationFactor cannot give (it spreads around the interval, up to twice as far). It never stops; it is not safe for
// concurrent use, so every run has its own.
type jitter struct{ growth *backoff.ExponentialBackOff }

func newJitter(p Policy) jitter {
	return jitter{growth: backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(p.InitialInterval),
		backoff.WithMultiplier(p.Multiplier),
		backoff.WithMaxInterval(p.MaxInterval),
		backoff.WithRandomizationFactor(0),
		backoff.WithMaxElapsedTime(0), // backoff stops after 15 minutes otherwise; the run has its own limit
	)}
}

// next draws a wait and lets the interval grow.
func (j jitter) next() time.Duration {
	bound := j.growth.NextBackOff()
	return time.Duration(rand.Int64N(int64(bound))) //nolint:gosec // G404: spreads load, guards nothing
}
