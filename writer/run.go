package writer

import (
	"context"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
)

// run carries a plan out.
func (w *Writer) run(ctx context.Context, p *plan) (Result, error) {
	w.decide(ctx, p)
	return w.send(ctx, p)
}

// send sends what is left of a plan that is decided, and says what became of it. It waits for all requests, even if one
// has failed: canceling the others would turn one failed table into several.
func (w *Writer) send(ctx context.Context, p *plan) (Result, error) {
	if p.undecided() {
		return w.finish(ctx, p)
	}
	w.tryBatchlog(ctx, p)
	counters := w.start(ctx, p, Counter, p.Counters)
	p.Requests = w.start(ctx, p, p.mode, p.Requests).Wait(p.Requests)
	if len(p.Requests) > 0 && p.Requests[0].Kind == retry.LoggedBatch {
		w.fallBack(ctx, p)
	}
	p.Counters = counters.Wait(p.Counters)
	// Counters are not waited for twice: what a Resume cannot fix does not keep the rest from its end.
	if p.deciding != nil && p.decision.Conclude != nil && fanout.AllApplied(p.Requests) {
		p.decision.Conclude(ctx, &p.env, p.decision, p.known)
	}
	return w.finish(ctx, p)
}

// tryBatchlog makes a logged batch that is about to be sent a fan-out while another write tries the batchlog.
func (w *Writer) tryBatchlog(ctx context.Context, p *plan) {
	if p.Strict || len(p.Requests) == 0 || p.Requests[0].Kind != retry.LoggedBatch || !p.Requests[0].Open() ||
		ctx.Err() != nil { // nothing is sent
		return
	}
	var down bool
	if down, p.trial = w.batchlog.try(w.clock.now()); down {
		p.mode, p.Requests = Fallback, p.Requests[0].Split()
	}
}

// fallBack sends the mutations of a logged batch that failed at the batchlog as a fan-out, at the same timestamp: it
// merges with a replay of the batch, should one come after all.
func (w *Writer) fallBack(ctx context.Context, p *plan) {
	batch := &p.Requests[0]
	if batch.Outcome == Applied && p.trial {
		w.batchlog.succeeded(w.clock.now())
	}
	if batch.Outcome == Applied || !batch.Batchlog || p.Strict {
		return
	}
	w.batchlog.failed(w.clock.now())
	p.mode = Fallback
	p.sent += batch.Sent
	p.Requests = batch.Split()
	if ctx.Err() == nil { // else nothing more can be sent, and the batch's own error says more
		p.Requests = w.start(ctx, p, p.mode, p.Requests).Wait(p.Requests)
	}
}

// finish is the end of a write that has a plan.
func (w *Writer) finish(ctx context.Context, p *plan) (Result, error) {
	groups, attempts, members := p.Groups()
	result := Result{
		Timestamp: p.timestamp, Mode: p.mode, Requests: len(p.Requests) + len(p.Counters) + groups - members,
		Groups: groups, Attempts: p.sent + p.Sent() + attempts, Counters: len(p.Counters),
	}
	if p.deciding != nil {
		result.Requests++
		result.Attempts += p.known.Sent
		result.Version = p.decision.Version()
	}
	var err error
	if p.undecided() || !p.Applied() {
		failed := p.failure()
		if failed.link == "" {
			failed.link = traceparent(w.tracer.TraceLink(ctx))
		}
		err = failed
	}
	w.tracer.TraceEnd(ctx, session.OperationEnd{
		Op: p.Op, Timestamp: p.timestamp, Mode: p.mode.String(), Requests: result.Requests, Groups: groups,
		Counters: result.Counters, Attempts: result.Attempts, Stragglers: p.Stragglers, Err: err,
	})
	return result, err
}

// start starts the open requests, see [fanout.Sender.Start].
func (w *Writer) start(ctx context.Context, p *plan, mode Mode, requests []fanout.Request) *fanout.Flight {
	p.Grouped = w.group > 0 && w.ungrouped(p) == ""
	return w.sender.Start(ctx, &p.Write, mode.String(), requests)
}

// ungrouped is why no requests of the plan are sent together; empty if they may be.
func (w *Writer) ungrouped(p *plan) string {
	switch {
	case p.mode != FanOut && p.mode != Fallback && p.mode != Conditional:
		return "only requests of a fan-out can be grouped"
	case p.Width > 0:
		return "a Resume sends each request alone"
	case !w.sender.Retrier.Retries():
		return "a failed group is sent again as single requests, and the retry policy allows one attempt"
	case w.sender.Hosts == nil:
		return "replicas are known where session.Configure or session.SelectHosts has chosen how the session's hosts are " +
			"selected"
	}
	return ""
}
