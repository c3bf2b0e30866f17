package writer

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/internal/hosts"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
)

// sender is one request on a goroutine of its own, so that its caller can leave when the context ends, whatever the driver
// does.
//
// What runs on its goroutine below the driver has small frames, and leaves what is rare to functions that are not
// inlined: gocql just fits into 4 KiB of stack, and to grow the stack in its depth costs more than all that is done here.
type sender struct {
	request  *request
	s        *fanOut
	outcome  Outcome // before
	attempts int     // before
	current  hostAttempt
	sent     atomic.Int32 // requests
	stage    atomic.Uint32
}

// The stages of a sender.
const (
	waiting  uint32 = iota // its goroutine has not got so far as to send anything
	sending                // it sends
	finished               // request belongs to the caller again
	canceled               // the caller has left before it could send anything, and so it will not
)

// attempt is one request, and the context that it is sent with.
type hostAttempt struct {
	hosts.Attempt
	attempt attempt
	start   time.Duration // since that of the fanOut
}

// left is the request as the caller leaves it behind.
func (f *sender) left(outcome Outcome, err error) request {
	sent := int(f.sent.Load())
	return request{
		kind: f.request.kind, mutations: f.request.mutations, outcome: f.outcome.then(outcome), attempts: f.attempts + sent,
		sent: sent, err: err,
	}
}

func (f *sender) run() {
	if f.s.w.deep {
		growStack()
	}
	f.sendFirst()
	f.finish()
	f.s.goOn()
}

func (f *sender) finish() {
	f.stage.Store(finished)
	if f.s.inFlight.Add(-1) == 0 {
		f.s.finish()
	}
}

// sendFirst sends the request until it is applied or the policy gives up.
func (f *sender) sendFirst() {
	ctx, first := f.s.ctx, context.Context(f.s)
	if f.s.w.tracer.request != nil {
		ctx, first = f.traced()
	}
	if over(ctx) || !f.stage.CompareAndSwap(waiting, sending) {
		f.notSent(ctx)
	} else if err := f.again(first, 1); err != nil {
		f.goOn(ctx, first, err)
	} else {
		f.acknowledged(ctx)
	}
}

// sendLater is sendFirst of a request that has waited for another one, and whose first attempt so has a limit of its own.
//
//go:noinline
func (f *sender) sendLater() {
	ctx, w := f.s.ctx, f.s.w
	if w.tracer.request != nil {
		ctx, _ = f.traced()
	}
	if over(ctx) || !f.stage.CompareAndSwap(waiting, sending) {
		f.notSent(ctx)
		return
	}
	again := func(ctx context.Context, n int) error { return f.again(ctx, n+1) } // none begins with the fanOut
	outcome, err := w.retrier.Do(ctx, f.request.kind, again, w.tracer.observer(ctx, f.request))
	f.recordOutcome(ctx, outcome, err)
}

// traced gives the context of the request, and that of its first attempt.
//
//go:noinline
func (f *sender) traced() (ctx, first context.Context) {
	ctx = f.s.w.tracer.requestStart(f.s.ctx, f.s.p.op, f.s.mode, f.request, session.Consistency(f.s.w.consistency))
	return ctx, limited{ctx, f.s}
}

// notSent is the end of a request whose context ended before it began.
//
//go:noinline
func (f *sender) notSent(ctx context.Context) {
	outcome, err := retry.NotAttempted(f.request.kind, f.s.over())
	f.recordOutcome(ctx, outcome, err)
}

// acknowledged is the end of a request whose first attempt succeeded.
//
//go:noinline
func (f *sender) acknowledged(ctx context.Context) {
	f.s.w.retrier.Succeeded()
	f.recordOutcome(ctx, retry.Outcome{Attempts: 1}, nil)
}

// goOn is what follows a first attempt that failed.
//
//go:noinline
func (f *sender) goOn(ctx, first context.Context, err error) {
	w := f.s.w
	outcome, err := w.retrier.GoOn(ctx, retry.Failed{Context: first, Start: f.s.start, Err: err}, f.request.kind, f.again,
		w.tracer.observer(ctx, f.request))
	f.recordOutcome(ctx, outcome, err)
}

// limited is a context with the values of one and the end of another.
type limited struct {
	context.Context
	end context.Context //nolint:containedctx // it is a context
}

func (c limited) Deadline() (time.Time, bool) { return c.end.Deadline() }

func (c limited) Done() <-chan struct{} { return c.end.Done() }

func (c limited) Err() error { return c.end.Err() }

// again is an attempt, the n-th.
func (f *sender) again(ctx context.Context, n int) error {
	r := &f.current
	r.start, r.attempt.now = 0, f.s.now
	if n > 1 {
		r.start, r.attempt.now = time.Since(f.s.start), f.s.w.clock.now().UnixMilli()
	}
	if f.s.w.hedge > 0 && f.request.kind.Idempotent() {
		return f.hedged(ctx)
	}
	f.sent.Add(1)
	err := f.send(ctx, r)
	f.request.host = r.attempt.host
	if err != nil {
		return f.note(err)
	}
	return nil
}

// send makes one request, which has been counted.
func (f *sender) send(ctx context.Context, r *hostAttempt) error {
	r.Next(ctx)
	r.attempt.host = nil
	if err := f.s.w.exec.execute(&r.Attempt, &r.attempt); err != nil { //nolint:contextcheck // r is ctx now
		return f.failed(ctx, r, err)
	}
	r.End(hosts.Answered)
	return nil
}

// failed is the end of a request that failed, with an answer or without.
//
//go:noinline
func (f *sender) failed(ctx context.Context, r *hostAttempt, err error) error {
	err = hosts.Cause(ctx, err)
	r.End(resultOf(err, time.Since(f.s.start)-r.start))
	return err
}

// leastSilence is how long an attempt must have waited for its end to say something of the host: a caller's deadline may
// be shorter than an answer takes.
const leastSilence = 200 * time.Millisecond

// resultOf says what the error of an attempt that took so long tells of the host.
func resultOf(err error, took time.Duration) hosts.Result {
	result := hosts.ResultOf(err)
	if result == hosts.TimedOut && took < leastSilence {
		return hosts.Cancelled
	}
	return result
}

// note keeps what the error of a request says, and returns it.
//
//go:noinline
func (f *sender) note(err error) error {
	verdict := retry.Classify(err, f.request.kind)
	f.request.overloaded = f.request.overloaded || verdict.Reason == retry.ReasonOverloaded
	if verdict.Batchlog && !f.s.p.strict && f.request.kind == retry.LoggedBatch {
		return retry.Stop(err) // it goes on as a fan-out
	}
	return err
}

// recordOutcome notes what became of the request.
//
//go:noinline
func (f *sender) recordOutcome(ctx context.Context, outcome retry.Outcome, err error) {
	now := Applied
	if err != nil {
		now = outcomeOf(outcome.Class)
		if now == NotApplied && f.request.overloaded && f.s.w.derived(ctx, f.request) {
			now = Unknown
		}
	}
	p, sent := f.request, int(f.sent.Load())
	p.outcome = p.outcome.then(now)
	p.attempts += sent
	p.sent = sent
	p.batchlog = outcome.Batchlog
	p.err = p.explain(wrapTimeout(ctx, err))
	f.s.w.tracer.requestEnd(ctx, RequestEnd{
		Outcome: p.outcome, Attempts: sent, Host: session.HostOf(p.host), Reason: outcome.Last.Reason, Refused: outcome.Refused, Err: err,
	})
}
