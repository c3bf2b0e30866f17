package writer

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/retry"
)

// counting is a BackOff with state, without a lock: the race detector finds two requests that share one.
type counting struct{ calls int }

func (b *counting) Reset() { b.calls = 0 }

func (b *counting) NextBackOff() time.Duration {
	b.calls++
	return time.Duration(b.calls) * time.Millisecond
}

// Each request of each of many writes at the same time has a BackOff of its own.
func TestOwnBackOffOfConcurrentWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const writes, failures = 64, 2
		var made atomic.Int64
		policy := retry.Policy{BackOff: func() backoff.BackOff {
			made.Add(1)
			return &counting{}
		}}
		var mu sync.Mutex
		tries := make(map[any]int)
		x := &fakeExecutor{answer: func(_ context.Context, r fanout.Attempt) error {
			mu.Lock()
			defer mu.Unlock()
			request := &r.Mutations[0]
			if tries[request]++; tries[request] <= failures {
				return errUnavailable
			}
			return nil
		}}
		w := fakeWriter(x, Retry(policy))
		made.Store(0) // by Validate
		begun := time.Now()
		var wg sync.WaitGroup
		for range writes {
			wg.Go(func() {
				if _, err := w.Write(t.Context(), "createOrder", orderSet(t).Insert(newOrder(Open))); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if waited := time.Since(begun); waited != 3*time.Millisecond { // 1 ms and 2 ms: a shared BackOff would go on counting
			t.Errorf("waited %v", waited)
		}
		if got := len(x.sent()); got != 3*writes*(failures+1) || made.Load() != 3*writes {
			t.Errorf("%d requests, %d BackOffs made", got, made.Load())
		}
	})
}
