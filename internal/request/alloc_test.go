package request_test

import (
	"context"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/settings"
	"github.com/denorm-go/denorm/retry"
)

// A write that succeeds at once costs the context of its attempt and nothing else.
func TestDoAllocations(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process
	ctx := context.Background()
	attempt := func(context.Context, int) error { return nil }
	observe := func(request.Event) {}
	retrier := request.NewRetrier(retry.Policy{}, settings.NewBudget(0, 0))
	context2500 := testing.AllocsPerRun(1000, func() {
		own, cancel := context.WithTimeout(ctx, 2500*time.Millisecond)
		_ = attempt(own, 1)
		cancel()
	})
	do := testing.AllocsPerRun(1000, func() {
		if _, err := retrier.Do(ctx, retry.LoggedBatch, attempt, observe); err != nil {
			t.Error(err)
		}
	})
	if do > context2500 {
		t.Errorf("%v allocations, the context alone %v", do, context2500)
	}
}

func BenchmarkDoSuccess(b *testing.B) {
	ctx := context.Background()
	attempt := func(context.Context, int) error { return nil }
	retrier := request.NewRetrier(retry.Policy{}, settings.NewBudget(0, 0))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := retrier.Do(ctx, retry.LoggedBatch, attempt, nil); err != nil {
			b.Fatal(err)
		}
	}
}
