package hot

import (
	"context"
	"maps"
	"sync"

	"github.com/gocql/gocql"
)

// Streams counts the requests of sessions that are under way, by host. The zero value is ready; it is a
// gocql.StreamObserver and safe for concurrent use.
//
// gocql 1.7 says of a connection that breaks that its requests are given up, but not of one that it closes itself: because
// it has been told that the host is down, or with the session. What is asked of sessions that are open, and of hosts that
// were not killed, is exact.
type Streams struct {
	mu      sync.Mutex
	open    map[string]int
	started int
}

var (
	_ gocql.StreamObserver        = (*Streams)(nil)
	_ gocql.StreamObserverContext = (*Streams)(nil)
)

// Open is how many requests have neither been answered nor given up, by host, without hosts of which there are none.
func (s *Streams) Open() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := maps.Clone(s.open)
	maps.DeleteFunc(open, func(_ string, n int) bool { return n == 0 })
	return open
}

// Started is how many requests there were.
func (s *Streams) Started() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started
}

// StreamContext implements gocql.StreamObserver.
func (s *Streams) StreamContext(context.Context) gocql.StreamObserverContext { return s }

// StreamStarted implements gocql.StreamObserverContext.
func (s *Streams) StreamStarted(o gocql.ObservedStream) { s.add(o, 1) }

// StreamAbandoned implements gocql.StreamObserverContext.
func (s *Streams) StreamAbandoned(o gocql.ObservedStream) { s.add(o, -1) }

// StreamFinished implements gocql.StreamObserverContext.
func (s *Streams) StreamFinished(o gocql.ObservedStream) { s.add(o, -1) }

func (s *Streams) add(o gocql.ObservedStream, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = make(map[string]int)
	}
	s.open[o.Host.ConnectAddress().String()] += n
	s.started += max(n, 0)
}
