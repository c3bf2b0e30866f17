// Package streams tells which requests of a driver have neither been answered nor lost their connection.
package streams

import (
	"context"
	"sync/atomic"

	"github.com/gocql/gocql"
)

// Counter counts the requests that a driver has under way, of those that are made with its context: gocql 1.7 loses count
// of its own, as when a connection ends while it is being set up. Put it into ClusterConfig.StreamObserver. The zero value
// is ready, and safe for concurrent use.
type Counter struct{ started, finished, abandoned atomic.Int64 }

var (
	_ gocql.StreamObserver        = (*Counter)(nil)
	_ gocql.StreamObserverContext = (*Counter)(nil)
)

// Context is ctx for requests that are to be counted.
func (c *Counter) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, c, true)
}

// Open is how many requests have neither been answered nor lost their connection.
func (c *Counter) Open() int { return int(c.started.Load() - c.finished.Load() - c.abandoned.Load()) }

// Started is how many requests were sent.
func (c *Counter) Started() int { return int(c.started.Load()) }

// StreamContext implements gocql.StreamObserver.
func (c *Counter) StreamContext(ctx context.Context) gocql.StreamObserverContext {
	if ctx.Value(c) == nil {
		return nil
	}
	return c
}

// StreamStarted implements gocql.StreamObserverContext.
func (c *Counter) StreamStarted(gocql.ObservedStream) { c.started.Add(1) }

// StreamFinished implements gocql.StreamObserverContext.
func (c *Counter) StreamFinished(gocql.ObservedStream) { c.finished.Add(1) }

// StreamAbandoned implements gocql.StreamObserverContext.
func (c *Counter) StreamAbandoned(gocql.ObservedStream) { c.abandoned.Add(1) }
