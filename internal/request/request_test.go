package request_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/undecoded"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// What cannot be decoded is not asked for again; what may be answered the next time is.
func TestDo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want int
	}{
		"answered":    {nil, 1},
		"unavailable": {&gocql.RequestErrUnavailable{}, 3},
		"undecoded":   {fmt.Errorf("page: %w", &undecoded.Error{Column: "total"}), 1},
	} {
		retrier := request.NewRetrier(retry.Policy{MaxAttempts: 3, InitialInterval: 1, MaxInterval: 1}, nil)
		sent := 0
		outcome, err := request.New("shop", nil).Do(t.Context(), &retrier, retry.Partition, func(context.Context) error {
			sent++
			return test.err
		}, nil)
		if sent != test.want || outcome.Attempts != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: %d requests, %d attempts, %v", name, sent, outcome.Attempts, err)
		}
	}
}

// A limit ends an attempt, the context that it is under gives its values.
func TestLimit(t *testing.T) {
	t.Parallel()
	type key struct{}
	outer := context.WithValue(t.Context(), key{}, "value")
	limit, cancel := context.WithDeadline(context.Background(), time.Now().Add(time.Hour))
	cancel()
	r := request.New("shop", nil)
	r.Limit = limit
	r.Begin(outer)
	if _, ok := r.Deadline(); !ok || !errors.Is(r.Err(), context.Canceled) || r.Value(key{}) != "value" {
		t.Errorf("limited: %v, value %v", r.Err(), r.Value(key{}))
	}
	<-r.Done()
	r.Limit = nil
	if _, ok := r.Deadline(); ok || r.Err() != nil {
		t.Errorf("without a limit: %v", r.Err())
	}
}
