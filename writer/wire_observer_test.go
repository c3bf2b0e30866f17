package writer

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/session"
	"github.com/gocql/gocql"
)

// observed are the requests with rows of orders that the observers of a session have been told of.
type observed struct {
	mu               sync.Mutex
	queries, batches int
}

func (o *observed) ObserveQuery(_ context.Context, q gocql.ObservedQuery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if strings.Contains(q.Statement, "shop.orders") {
		o.queries++
	}
}

func (o *observed) ObserveBatch(context.Context, gocql.ObservedBatch) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.batches++
}

// hostTracer keeps the coordinators of requests.
type hostTracer struct {
	recorder

	hosts []session.Host
}

func (r *hostTracer) TraceRequestEnd(_ context.Context, d session.RequestEnd) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hosts = append(r.hosts, d.Host)
}

// The observers of the caller's session are told of every request, with a tracer as without one, and the tracer learns the
// coordinators of batches too.
func TestWireTracedKeepsObservers(t *testing.T) {
	t.Parallel()
	for name, hedge := range map[string]Option{"plain": Hedge(0), "hedged": Hedge(time.Second)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				var own observed
				s := openWireConfigured(t, cassandratest.Start, 3, func(c *gocql.ClusterConfig) {
					c.QueryObserver, c.BatchObserver = &own, &own
				})
				var tracer hostTracer
				w := s.w.With(traced(&tracer), hedge)
				if _, err := w.Write(t.Context(), "fan-out", orderSet(t).Insert(newOrder(Open))); err != nil {
					t.Fatal(err)
				}
				if _, err := w.Write(t.Context(), "batch", orderSet(t).Update(move())); err != nil {
					t.Fatal(err)
				}
				if own.queries != 3 || own.batches != 1 {
					t.Errorf("the session's observers were told of %d queries and %d batches, there were 3 and 1", own.queries, own.batches)
				}
				for i, host := range tracer.hosts {
					if host.ID() == "" || host.IP() == "" || host.Port() == 0 || host.Datacentre() == "" {
						t.Errorf("the tracer does not learn the coordinator of request %d of %d", i, len(tracer.hosts))
					}
				}
				if len(tracer.hosts) != 4 {
					t.Errorf("%d requests", len(tracer.hosts))
				}
			})
		})
	}
}
