package fanout

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/denorm-go/denorm/internal/hosts"
	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
)

// task is one request on a goroutine of its own, so that its caller can leave when the context ends, whatever the
// driver does.
//
// Functions that call the driver on its goroutine have small frames, and rare work is in functions that are not
// inlined: gocql just fits into 4 KiB of stack, and growing the stack inside gocql costs more than all that is done
// here.
type task struct {
	request  *Request
	flight   *Flight
	outcome  retry.Outcome // before
	attempts int           // before
	current  try
	sent     atomic.Int32 // requests
	stage    atomic.Uint32
	group    *groupTask // that has its first attempt; nil if it is alone
	told     bool       // a tracer knows of it: not of a member of a group that sends nothing alone
	hedges   int        // of sent: those that were sent because another one had no answer yet
}

// The stages of a task.
const (
	waiting  uint32 = iota // its goroutine has not got so far as to send anything
	sending                // it sends
	finished               // request belongs to the caller again
	canceled               // the caller has left before it could send anything, and so it will not
)

// try is an attempt in flight, and the context that it is sent with.
type try struct {
	req.Request
	attempt Attempt
}

// left returns the request as the caller leaves it behind.
func (t *task) left(outcome retry.Outcome, err error) Request {
	return Request{
		Kind: t.request.Kind, Mutations: t.request.Mutations, Outcome: t.outcome.Then(outcome),
		Attempts: t.attempts + t.carried(),
		Sent:     int(t.sent.Load()), Err: err,
	}
}

// carried returns how many requests have carried the mutations.
func (t *task) carried() int {
	n := int(t.sent.Load())
	if t.group != nil {
		n += int(t.group.sent.Load())
	}
	return n
}

// run is the goroutine of a task. It sends the request until it is applied or the policy gives up, and then takes over
// requests that have no goroutine. The first attempt of a request that has waited has a limit of its own.
func (t *task) run() {
	flight := t.flight
	if flight.sender.Deep {
		growStack()
	}
	for waited := false; ; waited = true {
		ctx := t.begin()
		if over(ctx) || !t.stage.CompareAndSwap(waiting, sending) {
			t.notSent(ctx)
		} else if waited {
			t.sendLater(ctx)
		} else if err := t.again(ctx, 1); err != nil {
			t.goOn(ctx, err)
		} else {
			flight.sender.Retrier.Succeeded()
			t.recordOutcome(ctx, &succeeded, nil)
		}
		t.done()
		n := int(flight.begun.Add(1))
		if n > len(flight.tasks) {
			return
		}
		t = &flight.tasks[n-1]
	}
}

// done gives the request back to the caller.
func (t *task) done() {
	flight := t.flight
	t.stage.Store(finished)
	if flight.inFlight.Add(-1) > 0 {
		return
	}
	flight.mu.Lock()
	defer flight.mu.Unlock()
	if flight.done != nil {
		close(flight.done)
	} else {
		flight.err = context.Canceled
		close(flight.ended)
	}
}

// begin tells of the request, if any tracer is told of requests, and returns the context for what follows.
func (t *task) begin() context.Context {
	if t.flight.sender.Tracer.Requests() {
		return t.traced()
	}
	return t.flight.ctx
}

//go:noinline
func (t *task) traced() context.Context {
	r := t.request
	t.told = true
	return t.flight.sender.Tracer.TraceRequestStart(t.flight.ctx, session.RequestStart{
		Op: t.flight.write.Op, Mode: t.flight.mode, Keyspace: r.Mutations[0].Keyspace, Group: t.groupSize(),
		Tables: r.tables(), Statements: r.statements(), Consistency: session.Consistency(t.flight.sender.Consistency),
		Idempotent: r.Kind.Idempotent(),
	})
}

// groupSize is how many requests are sent together in this one; 0 if it is not a group.
func (t *task) groupSize() int {
	if t.request.Kind != retry.UnloggedBatch {
		return 0
	}
	return len(t.current.Group.Partitions)
}

// tableOutcomes is what is known of each table of a group after an attempt that says now.
func (t *task) tableOutcomes(now retry.Outcome) []retry.Outcome {
	names := t.request.tables()
	outcomes, seen := make([]retry.Outcome, len(names)), make([]bool, len(names))
	for _, n := range t.current.Group.Partitions {
		member := &t.flight.tasks[n]
		for _, m := range member.request.Mutations {
			at, known := slices.Index(names, m.Table), member.outcome.Then(now)
			if seen[at] {
				known = outcomes[at].And(known)
			}
			outcomes[at], seen[at] = known, true
		}
	}
	return outcomes
}

// notSent is the end of a request whose context ended before it began.
//
//go:noinline
func (t *task) notSent(ctx context.Context) {
	result, err := req.NotAttempted(t.request.Kind, t.flight.over())
	t.recordOutcome(ctx, &result, err)
}

//go:noinline
func (t *task) sendLater(ctx context.Context) {
	again := func(ctx context.Context, n int) error { return t.again(ctx, n+1) } // none has the limit of the flight
	result, err := t.flight.sender.Retrier.Do(ctx, t.request.Kind, again,
		t.flight.sender.Tracer.Observer(ctx, &t.request.Host))
	t.recordOutcome(ctx, &result, err)
}

// goOn is what follows a first attempt that failed.
//
//go:noinline
func (t *task) goOn(ctx context.Context, err error) {
	first := req.Failed{Context: &t.current, Start: t.flight.start, Err: err}
	result, err := t.flight.sender.Retrier.GoOn(ctx, first, t.request.Kind, t.again,
		t.flight.sender.Tracer.Observer(ctx, &t.request.Host))
	t.recordOutcome(ctx, &result, err)
}

// again is an attempt, the n-th. The first ones of all tasks end together.
func (t *task) again(ctx context.Context, n int) error {
	r := &t.current
	r.Limit, r.attempt.Now = t.flight, t.flight.now
	if n > 1 {
		r.Limit, r.attempt.Now = nil, t.flight.sender.Now().UnixMilli()
	}
	if t.flight.sender.Hedge > 0 && t.request.Kind.Idempotent() {
		return t.hedged(ctx)
	}
	t.sent.Add(1)
	r.Begin(ctx)
	err := r.End(t.flight.sender.Exec.Execute(&r.Request, &r.attempt)) //nolint:contextcheck // r is ctx now
	t.request.Host = session.HostOf(r.attempt.Host)
	if err != nil {
		return t.note(err)
	}
	return nil
}

// note keeps what the error of a request says, and returns it.
//
//go:noinline
func (t *task) note(err error) error {
	verdict := retry.Classify(err, t.request.Kind)
	t.request.Overloaded = t.request.Overloaded || verdict.Reason == retry.ReasonOverloaded
	t.request.Strained = t.request.Strained || hosts.Overloaded(err)
	if verdict.Batchlog && !t.flight.write.Strict && t.request.Kind == retry.LoggedBatch {
		return req.Stop(err) // it goes on as a fan-out
	}
	return err
}

// succeeded is the result of a first attempt that did.
var succeeded = req.Result{Attempts: 1, Outcome: retry.Applied}

// recordOutcome notes what became of the request.
//
//go:noinline
func (t *task) recordOutcome(ctx context.Context, result *req.Result, err error) {
	now := result.Outcome
	if now == retry.NotApplied && t.request.Overloaded && t.flight.sender.Doubt(ctx, t.request) {
		now = retry.Unknown
	}
	p, sent := t.request, int(t.sent.Load())
	p.Outcome = p.Outcome.Then(now)
	p.Attempts += t.carried()
	p.Sent = sent
	p.Batchlog = result.Batchlog
	p.Err = nil
	if err != nil {
		p.Err = req.MarkRefused(p.Explain(WrapTimeout(ctx, err)))
	}
	if !t.told {
		return
	}
	end := session.RequestEnd{
		Outcome: p.Outcome, Attempts: sent, Hedges: t.hedges, Host: p.Host, Reason: result.Last.Reason,
		BudgetSpent: result.BudgetSpent, Err: err,
	}
	if t.groupSize() > 0 {
		end.Tables = t.tableOutcomes(now)
	}
	t.flight.sender.Tracer.TraceRequestEnd(ctx, end)
}
