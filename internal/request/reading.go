package request

import (
	"context"

	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/gocql/gocql"
)

// Reading is a read of one row that tracers are told of, as of a request to the only partition of a read. If it is nil,
// there is nobody to tell.
type Reading struct {
	tracers *Tracers
	request *Request
	ctx     context.Context //nolint:containedctx // lives as long as the call
}

// Read begins a reading of a table, by the request. The request's attempts get the context that it returns.
func (t *Tracers) Read(ctx context.Context, r *Request, op, table, text string, level gocql.Consistency) (
	context.Context, *Reading,
) {
	if len(t.requests)+len(t.retries) == 0 {
		return ctx, nil
	}
	ctx = t.TraceRequestStart(ctx, session.RequestStart{
		Op: op, Keyspace: r.Keyspace, Tables: []string{table}, Statements: []string{text},
		Consistency: session.Consistency(level), Idempotent: true, Partition: 1,
	})
	return ctx, &Reading{t, r, ctx}
}

// Observer is for [Retrier.Do]. It is nil if no tracer is told of retries.
func (r *Reading) Observer() func(Event) {
	if r == nil || len(r.tracers.retries) == 0 {
		return nil
	}
	return func(e Event) {
		e.Host = session.HostOf(r.request.Host())
		r.tracers.TraceRetry(r.ctx, e)
	}
}

// End ends the reading. found says whether there is a row.
func (r *Reading) End(found bool, result Result, err error) {
	if r == nil {
		return
	}
	end := session.RequestEnd{
		Attempts: result.Attempts, Host: session.HostOf(r.request.Host()), Reason: result.Last.Reason,
		BudgetSpent: result.BudgetSpent, Err: err, Outcome: retry.Unknown, Pages: 1,
	}
	if found {
		end.Rows, end.Returned = 1, 1
	}
	r.tracers.TraceRequestEnd(r.ctx, end)
}
