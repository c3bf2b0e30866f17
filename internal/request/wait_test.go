package request_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/retry"
)

// The waits grow as the policy says, are as long as announced, and fill their intervals.
func TestDoWaits(t *testing.T) {
	t.Parallel()
	const runs = 2000
	policy := retry.Policy{
		MaxAttempts: 6, MaxElapsedTime: time.Hour, InitialInterval: 100 * time.Millisecond,
		MaxInterval: 300 * time.Millisecond, Multiplier: 2,
	}
	bounds := []time.Duration{100e6, 200e6, 300e6, 300e6, 300e6}
	sums := make([]time.Duration, len(bounds))
	synctest.Test(t, func(t *testing.T) {
		for range runs {
			var announced time.Duration
			last := time.Now()
			_, err := do(t.Context(), policy, retry.Partition, func(_ context.Context, n int) error {
				if n > 1 && time.Since(last) != announced {
					t.Errorf("waited %v, announced %v", time.Since(last), announced)
				}
				return errSimple
			}, func(e request.Event) {
				if e.Wait < 0 || e.Wait >= bounds[e.Attempt-1] {
					t.Errorf("wait %d is %v", e.Attempt, e.Wait)
				}
				sums[e.Attempt-1] += e.Wait
				announced, last = e.Wait, time.Now()
			})
			if err == nil {
				t.Error("no error")
			}
		}
	})
	for i, sum := range sums {
		mean := sum / runs
		// The mean of a uniform draw deviates by bound / sqrt(12 * runs) = 0.65 %: eight of these.
		if low, high := bounds[i]*45/100, bounds[i]*55/100; mean < low || mean > high {
			t.Errorf("wait %d: mean %v of a bound of %v", i+1, mean, bounds[i])
		}
	}
}

// Clients that failed together do not come back together.
func TestDoWaitsDiffer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seen := map[time.Duration]bool{}
		for range 20 {
			_, _ = do(t.Context(), retry.Policy{MaxAttempts: 2}, retry.Partition, script(errSimple),
				func(e request.Event) { seen[e.Wait] = true })
		}
		if len(seen) < 15 {
			t.Errorf("%d different waits in 20 runs", len(seen))
		}
	})
}
