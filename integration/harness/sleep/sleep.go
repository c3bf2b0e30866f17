// Package sleep waits within a context.
package sleep

import (
	"context"
	"time"
)

// For waits for d. If the context ends before, it says why.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
