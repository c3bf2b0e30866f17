package request_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/settings"
	"github.com/denorm-go/denorm/retry"
)

// listed is a BackOff of these waits, then of Stop. It has none before Reset.
type listed struct {
	waits, left []time.Duration
	resets      int
}

func (b *listed) Reset() { b.left, b.resets = b.waits, b.resets+1 }

func (b *listed) NextBackOff() time.Duration {
	if len(b.left) == 0 {
		return backoff.Stop
	}
	wait := b.left[0]
	b.left = b.left[1:]
	return wait
}

// The waits are those of the BackOff, as they are, until it stops or one of the other limits is met.
func TestDoOwnBackOff(t *testing.T) {
	t.Parallel()
	const s = time.Second
	ended, end := context.WithTimeout(t.Context(), 0)
	end()
	for name, c := range map[string]struct {
		waits  []time.Duration
		policy retry.Policy
		limit  time.Duration // of the context, if not 0
		budget int           // tokens, if not 0
		want   []time.Duration
		wanted error
	}{
		"until it stops": {
			waits: []time.Duration{3 * s, 0, s}, policy: retry.Policy{MaxAttempts: 9},
			want: []time.Duration{3 * s, 0, s},
		},
		"stops at once": {policy: retry.Policy{MaxAttempts: 9}},
		"a negative wait": {
			waits: []time.Duration{s, -5 * s, s}, policy: retry.Policy{MaxAttempts: 9},
			want: []time.Duration{s},
		},
		"MaxAttempts":       {waits: []time.Duration{0, 0, 0, 0, 0}, want: []time.Duration{0, 0, 0}},
		"MaxElapsedTime":    {waits: []time.Duration{s, 3 * s, 2 * s}, want: []time.Duration{s, 3 * s}},
		"a wait beyond all": {waits: []time.Duration{1<<63 - 1}},
		"the deadline":      {waits: []time.Duration{s, 2 * s}, limit: 2 * s, want: []time.Duration{s}},
		// two each
		"the budget": {
			waits: []time.Duration{s, s, s}, budget: 4, want: []time.Duration{s, s},
			wanted: retry.ErrBudget,
		},
		"the context ended already": {waits: []time.Duration{s}, limit: -s, wanted: ended.Err()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				own := &listed{waits: c.waits}
				c.policy.BackOff = func() backoff.BackOff { return own }
				ctx, cancel := context.WithCancel(t.Context())
				if c.limit != 0 {
					ctx, cancel = context.WithTimeout(t.Context(), c.limit)
				}
				defer cancel()
				var budget *settings.Budget
				if c.budget > 0 {
					budget = settings.NewBudget(c.budget, 0.01)
				}
				var starts, announced []time.Duration
				begun := time.Now()
				r := request.NewRetrier(c.policy, budget)
				_, err := r.Do(ctx, retry.Partition, func(context.Context, int) error {
					starts = append(starts, time.Since(begun))
					return errSimple
				}, func(e request.Event) { announced = append(announced, e.Wait) })
				if !slices.Equal(announced, c.want) {
					t.Errorf("waits %v, want %v", announced, c.want)
				}
				for i := range announced {
					if waited := starts[i+1] - starts[i]; waited != announced[i] {
						t.Errorf("waited %v, announced %v", waited, announced[i])
					}
				}
				if !errors.Is(err, errSimple) && c.limit >= 0 || c.wanted != nil && !errors.Is(err, c.wanted) {
					t.Errorf("error %v", err)
				}
				if want := min(len(starts), 1); own.resets != want {
					t.Errorf("reset %d times, want %d", own.resets, want)
				}
			})
		})
	}
}

// A function that returns nil once ends the retries of one request.
func TestDoNilBackOff(t *testing.T) {
	t.Parallel()
	policy := retry.Policy{BackOff: func() backoff.BackOff { return nil }}
	result, err := do(t.Context(), policy, retry.Partition, script(errSimple), nil)
	if !errors.Is(err, errSimple) || result.Attempts != 1 {
		t.Errorf("%d attempts, %v", result.Attempts, err)
	}
}

// A BackOff is made for a request that has failed, and for no other.
func TestDoBackOffOfEachRequest(t *testing.T) {
	t.Parallel()
	made := 0
	policy := retry.Policy{BackOff: func() backoff.BackOff {
		made++
		return &backoff.ZeroBackOff{}
	}}
	for failures := range 3 {
		made = 0
		if _, err := do(t.Context(), policy, retry.Partition, script(slices.Repeat([]error{errSimple}, failures)...),
			nil); err != nil {
			t.Error(err)
		}
		if made != min(failures, 1) {
			t.Errorf("%d made for a request that failed %d times", made, failures)
		}
	}
}

// A member of a group that failed is sent alone at once, whatever the BackOff says.
func TestGoOnAloneWithBackOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ retries, failures, want int }{{0, 0, 2}, {0, 1, 2}, {1, 1, 3}, {1, 2, 3}} {
		// once with the group, once alone
		policy := retry.Policy{MaxAttempts: 9, BackOff: func() backoff.BackOff {
			return &counted{left: c.retries}
		}}
		failures, want := c.failures, c.want
		r := request.NewRetrier(policy, nil)
		first := request.Failed{Context: t.Context(), Start: time.Now(), Err: errSimple, Alone: t.Context}
		attempts := 1
		_, err := r.GoOn(t.Context(), first, retry.Partition, func(context.Context, int) error {
			if attempts++; attempts-1 <= failures {
				return errSimple
			}
			return nil
		}, nil)
		if attempts != want || (err == nil) != (failures == 0 || failures <= c.retries) {
			t.Errorf("%d failures alone: %d attempts, %v", failures, attempts, err)
		}
	}
}

// counted allows some attempts more, without a wait.
type counted struct{ left int }

func (c *counted) Reset() {}

func (c *counted) NextBackOff() time.Duration {
	if c.left--; c.left < 0 {
		return backoff.Stop
	}
	return 0
}
