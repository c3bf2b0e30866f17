package cassandratest

import (
	"context"
	"sync/atomic"

	"github.com/gocql/gocql"
)

// Streams counts the requests that a driver has under way, of those that are made with its context: gocql 1.7 loses count
// of its own, as when a connection ends while it is being set up. Put it into ClusterConfig.StreamObserver. The zero value
// is ready, and safe for concurrent use.
type Streams struct{ started, finished, abandoned atomic.Int64 }

var (
	_ gocql.StreamObserver        = (*Streams)(nil)
	_ gocql.StreamObserverContext = (*Streams)(nil)
)

// Context is ctx for requests that are to be counted.
func (s *Streams) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, s, true)
}

// Open is how many requests have neither been answered nor lost their connection.
func (s *Streams) Open() int { return int(s.started.Load() - s.finished.Load() - s.abandoned.Load()) }

// Started is how many requests were sent.
func (s *Streams) Started() int { return int(s.started.Load()) }

// Abandoned is how many requests lost their connection.
func (s *Streams) Abandoned() int { return int(s.abandoned.Load()) }

// StreamContext implements gocql.StreamObserver.
func (s *Streams) StreamContext(ctx context.Context) gocql.StreamObserverContext {
	if ctx.Value(s) == nil {
		return nil
	}
	return s
}

// StreamStarted implements gocql.StreamObserverContext.
func (s *Streams) StreamStarted(gocql.ObservedStream) { s.started.Add(1) }

// StreamFinished implements gocql.StreamObserverContext.
func (s *Streams) StreamFinished(gocql.ObservedStream) { s.finished.Add(1) }

// StreamAbandoned implements gocql.StreamObserverContext.
func (s *Streams) StreamAbandoned(gocql.ObservedStream) { s.abandoned.Add(1) }
