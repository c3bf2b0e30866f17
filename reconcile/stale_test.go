package reconcile

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/pace"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
)

// What has waited for more than 10 minutes for its turn, as in a run that was paused, is not sent.
func TestStaleMutations(t *testing.T) {
	t.Parallel()
	for name, send := range map[string]func(context.Context, *access) error{
		"one by one": func(ctx context.Context, a *access) error { return a.send(ctx, make([]statement.Mutation, 1)) },
		"a row":      func(ctx context.Context, a *access) error { return a.sendRow(ctx, make([]statement.Mutation, 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &access{retrier: request.NewRetrier(retry.Policy{}, nil), throttle: newThrottle(pace.Config{First: 1, Most: 1, Kinds: kinds, Slack: 2, Percentile: 95}, 0)} // without sessions
				a.throttle.set(true, 0)
				time.AfterFunc(staleAfter+time.Second, func() { a.throttle.set(false, 0) })
				if err := send(t.Context(), a); !errors.Is(err, errStale) {
					t.Error(err)
				}
			})
		})
	}
}
