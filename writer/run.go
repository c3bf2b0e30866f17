package writer

import (
	"context"
	"sync"

	"github.com/denorm-go/denorm/retry"
)

// run sends a plan, phase after phase, and says what became of it.
func (w *Writer) run(ctx context.Context, p *plan) (Result, error) {
	for i := range p.phases {
		p.phases[i] = w.runPhase(ctx, p, p.phases[i])
		if !applied(p.phases[i]) {
			break
		}
	}
	return w.finish(ctx, p)
}

// finish is the end of a write that has a plan.
func (w *Writer) finish(ctx context.Context, p *plan) (Result, error) {
	result := Result{Timestamp: p.timestamp, Mode: p.mode, Attempts: p.requests}
	paths, done := 0, true
	for _, phase := range p.phases {
		paths, done = paths+len(phase), done && applied(phase)
		for i := range phase {
			result.Attempts += phase[i].requests
		}
	}
	var err error
	if !done {
		err = p.failure()
	}
	w.tracer.writeEnd(ctx, WriteEnd{
		Op: p.op, Timestamp: p.timestamp, Mode: p.mode, Paths: paths, Attempts: result.Attempts, Err: err,
	})
	return result, err
}

// runPhase sends the paths of a phase at the same time and waits for all of them, also when one has failed: to cancel
// its siblings would turn one failed table into several. A path that is applied already is left alone. The last one
// runs on the caller's goroutine. It returns the paths as they travelled.
func (w *Writer) runPhase(ctx context.Context, p *plan, paths []path) []path {
	last := -1
	var side *siblings
	for i := range paths {
		if paths[i].outcome == Applied {
			continue
		}
		if last >= 0 {
			if side == nil {
				side = w.siblings(ctx)
				defer side.cancel()
			}
			side.wg.Add(1)
			go w.runBeside(ctx, side, p, &paths[last])
		}
		last = i
	}
	if last < 0 {
		return paths
	}
	if side == nil {
		w.runPath(ctx, nil, p, &paths[last])
	} else {
		w.runPath(ctx, side.first, p, &paths[last])
		side.wg.Wait()
	}
	if batch := &paths[last]; batch.kind == retry.LoggedBatch && batch.outcome != Applied && batch.batchlog && !p.strict {
		return w.fallBack(ctx, p, batch)
	}
	return paths
}

// siblings is what paths that start together share.
type siblings struct {
	wg     sync.WaitGroup
	first  context.Context // of their first attempts; nil if each needs its own, because a tracer gives each another
	cancel context.CancelFunc
}

func (w *Writer) siblings(ctx context.Context) *siblings {
	s := &siblings{cancel: func() {}}
	if w.tracer.path == nil {
		s.first, s.cancel = w.policy.Attempt(ctx)
	}
	return s
}

func (w *Writer) runBeside(ctx context.Context, s *siblings, p *plan, path *path) {
	defer s.wg.Done()
	w.runPath(ctx, s.first, p, path)
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
	return w.runPhase(ctx, p, paths)
}

// runPath sends one path until it is applied or the policy gives up. first, if not nil, is the context of its first
// attempt.
func (w *Writer) runPath(ctx, first context.Context, p *plan, path *path) {
	ctx = w.tracer.pathStart(ctx, p, path, w.consistency)
	outcome, err := w.policy.DoFrom(ctx, first, path.kind, func(ctx context.Context, _ int) error {
		return w.attempt(ctx, p, path)
	}, w.tracer.observer(ctx, path))
	w.settle(ctx, path, outcome, err)
}

// settle notes what became of a path. It is apart from runPath so that the driver is not called on top of its variables:
// a new goroutine has a small stack, and growing it once more costs as much as the rest of the bookkeeping.
//
//go:noinline
func (w *Writer) settle(ctx context.Context, path *path, outcome retry.Outcome, err error) {
	now := Applied
	if err != nil {
		now = outcomeOf(outcome.Class)
		if now == NotApplied && path.overloaded && w.derived(ctx, path) {
			now = Unknown
		}
	}
	path.outcome = path.outcome.then(now)
	path.attempts += outcome.Attempts
	path.requests += outcome.Attempts
	path.batchlog = outcome.Batchlog
	path.err = err
	w.tracer.pathEnd(ctx, PathEnd{
		Outcome: path.outcome, Attempts: outcome.Attempts, Host: path.host, Reason: outcome.Last.Reason, Err: err,
	})
}

// attempt sends a path once.
func (w *Writer) attempt(ctx context.Context, p *plan, path *path) error {
	r := request{kind: path.kind, mutations: path.mutations, now: w.clock.now(), consistency: w.consistency}
	if w.tracer.write != nil {
		path.host = nil
		r.host = &path.host
	}
	err := w.exec.execute(ctx, r)
	if err == nil {
		return nil
	}
	verdict := retry.Classify(err, path.kind)
	path.overloaded = path.overloaded || verdict.Reason == retry.ReasonOverloaded
	if verdict.Batchlog && !p.strict && path.kind == retry.LoggedBatch {
		return retry.Stop(err) // it goes on as a fan-out
	}
	return err
}

// derived says whether a table of the path has, or may have, a view or trigger: then OVERLOADED can follow a part of
// the write.
func (w *Writer) derived(ctx context.Context, p *path) bool {
	for _, m := range p.mutations {
		// Read afresh: a view may be younger than what the writer remembers.
		if t, err := w.live.reread(ctx, retry.Policy{MaxAttempts: 1}, m.Keyspace, m.Table); err != nil || t.derived {
			return true
		}
	}
	return false
}
