package writer

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/internal/pace"
	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
)

// sender is one request on a goroutine of its own, so that its caller can leave when the context ends, whatever the driver
// does.
//
// Functions that call the driver on its goroutine have small frames, and rare work is in functions that are not inlined:
// gocql just fits into 4 KiB of stack, and growing the stack inside gocql costs more than all that is done here.
type sender struct {
	request  *request
	s        *fanOut
	outcome  Outcome // before
	attempts int     // before
	current  try
	sent     atomic.Int32 // requests
	stage    atomic.Uint32
	group    *groupSender // that has its first attempt; nil if it is alone
	told     bool         // a tracer knows of it: not of a member of a group that sends nothing alone
	hedges   int          // of sent: those that were sent because another one had no answer yet
}

// The stages of a sender.
const (
	waiting  uint32 = iota // its goroutine has not got so far as to send anything
	sending                // it sends
	finished               // request belongs to the caller again
	canceled               // the caller has left before it could send anything, and so it will not
)

// try is an attempt in flight, and the context that it is sent with.
type try struct {
	req.Request
	attempt attempt
}

// left returns the request as the caller leaves it behind.
func (f *sender) left(outcome Outcome, err error) request {
	return request{
		kind: f.request.kind, mutations: f.request.mutations, outcome: f.outcome.Then(outcome), attempts: f.attempts + f.carried(),
		sent: int(f.sent.Load()), err: err,
	}
}

// carried returns how many requests have carried the mutations.
func (f *sender) carried() int {
	n := int(f.sent.Load())
	if f.group != nil {
		n += int(f.group.sent.Load())
	}
	return n
}

// run is the goroutine of a sender. It sends the request until it is applied or the policy gives up, and then takes over requests that
// have no goroutine. The first attempt of a request that has waited has a limit of its own.
func (f *sender) run() {
	s := f.s
	if s.w.deep {
		growStack()
	}
	for waited := false; ; waited = true {
		ctx := s.ctx
		if s.w.tracer.Requests() {
			ctx = f.traced()
		}
		if over(ctx) || !f.stage.CompareAndSwap(waiting, sending) {
			f.notSent(ctx)
		} else if waited {
			f.sendLater(ctx)
		} else if err := f.again(ctx, 1); err != nil {
			f.goOn(ctx, err)
		} else {
			s.w.retrier.Succeeded()
			f.recordOutcome(ctx, &succeeded, nil)
		}
		f.done()
		n := int(s.begun.Add(1))
		if n > len(s.senders) {
			return
		}
		f = &s.senders[n-1]
	}
}

// done gives the request back to the caller.
func (f *sender) done() {
	s := f.s
	f.stage.Store(finished)
	if s.inFlight.Add(-1) > 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done != nil {
		close(s.done)
	} else {
		s.err = context.Canceled
		close(s.ended)
	}
}

//go:noinline
func (f *sender) traced() context.Context {
	r := f.request
	f.told = true
	return f.s.w.tracer.TraceRequestStart(f.s.ctx, session.RequestStart{
		Op: f.s.p.op, Mode: r.modeIn(f.s.mode).String(), Keyspace: r.mutations[0].Keyspace, Group: f.groupSize(),
		Tables: r.tables(), Statements: r.statements(), Consistency: session.Consistency(f.s.w.consistency), Idempotent: r.kind.Idempotent(),
	})
}

// groupSize is how many requests are sent together in this one; 0 if it is not a group.
func (f *sender) groupSize() int {
	if f.request.kind != retry.UnloggedBatch {
		return 0
	}
	return len(f.current.Group.Partitions)
}

// tableOutcomes is what is known of each table of a group after an attempt that says now.
func (f *sender) tableOutcomes(now Outcome) []Outcome {
	names := f.request.tables()
	outcomes, seen := make([]Outcome, len(names)), make([]bool, len(names))
	for _, n := range f.current.Group.Partitions {
		member := &f.s.senders[n]
		for _, m := range member.request.mutations {
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
func (f *sender) notSent(ctx context.Context) {
	result, err := req.NotAttempted(f.request.kind, f.s.over())
	f.recordOutcome(ctx, &result, err)
}

//go:noinline
func (f *sender) sendLater(ctx context.Context) {
	again := func(ctx context.Context, n int) error { return f.again(ctx, n+1) } // none has the limit of the fanOut
	result, err := f.s.w.retrier.Do(ctx, f.request.kind, again, f.s.w.tracer.Observer(ctx, &f.request.host))
	f.recordOutcome(ctx, &result, err)
}

// goOn is what follows a first attempt that failed.
//
//go:noinline
func (f *sender) goOn(ctx context.Context, err error) {
	first := req.Failed{Context: &f.current, Start: f.s.start, Err: err}
	result, err := f.s.w.retrier.GoOn(ctx, first, f.request.kind, f.again, f.s.w.tracer.Observer(ctx, &f.request.host))
	f.recordOutcome(ctx, &result, err)
}

// again is an attempt, the n-th. The first ones of all senders end together.
func (f *sender) again(ctx context.Context, n int) error {
	r := &f.current
	r.Limit, r.attempt.now = f.s, f.s.now
	if n > 1 {
		r.Limit, r.attempt.now = nil, f.s.w.clock.now().UnixMilli()
	}
	if f.s.w.hedge > 0 && f.request.kind.Idempotent() {
		return f.hedged(ctx)
	}
	f.sent.Add(1)
	r.Begin(ctx)
	err := r.End(f.s.w.exec.execute(&r.Request, &r.attempt)) //nolint:contextcheck // r is ctx now
	f.request.host = session.HostOf(r.attempt.host)
	if err != nil {
		return f.note(err)
	}
	return nil
}

// leastSilence is how long an attempt must have waited before its end says something about the host.
const leastSilence = 200 * time.Millisecond

// note keeps what the error of a request says, and returns it.
//
//go:noinline
func (f *sender) note(err error) error {
	verdict := retry.Classify(err, f.request.kind)
	f.request.overloaded = f.request.overloaded || verdict.Reason == retry.ReasonOverloaded
	f.request.strained = f.request.strained || pace.Overloaded(err)
	if verdict.Batchlog && !f.s.p.strict && f.request.kind == retry.LoggedBatch {
		return req.Stop(err) // it goes on as a fan-out
	}
	return err
}

// succeeded is the result of a first attempt that did.
var succeeded = req.Result{Attempts: 1, Outcome: Applied}

// recordOutcome notes what became of the request.
//
//go:noinline
func (f *sender) recordOutcome(ctx context.Context, result *req.Result, err error) {
	now := result.Outcome
	if now == NotApplied && f.request.overloaded && f.s.w.derived(ctx, f.request) {
		now = Unknown
	}
	p, sent := f.request, int(f.sent.Load())
	p.outcome = p.outcome.Then(now)
	p.attempts += f.carried()
	p.sent = sent
	p.batchlog = result.Batchlog
	p.err = nil
	if err != nil {
		p.err = markRefused(p.explain(wrapTimeout(ctx, err)))
	}
	if !f.told {
		return
	}
	end := session.RequestEnd{
		Outcome: p.outcome, Attempts: sent, Hedges: f.hedges, Host: p.host, Reason: result.Last.Reason, BudgetSpent: result.BudgetSpent, Err: err,
	}
	if f.groupSize() > 0 {
		end.Tables = f.tableOutcomes(now)
	}
	f.s.w.tracer.TraceRequestEnd(ctx, end)
}
