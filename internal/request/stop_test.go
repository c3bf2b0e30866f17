package request

import (
	"context"
	"errors"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/retry"
)

// A caller that falls back to another request must not have the first one sent again behind its back.
func TestStop(t *testing.T) {
	t.Parallel()
	calls := 0
	timeout := &gocql.RequestErrWriteTimeout{WriteType: "BATCH_LOG"}
	r := NewRetrier(retry.Policy{}, nil)
	outcome, err := r.Do(context.Background(), retry.LoggedBatch, func(context.Context, int) error {
		calls++
		return Stop(timeout)
	}, func(Event) { t.Error("a retry was announced") })
	if calls != 1 || outcome.Attempts != 1 {
		t.Errorf("%d calls, %d attempts, want 1", calls, outcome.Attempts)
	}
	if !errors.Is(err, error(timeout)) || outcome.Outcome != retry.Unknown || !outcome.Batchlog || outcome.Last.Retry {
		t.Errorf("outcome %+v, error %v", outcome, err)
	}
	if Stop(nil) != nil {
		t.Error("Stop(nil) is an error")
	}
}
