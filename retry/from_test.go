package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/retry"
)

// Two writes share the context of their first attempts. When its limit passes, each attempt has ended by its own limit,
// not by the caller's, and each write goes on with attempts of its own.
func TestDoFromSharesTheFirstAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		policy := retry.Policy{AttemptTimeout: 2 * time.Second, MaxAttempts: 2}
		first, done := policy.Attempt(ctx)
		defer done()
		results := make(chan retry.Outcome)
		for range 2 {
			go func() {
				outcome, err := policy.DoFrom(ctx, first, retry.Partition, func(own context.Context, n int) error {
					if (n == 1) != (own == first) {
						t.Errorf("attempt %d has the shared context: %v", n, own == first)
					}
					<-own.Done()
					return own.Err()
				}, nil)
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error %v", err)
				}
				results <- outcome
			}()
		}
		for range 2 {
			if o := <-results; o.Attempts != 2 || o.Class != retry.Unknown || o.Last.Reason != "attempt_timeout" {
				t.Errorf("outcome %+v, want 2 attempts that timed out by themselves", o)
			}
		}
		if ctx.Err() != nil {
			t.Error("the caller's context ended")
		}
	})
}
