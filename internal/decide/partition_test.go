package decide_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/retry"
)

// What is known of failed attempts is known after a success too, and where attempts are made at a pace.
func TestTryKeepsWhatMayHaveHappened(t *testing.T) {
	t.Parallel()
	retrier := request.NewRetrier(retry.Policy{InitialInterval: 1, MaxInterval: 1}, nil)
	ended := errors.New("ended")
	for name, test := range map[string]struct {
		pace func(context.Context, func() error) error
		want retry.Outcome
		err  error
	}{
		"alone":   {nil, retry.Unknown, nil},
		"at pace": {func(_ context.Context, do func() error) error { return do() }, retry.Unknown, nil},
		"no turn": {func(context.Context, func() error) error { return ended }, retry.NotApplied, ended},
	} {
		p := decide.Partition{Retrier: &retrier, Pace: test.pace}
		attempts := 0
		value, failed, err := decide.Try(t.Context(), &p, func(context.Context) (int, error) {
			if attempts++; attempts == 1 {
				return 0, gocql.ErrTimeoutNoResponse
			}
			return attempts, nil
		})
		if failed != test.want || !errors.Is(err, test.err) || value != attempts {
			t.Errorf("%s: value %d after %d attempts, which failed %v: %v", name, value, attempts, failed, err)
		}
	}
}
