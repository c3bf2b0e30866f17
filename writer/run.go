package writer

import (
	"context"
	"errors"
	"sync"

	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// run sends a plan, phase after phase, and says what became of it. before holds, for a plan that was sent before, what
// is known of each path of its only phase; legs that need not be sent again are in done.
func (w *Writer) run(ctx context.Context, p *plan, done []leg, before ...leg) (Result, error) {
	legs := done
	for _, phase := range p.phases {
		sent := w.runPhase(ctx, p, phase, before)
		legs = append(legs, sent...)
		if !applied(sent) {
			break
		}
	}
	result := Result{Timestamp: p.timestamp, Mode: p.mode}
	for i := range legs {
		result.Attempts += legs[i].attempts
	}
	var err error
	if !applied(legs) {
		err = &Error{
			Op: p.op, Timestamp: p.timestamp, Mode: p.mode, strict: p.strict, legs: legs, Tables: tableResults(legs),
		}
	}
	w.tracer.writeEnd(ctx, WriteEnd{
		Op: p.op, Timestamp: p.timestamp, Mode: p.mode, Paths: len(legs), Attempts: result.Attempts, Err: err,
	})
	return result, err
}

func applied(legs []leg) bool {
	for i := range legs {
		if legs[i].outcome != Applied {
			return false
		}
	}
	return true
}

// runPhase sends the paths of a phase at the same time and waits for all of them, also when one has failed: to cancel
// its siblings would turn one failed table into several.
func (w *Writer) runPhase(ctx context.Context, p *plan, paths []path, before []leg) []leg {
	legs := make([]leg, len(paths))
	copy(legs, before)
	last := len(paths) - 1
	var wg sync.WaitGroup
	for i := range last {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w.runPath(ctx, p, paths[i], &legs[i])
		}()
	}
	w.runPath(ctx, p, paths[last], &legs[last])
	wg.Wait()
	if l := &legs[0]; paths[0].kind == retry.LoggedBatch && l.outcome != Applied && !p.strict && l.batchlog {
		return w.fallBack(ctx, p, *l)
	}
	return legs
}

// fallBack sends the mutations of a logged batch that failed at the batchlog as a fan-out, at the same timestamp: it
// merges with a replay of the batch, should one come after all.
func (w *Writer) fallBack(ctx context.Context, p *plan, failed leg) []leg {
	w.batchlog.failed(w.clock.now())
	p.mode = Fallback
	before := make([]leg, len(p.partition))
	for i := range before {
		before[i] = leg{outcome: failed.outcome, sent: true}
	}
	before[0].attempts = failed.attempts
	return w.runPhase(ctx, p, p.partition, before)
}

// runPath sends one path until it is applied or the policy gives up. l holds what is known of the path from an earlier
// run, and takes what is known after this one.
func (w *Writer) runPath(ctx context.Context, p *plan, path path, l *leg) {
	ctx = w.tracer.pathStart(ctx, p, path, w.consistency)
	r := request{path: path, consistency: w.consistency}
	var host *gocql.HostInfo
	if w.tracer.write != nil {
		r.host = &host
	}
	overloaded := false
	attempt := func(ctx context.Context, _ int) error {
		r.now = w.clock.now()
		err := w.exec.execute(ctx, r)
		if err == nil {
			return nil
		}
		verdict := retry.Classify(err, path.kind)
		overloaded = overloaded || verdict.Reason == retry.ReasonOverloaded
		if verdict.Batchlog && !p.strict {
			return retry.Stop(err)
		}
		return err
	}
	var observe func(retry.Event)
	if w.tracer.retry != nil {
		observe = func(e retry.Event) {
			w.tracer.retry.TraceRetry(ctx, RetryData{
				Attempt: e.Attempt, Class: e.Verdict.Class, Reason: e.Verdict.Reason, Wait: e.Wait, Host: host, Err: e.Err,
			})
		}
	}
	outcome, err := w.policy.Do(ctx, path.kind, attempt, observe)
	now := Applied
	if err != nil {
		now = outcomeOf(outcome.Class)
		if now == NotApplied && overloaded && w.derived(ctx, path) {
			now = Unknown
		}
	}
	l.end(path, now, outcome, err)
	w.tracer.pathEnd(ctx, PathEnd{
		Outcome: l.outcome, Attempts: outcome.Attempts, Host: host, Reason: outcome.Last.Reason, Err: err,
	})
}

// derived says whether a table of the path has, or may have, a view or trigger: then OVERLOADED can follow a part of
// the write.
func (w *Writer) derived(ctx context.Context, p path) bool {
	for _, m := range p.mutations {
		if t, err := w.live.table(ctx, m.Keyspace, m.Table); err != nil || t.derived {
			return true
		}
	}
	return false
}

// leg is a path with what became of it.
type leg struct {
	mutations []*tables.Mutation
	outcome   Outcome
	attempts  int
	sent      bool // some attempt was made, in this run or an earlier one
	batchlog  bool // some attempt failed at the batchlog
	err       error
}

func (l *leg) end(p path, now Outcome, o retry.Outcome, err error) {
	if l.sent {
		now = l.outcome.then(now)
	}
	l.mutations, l.outcome, l.err = p.mutations, now, err
	l.attempts += o.Attempts
	l.sent, l.batchlog = l.sent || o.Attempts > 0, o.Batchlog
	if now == Applied {
		l.err = nil
	}
}

var errNothingToResume = errors.New("nothing to resume: the write was refused before anything was sent")
