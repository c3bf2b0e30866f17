package writer

import (
	"context"
	"time"

	"github.com/denorm-go/denorm/internal/driver"
	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// executor sends requests. It is the seam between planning and driver: tests put a fake behind it.
type executor interface {
	// execute sends one request and waits for its answer.
	execute(ctx context.Context, r *attempt) error
}

// attempt is what one attempt of a request sends.
type attempt struct {
	mutations   []*statement.Mutation
	now         int64           // milliseconds of Unix time, for what is left of a TTL
	host        *gocql.HostInfo // the coordinator, if it is wanted, and one was found
	consistency gocql.Consistency
	kind        retry.Kind
	traced      bool // the coordinator is wanted
}

// gocqlExecutor sends through gocql, with everything switched off that would act on its own. Retries are off because
// gocql hides the errors of earlier attempts and repeats counters (CASSGO-27). Timestamps are off because gocql takes a
// new one for each attempt, and the statements carry their own, or are of counters, which have none. Speculation, whose
// first error wins over a success, is off in gocql unless a query asks for it.
type gocqlExecutor struct{ session *gocql.Session }

// execute does not Release the query: gocql pools it, and a second Release anywhere gives one query to two goroutines.
func (x gocqlExecutor) execute(ctx context.Context, r *attempt) error {
	if len(r.mutations) > 1 || r.kind != retry.Partition && r.kind != retry.Counter {
		return x.batch(ctx, r)
	}
	m := r.mutations[0]
	text, args := m.At(time.UnixMilli(r.now))
	iter := x.session.Query(text, args...).
		Consistency(r.consistency).
		DefaultTimestamp(false).
		RoutingKey(m.PartitionKey).
		Idempotent(r.kind.Idempotent()).
		RetryPolicy(driver.NoRetry).
		WithContext(ctx).
		Iter()
	if r.traced {
		r.host = iter.Host()
	}
	return iter.Close()
}

// batch uses Session.NewBatch: gocql.NewBatch would write at consistency ANY.
func (x gocqlExecutor) batch(ctx context.Context, r *attempt) error {
	kind := gocql.UnloggedBatch
	switch r.kind {
	case retry.LoggedBatch:
		kind = gocql.LoggedBatch
	case retry.Counter:
		kind = gocql.CounterBatch
	default: // one mutation of each replica
	}
	b := x.session.NewBatch(kind).DefaultTimestamp(false).RetryPolicy(driver.NoRetry).WithContext(ctx)
	b.Cons = r.consistency
	b.Entries = make([]gocql.BatchEntry, len(r.mutations))
	for i, m := range r.mutations {
		text, args := m.At(time.UnixMilli(r.now))
		b.Entries[i] = gocql.BatchEntry{Stmt: text, Args: args, Idempotent: r.kind.Idempotent()}
	}
	err := x.session.ExecuteBatch(b)
	// gocql reports the coordinator of a batch only to an observer, and an observer that is set here would replace the session's.
	if a, ok := ctx.(*req.Request); ok && r.traced {
		r.host = a.Host()
	}
	return err
}
