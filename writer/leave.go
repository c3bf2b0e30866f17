package writer

import (
	"context"
	"fmt"
	"time"
)

// leeway is how long a call waits after the end of its context for the driver, which as a rule returns at once and then
// says more than that nothing is known. There are places where it does not look at the context: while a socket's send
// buffer is full, a request waits for the flush, for up to ClusterConfig.WriteTimeout (gocql 1.7.0, conn.go,
// writeContext).
const leeway = 5 * time.Millisecond

// errStraggler is why nothing is known of what was left to itself.
func errStraggler(ctx context.Context) error {
	return fmt.Errorf("the driver has not returned: %w", ctx.Err())
}

// leave runs a read, and leaves it to itself if it has not returned a moment after the end of ctx.
func leave[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	results := make(chan result, 1)
	go func() {
		value, err := read()
		results <- result{value, err}
	}()
	select {
	case r := <-results:
		return r.value, r.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(leeway)
	defer timer.Stop()
	select {
	case r := <-results:
		return r.value, r.err
	case <-timer.C:
		var none T
		return none, errStraggler(ctx)
	}
}
