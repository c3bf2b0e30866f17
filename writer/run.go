package writer

import (
	"context"
	"slices"

	"github.com/denorm-go/denorm/retry"
)

// run sends a plan, phase after phase, and says what became of it.
func (w *Writer) run(ctx context.Context, p *plan) (Result, error) {
	if p.condition != nil {
		if holds, _ := w.settle(ctx, p); !holds {
			return w.finish(ctx, p)
		}
	}
	done := true
	for i := range p.phases {
		p.phases[i] = w.runPhase(ctx, p, p.phases[i])
		// Counters are not waited for twice: what a Resume cannot fix does not keep the rest from its end.
		if done = applied(p.phases[i][:countersOf(p.phases[i])]); !done {
			break
		}
	}
	if p.condition != nil && done {
		w.conclude(ctx, p.op, p.condition)
	}
	return w.finish(ctx, p)
}

// finish is the end of a write that has a plan.
func (w *Writer) finish(ctx context.Context, p *plan) (Result, error) {
	result := Result{Timestamp: p.timestamp, Mode: p.mode, Attempts: p.sent, Counters: p.counters}
	requests, done := 0, true
	for _, phase := range p.phases {
		requests, done = requests+len(phase), done && applied(phase)
		for i := range phase {
			result.Attempts += phase[i].sent
		}
	}
	if p.condition != nil {
		result.Attempts += p.condition.sent
		result.Version = p.condition.version
		requests, done = requests+1, done && p.condition.outcome == Applied
	}
	var err error
	if !done {
		err = p.failure()
	}
	w.tracer.writeEnd(ctx, WriteEnd{
		Op: p.op, Timestamp: p.timestamp, Mode: p.mode, Requests: requests, Counters: p.counters, Attempts: result.Attempts,
		Stragglers: p.stragglers, Err: err,
	})
	return result, err
}

// runPhase sends the requests of a phase at the same time and waits for all of them, also when one has failed: to cancel
// its siblings would turn one failed table into several. A request that is applied already is left alone. It returns the
// requests as they travelled.
//
// Counters are under way by themselves: a batch that becomes a fan-out does not wait for them, and leaves them alone.
func (w *Writer) runPhase(ctx context.Context, p *plan, requests []request) []request {
	at := countersOf(requests)
	if at == len(requests) {
		return w.runRequests(ctx, p, requests)
	}
	counters := requests[at:]
	s := w.startFanOut(ctx, p, counters)
	rest := w.runRequests(ctx, p, requests[:at:at])
	s.wait()
	counters, stragglers := s.collect(counters)
	p.stragglers += stragglers
	return append(rest, counters...)
}

// runRequests is runPhase without counters.
func (w *Writer) runRequests(ctx context.Context, p *plan, requests []request) []request {
	s := w.startFanOut(ctx, p, requests)
	s.wait()
	requests, stragglers := s.collect(requests)
	p.stragglers += stragglers
	at := slices.IndexFunc(requests, func(p request) bool { return p.kind == retry.LoggedBatch })
	if at >= 0 && requests[at].outcome == Applied && p.trial {
		w.batchlog.succeeded(w.clock.now())
	}
	if at >= 0 && requests[at].outcome != Applied && requests[at].batchlog && !p.strict {
		return w.fallBack(ctx, p, &requests[at])
	}
	return requests
}

// fallBack sends the mutations of a logged batch that failed at the batchlog as a fan-out, at the same timestamp: it
// merges with a replay of the batch, should one come after all.
func (w *Writer) fallBack(ctx context.Context, p *plan, batch *request) []request {
	w.batchlog.failed(w.clock.now())
	p.mode = Fallback
	p.sent += batch.sent
	requests := batch.split()
	if ctx.Err() != nil { // nothing more can be sent, and the batch's own error says more
		return requests
	}
	return w.runRequests(ctx, p, requests)
}

// single makes one attempt.
var single, _ = retry.New(retry.Policy{MaxAttempts: 1}, nil)

// derived says whether a table of the request has, or may have, a view or trigger: then OVERLOADED can follow a part of
// the write.
func (w *Writer) derived(ctx context.Context, p *request) bool {
	for _, m := range p.mutations {
		// Read afresh: a view may be younger than what the writer remembers.
		if t, err := w.live.reread(ctx, single, m.Keyspace, m.Table); err != nil || t.derived {
			return true
		}
	}
	return false
}
