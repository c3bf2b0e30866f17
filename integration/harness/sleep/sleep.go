// Package sleep waits, for a while or for something, within a context.
package sleep

import (
	"context"
	"fmt"
	"time"
)

// For waits for d. If the context ends before, it says why.
func For(ctx context.Context, d time.Duration) error {
	if Unless(ctx.Done(), d) {
		return context.Cause(ctx)
	}
	return nil
}

// Unless waits for d, and says whether over was closed before.
func Unless(over <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return false
	case <-over:
		return true
	}
}

// Until calls f until it fails no more, with a pause after each failure. If the context ends before, it says why, and
// how f failed last.
func Until(ctx context.Context, pause time.Duration, f func() error) error {
	for {
		err := f()
		if err == nil {
			return nil
		}
		if cause := For(ctx, pause); cause != nil {
			return fmt.Errorf("%w (last: %w)", cause, err)
		}
	}
}
