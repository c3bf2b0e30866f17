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
	result := Result{Timestamp: p.timestamp, Mode: p.mode, Attempts: p.requests, Counters: p.counters}
	paths, done := 0, true
	for _, phase := range p.phases {
		paths, done = paths+len(phase), done && applied(phase)
		for i := range phase {
			result.Attempts += phase[i].requests
		}
	}
	if p.condition != nil {
		result.Attempts += p.condition.requests
		result.Version = p.condition.version
		paths, done = paths+1, done && p.condition.outcome == Applied
	}
	var err error
	if !done {
		err = p.failure()
	}
	w.tracer.writeEnd(ctx, WriteEnd{
		Op: p.op, Timestamp: p.timestamp, Mode: p.mode, Paths: paths, Counters: p.counters, Attempts: result.Attempts,
		Stragglers: p.stragglers, Err: err,
	})
	return result, err
}

// runPhase sends the paths of a phase at the same time and waits for all of them, also when one has failed: to cancel
// its siblings would turn one failed table into several. A path that is applied already is left alone. It returns the
// paths as they travelled.
//
// Counters are under way by themselves: a batch that becomes a fan-out does not wait for them, and leaves them alone.
func (w *Writer) runPhase(ctx context.Context, p *plan, paths []path) []path {
	at := countersOf(paths)
	if at == len(paths) {
		return w.runPaths(ctx, p, paths)
	}
	counters := paths[at:]
	s := w.startFanOut(ctx, p, counters)
	rest := w.runPaths(ctx, p, paths[:at:at])
	s.wait()
	counters, stragglers := s.collect(counters)
	p.stragglers += stragglers
	return append(rest, counters...)
}

// runPaths is runPhase without counters.
func (w *Writer) runPaths(ctx context.Context, p *plan, paths []path) []path {
	s := w.startFanOut(ctx, p, paths)
	s.wait()
	paths, stragglers := s.collect(paths)
	p.stragglers += stragglers
	at := slices.IndexFunc(paths, func(p path) bool { return p.kind == retry.LoggedBatch })
	if at >= 0 && paths[at].outcome == Applied && p.trial {
		w.batchlog.succeeded(w.clock.now())
	}
	if at >= 0 && paths[at].outcome != Applied && paths[at].batchlog && !p.strict {
		return w.fallBack(ctx, p, &paths[at])
	}
	return paths
}

// fallBack sends the mutations of a logged batch that failed at the batchlog as a fan-out, at the same timestamp: it
// merges with a replay of the batch, should one come after all.
func (w *Writer) fallBack(ctx context.Context, p *plan, batch *path) []path {
	w.batchlog.failed(w.clock.now())
	p.mode = Fallback
	p.requests += batch.requests
	paths := batch.split()
	if ctx.Err() != nil { // nothing more can be sent, and the batch's own error says more
		return paths
	}
	return w.runPaths(ctx, p, paths)
}

// single makes one attempt.
var single, _ = retry.New(retry.Policy{MaxAttempts: 1}, nil)

// derived says whether a table of the path has, or may have, a view or trigger: then OVERLOADED can follow a part of
// the write.
func (w *Writer) derived(ctx context.Context, p *path) bool {
	for _, m := range p.mutations {
		// Read afresh: a view may be younger than what the writer remembers.
		if t, err := w.live.reread(ctx, single, m.Keyspace, m.Table); err != nil || t.derived {
			return true
		}
	}
	return false
}
