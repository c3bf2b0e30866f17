package retry_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"pgregory.net/rapid"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/retry"
)

// Over any sequence of errors: a may-have-been-applied is never lost, and what may do harm is never repeated.
func TestDoSticky(t *testing.T) {
	t.Parallel()
	var errs []error
	for _, row := range golden() {
		if row.err != nil {
			errs = append(errs, row.err)
		}
	}
	rank := map[retry.Outcome]int{retry.Unknown: 1, retry.Pending: 2, retry.Applied: 3} // 0: the clean ones
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom(kinds[:]).Draw(rt, "kind")
		policy := retry.Policy{
			MaxAttempts: rapid.IntRange(1, 8).Draw(rt, "attempts"), MaxElapsedTime: time.Hour,
			InitialInterval: 1, MaxInterval: 1, // without waits
		}
		// Retried ones among them, or most sequences would have length one.
		one := rapid.OneOf(rapid.SampledFrom(errs), rapid.SampledFrom([]error{
			&gocql.RequestErrUnavailable{Consistency: gocql.LocalQuorum, Required: 2, Alive: 1},
			&gocql.RequestErrWriteTimeout{WriteType: "SIMPLE"}, &gocql.RequestErrWriteTimeout{WriteType: "BATCH_LOG"},
			gocql.ErrNoConnections, gocql.ErrConnectionClosed, nil,
		}))
		sequence := rapid.SliceOfN(one, 8, 8).Draw(rt, "sequence")

		made := 0
		retrier := request.NewRetrier(policy, nil)
		out, err := retrier.Do(context.Background(), kind, func(_ context.Context, n int) error {
			made++
			return sequence[n-1]
		}, nil)
		if out.Attempts != made || made > policy.MaxAttempts {
			rt.Fatalf("%d attempts of %d, %d in the outcome", made, policy.MaxAttempts, out.Attempts)
		}
		if (err == nil) != (sequence[made-1] == nil) {
			rt.Fatalf("error %v after %v", err, sequence[made-1])
		}
		worst, onceAt := retry.NotApplied, 0
		for i, e := range sequence[:made] {
			if e == nil {
				continue
			}
			v := retry.Classify(e, kind)
			if rank[v.Outcome] >= rank[worst] {
				worst = v.Outcome
			}
			if i < made-1 && (!v.Retry || (v.Outcome != retry.NotApplied && !kind.Idempotent())) {
				rt.Fatalf("%v: attempt %d follows %v", kind, i+2, e)
			}
			if onceAt > 0 && i > onceAt {
				rt.Fatalf("attempt %d, one was allowed after attempt %d", i+1, onceAt)
			}
			if v.Once && onceAt == 0 {
				onceAt = i + 1
			}
		}
		if err == nil {
			return
		}
		if out.Outcome != worst {
			rt.Fatalf("%v is %v, want %v", sequence[:made], out.Outcome, worst)
		}
	})
}

// gocql's errors without a type of their own are values that cannot be compared, so nothing can be found by ==.
func TestDoUncomparableError(t *testing.T) {
	t.Parallel()
	overloaded := decoded(t, errorBody(gocql.ErrCodeOverloaded))
	if reflect.TypeOf(overloaded).Comparable() {
		t.Errorf("%T can be compared", overloaded)
	}
	for _, canceled := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		retrier := request.NewRetrier(retry.Policy{MaxAttempts: 2}, nil)
		out, err := retrier.Do(ctx, retry.Partition, func(_ context.Context, n int) error {
			if canceled && n == 2 {
				cancel()
			}
			return overloaded
		}, nil)
		answer, ok := driver.RequestError(err)
		if !ok || answer.Code() != gocql.ErrCodeOverloaded || out.Outcome != retry.NotApplied {
			t.Errorf("%+v, %v", out, err)
		}
		if errors.Is(err, context.Canceled) != canceled || reflect.TypeOf(err) == reflect.TypeOf(overloaded) == canceled {
			t.Errorf("canceled %v: %T %v", canceled, err, err)
		}
	}
}
