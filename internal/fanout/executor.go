package fanout

import (
	"context"
	"time"

	"github.com/denorm-go/denorm/internal/driver"
	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// Executor sends requests. It is the seam between planning and driver: tests put a fake behind it.
type Executor interface {
	// Execute sends one request and waits for its answer.
	Execute(ctx context.Context, r *Attempt) error
}

// Attempt is what one attempt of a request sends.
type Attempt struct {
	Mutations   []*statement.Mutation
	Now         int64           // milliseconds of Unix time, for what is left of a TTL
	Host        *gocql.HostInfo // the coordinator, if it is wanted, and one was found
	Consistency gocql.Consistency
	Kind        retry.Kind
	Traced      bool // the coordinator is wanted
}

// Gocql sends through gocql, with everything switched off that would act on its own. Retries are off because
// gocql hides the errors of earlier attempts and repeats counters (CASSGO-27). Timestamps are off because gocql takes a
// new one for each attempt, and the statements carry their own, or are of counters, which have none. Speculation, whose
// first error wins over a success, is off in gocql unless a query asks for it.
type Gocql struct{ Session *gocql.Session }

// Execute does not Release the query: gocql pools it, and a second Release anywhere gives one query to two goroutines.
func (g Gocql) Execute(ctx context.Context, r *Attempt) error {
	if len(r.Mutations) > 1 || r.Kind != retry.Partition && r.Kind != retry.Counter {
		return g.batch(ctx, r)
	}
	m := r.Mutations[0]
	text, args := m.At(time.UnixMilli(r.Now))
	iter := g.Session.Query(text, args...).
		Consistency(r.Consistency).
		DefaultTimestamp(false).
		RoutingKey(m.PartitionKey).
		Idempotent(r.Kind.Idempotent()).
		RetryPolicy(driver.NoRetry).
		WithContext(ctx).
		Iter()
	if r.Traced {
		r.Host = iter.Host()
	}
	return iter.Close()
}

// batch uses Session.NewBatch: gocql.NewBatch would write at consistency ANY.
func (g Gocql) batch(ctx context.Context, r *Attempt) error {
	kind := gocql.UnloggedBatch
	switch r.Kind {
	case retry.LoggedBatch:
		kind = gocql.LoggedBatch
	case retry.Counter:
		kind = gocql.CounterBatch
	default: // one mutation of each replica
	}
	b := g.Session.NewBatch(kind).DefaultTimestamp(false).RetryPolicy(driver.NoRetry).WithContext(ctx)
	b.Cons = r.Consistency
	b.Entries = make([]gocql.BatchEntry, len(r.Mutations))
	for i, m := range r.Mutations {
		text, args := m.At(time.UnixMilli(r.Now))
		b.Entries[i] = gocql.BatchEntry{Stmt: text, Args: args, Idempotent: r.Kind.Idempotent()}
	}
	err := g.Session.ExecuteBatch(b)
	// gocql reports the coordinator of a batch only to an observer, and an observer that is set here would replace the
	// session's.
	if a, ok := ctx.(*req.Request); ok && r.Traced {
		r.Host = a.Host()
	}
	return err
}
