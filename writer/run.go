package writer

import (
	"context"

	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
)

// run sends a plan, and says what became of it. It waits for all requests, even if one has failed: canceling the others would turn
// one failed table into several.
func (w *Writer) run(ctx context.Context, p *plan) (Result, error) {
	if p.condition != nil {
		if holds, _ := w.commitCondition(ctx, p); !holds {
			return w.finish(ctx, p)
		}
	}
	counters := w.startFanOut(ctx, p, p.counters)
	p.requests = w.startFanOut(ctx, p, p.requests).wait(p.requests)
	if len(p.requests) > 0 && p.requests[0].kind == retry.LoggedBatch {
		w.fallBack(ctx, p)
	}
	p.counters = counters.wait(p.counters)
	// Counters are not waited for twice: what a Resume cannot fix does not keep the rest from its end.
	if p.condition != nil && applied(p.requests) {
		w.conclude(ctx, p.op, p.condition)
	}
	return w.finish(ctx, p)
}

// fallBack sends the mutations of a logged batch that failed at the batchlog as a fan-out, at the same timestamp: it
// merges with a replay of the batch, should one come after all.
func (w *Writer) fallBack(ctx context.Context, p *plan) {
	batch := &p.requests[0]
	if batch.outcome == Applied && p.trial {
		w.batchlog.succeeded(w.clock.now())
	}
	if batch.outcome == Applied || !batch.batchlog || p.strict {
		return
	}
	w.batchlog.failed(w.clock.now())
	p.mode = Fallback
	p.sent += batch.sent
	p.requests = batch.split()
	if ctx.Err() == nil { // else nothing more can be sent, and the batch's own error says more
		p.requests = w.startFanOut(ctx, p, p.requests).wait(p.requests)
	}
}

// finish is the end of a write that has a plan.
func (w *Writer) finish(ctx context.Context, p *plan) (Result, error) {
	result := Result{Timestamp: p.timestamp, Mode: p.mode, Attempts: p.sent, Counters: len(p.counters)}
	n, done := len(p.requests)+len(p.counters), applied(p.requests) && applied(p.counters)
	for _, requests := range [...][]request{p.requests, p.counters} {
		for i := range requests {
			result.Attempts += requests[i].sent
		}
	}
	for i := range p.groups {
		g := &p.groups[i]
		if sent := int(g.sent.Load()); sent > 0 {
			result.Attempts, result.Groups = result.Attempts+sent, result.Groups+1
			n -= g.members() - 1
		}
	}
	if p.condition != nil {
		result.Attempts += p.condition.sent
		result.Version = p.condition.version
		n, done = n+1, done && p.condition.outcome == Applied
	}
	if p.transacted() { // its requests are one
		n = 1
	}
	result.Requests = n
	var err error
	if !done {
		failed := p.failure()
		if failed.link == "" {
			failed.link = traceparent(w.tracer.TraceLink(ctx))
		}
		err = failed
	}
	w.tracer.TraceEnd(ctx, session.OperationEnd{
		Op: p.op, Timestamp: p.timestamp, Mode: p.mode.String(), Requests: n, Groups: result.Groups, Counters: result.Counters,
		Attempts: result.Attempts, Stragglers: p.stragglers, Err: err,
	})
	return result, err
}

// single makes one attempt.
var single = req.NewRetrier(retry.Policy{MaxAttempts: 1}, nil)

// derived says whether a table of the request has, or may have, a view or trigger: then OVERLOADED can follow a part of
// the write.
func (w *Writer) derived(ctx context.Context, p *request) bool {
	for _, m := range p.mutations {
		// Read afresh: a view may be younger than what the writer remembers.
		if t, err := w.live.reread(ctx, &single, m.Keyspace, m.Table); err != nil || t.derived {
			return true
		}
	}
	return false
}
