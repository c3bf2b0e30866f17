package fanout

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Leeway is how long a call waits for the driver after the end of its context. As a rule the driver returns at once,
// and its error says more than that nothing is known. In some places it does not look at the context: while a socket's
// send buffer is full, a request waits for the flush, for up to ClusterConfig.WriteTimeout (gocql 1.7.0, conn.go,
// writeContext).
const Leeway = 5 * time.Millisecond

// ErrStraggler is why nothing is known of what was left running.
func ErrStraggler(ctx context.Context) error {
	return fmt.Errorf("the driver has not returned: %w", WrapTimeout(ctx, ctx.Err()))
}

// ErrUnbegun says that nothing was done, and nothing will be.
var ErrUnbegun = errors.New("not begun")

// Detached calls do, and leaves it running if it is not done a moment after the end of ctx. If do has not even begun by then, because
// the process is too busy, it never will, and the error is ErrUnbegun.
func Detached[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, fmt.Errorf("%w: %w", ErrUnbegun, WrapTimeout(ctx, err))
	}
	results := make(chan result, 1)
	var stage atomic.Uint32 // of a sender
	go func() {
		if !stage.CompareAndSwap(waiting, sending) {
			return
		}
		value, err := do()
		results <- result{value, err}
	}()
	var late <-chan time.Time
	for done := ctx.Done(); ; {
		select {
		case r := <-results:
			return r.value, r.err
		case <-done:
			timer := time.NewTimer(Leeway)
			defer timer.Stop()
			done, late = nil, timer.C
		case <-late:
			if stage.CompareAndSwap(waiting, canceled) {
				return none, fmt.Errorf("%w: %w", ErrUnbegun, WrapTimeout(ctx, ctx.Err()))
			}
			return none, ErrStraggler(ctx)
		}
	}
}
