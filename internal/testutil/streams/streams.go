// Package streams tells which requests of a driver have neither been answered nor lost their connection.
package streams

import (
	"context"
	"maps"
	"sync"

	"github.com/gocql/gocql"
)

// Counter counts the requests that a driver has under way, by host. Put it into ClusterConfig.StreamObserver. The zero
// value counts those that are made with its context: gocql 1.7 loses count of its own, as when a connection ends while
// it is being set up, or when it closes a connection itself because it was told that the host is down. It is safe for
// concurrent use.
type Counter struct {
	All bool // count every request

	mu      sync.Mutex
	open    map[string]int
	started int
}

var (
	_ gocql.StreamObserver        = (*Counter)(nil)
	_ gocql.StreamObserverContext = (*Counter)(nil)
)

// Context is ctx for requests that are to be counted.
func (c *Counter) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, c, true)
}

// ByHost is how many requests have neither been answered nor lost their connection, without hosts of which there are
// none.
func (c *Counter) ByHost() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	open := maps.Clone(c.open)
	maps.DeleteFunc(open, func(_ string, n int) bool { return n == 0 })
	return open
}

// Open is how many they are of all hosts.
func (c *Counter) Open() (all int) {
	for _, n := range c.ByHost() {
		all += n
	}
	return all
}

// Started is how many requests were sent.
func (c *Counter) Started() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started
}

// StreamContext implements gocql.StreamObserver.
func (c *Counter) StreamContext(ctx context.Context) gocql.StreamObserverContext {
	if !c.All && ctx.Value(c) == nil {
		return nil
	}
	return c
}

// StreamStarted implements gocql.StreamObserverContext.
func (c *Counter) StreamStarted(o gocql.ObservedStream) { c.add(o, 1) }

// StreamFinished implements gocql.StreamObserverContext.
func (c *Counter) StreamFinished(o gocql.ObservedStream) { c.add(o, -1) }

// StreamAbandoned implements gocql.StreamObserverContext.
func (c *Counter) StreamAbandoned(o gocql.ObservedStream) { c.add(o, -1) }

func (c *Counter) add(o gocql.ObservedStream, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = make(map[string]int)
	}
	c.open[o.Host.ConnectAddress().String()] += n
	c.started += max(n, 0)
}
