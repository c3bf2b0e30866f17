package writer

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/internal/hosts"
	"github.com/denorm-go/denorm/retry"
)

// squadron is the paths that are under way together. It is also the context of their first attempts, which ends with
// that of the call and after the limit of an attempt: the caller waits for both anyway, so they need no timer and no
// goroutine of their own. Nil stands for no path at all.
type squadron struct {
	w       *Writer
	p       *plan
	ctx     context.Context //nolint:containedctx // of the call; lives as long
	limit   time.Duration   // of first attempts
	start   time.Time       // of first attempts
	now     time.Time       // the same by the writer's clock
	ended   chan struct{}   // closed when first attempts have to end
	err     error           // why; set before ended is closed
	flights []flight
	aloft   atomic.Int32
	landed  chan struct{} // closed by the last one
}

// flight is one path on a goroutine of its own, so that its caller can leave when the context ends, whatever the driver
// does. It works on a copy of the path, which the caller takes over when it has landed.
//
// What runs on its goroutine below the driver has small frames, and leaves what is rare to functions that are not
// inlined: gocql just fits into 4 KiB of stack, and to grow the stack in its depth costs more than all that is done here.
type flight struct {
	path    path
	index   int // of the path
	s       *squadron
	sortie  sortie
	attempt hosts.Attempt // of sortie
	sent    atomic.Int32  // requests
	landed  atomic.Bool
}

// sortie is one request, and the context that it is sent with.
type sortie struct {
	*hosts.Attempt
	request request
	start   time.Time
}

// launch starts the open paths. They are counters, or none is.
func (w *Writer) launch(ctx context.Context, p *plan, paths []path) *squadron {
	n := 0
	for i := range paths {
		if paths[i].open() {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	s := &squadron{
		w: w, p: p, ctx: ctx, limit: w.retrier.AttemptTimeout(), start: time.Now(), now: w.clock.now(), ended: make(chan struct{}),
		flights: make([]flight, n), landed: make(chan struct{}),
	}
	if d, ok := ctx.Deadline(); ok && paths[0].kind == retry.Counter {
		// Another attempt would not follow, and the server takes its time over counters (counter_write_request_timeout, 5 s).
		s.limit = max(s.limit, time.Until(d)+leeway)
	}
	s.aloft.Store(int32(n))
	n = 0
	for i := range paths {
		if !paths[i].open() {
			continue
		}
		f := &s.flights[n]
		f.path, f.index, f.s = paths[i], i, s
		f.sortie.request = request{
			kind: f.path.kind, mutations: f.path.mutations, consistency: w.consistency, traced: w.tracer.write != nil,
		}
		f.sortie.Attempt = &f.attempt
		f.attempt.Keyspace, f.attempt.Key = f.path.mutations[0].Keyspace, f.path.mutations[0].PartitionKey
		n++
		go f.run() //nolint:contextcheck // s has it
	}
	return s
}

// wait returns when all have landed, or a moment after the end of the call's context.
func (s *squadron) wait() {
	if s == nil {
		return
	}
	done, limit, early := limits(s.ctx, s.start, s.limit)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-s.landed:
		s.end(context.Canceled)
		return
	case <-done:
	case <-timer.C:
		s.end(context.DeadlineExceeded)
		if early {
			break
		}
		select {
		case <-s.landed:
			return
		case <-s.ctx.Done():
		}
	}
	s.end(s.ctx.Err())
	timer.Reset(leeway)
	select {
	case <-s.landed:
	case <-timer.C:
	}
}

// end ends the first attempts.
func (s *squadron) end(err error) {
	if s.err == nil {
		s.err = err
		close(s.ended)
	}
}

// Deadline implements [context.Context].
func (s *squadron) Deadline() (time.Time, bool) {
	limit := s.start.Add(s.limit)
	if d, ok := s.ctx.Deadline(); ok && d.Before(limit) {
		return d, true
	}
	return limit, true
}

// Done implements [context.Context].
func (s *squadron) Done() <-chan struct{} { return s.ended }

// Err implements [context.Context].
func (s *squadron) Err() error {
	select {
	case <-s.ended:
		return s.err
	default:
		return nil
	}
}

// Value implements [context.Context].
func (s *squadron) Value(key any) any { return s.ctx.Value(key) }

// collect puts the paths back as they landed, and says how many are still under way. Of those nothing is known.
func (s *squadron) collect(paths []path) (stragglers int) {
	if s == nil {
		return 0
	}
	for i := range s.flights {
		f := &s.flights[i]
		if f.landed.Load() {
			paths[f.index] = f.path
			continue
		}
		stragglers++
		p, sent := &paths[f.index], int(f.sent.Load())
		p.outcome = p.outcome.then(Unknown)
		p.attempts += sent
		p.requests = sent
		p.err = errStraggler(s.ctx)
	}
	return stragglers
}

func (f *flight) run() {
	if f.s.w.deep {
		growStack()
	}
	f.fly()
	f.landed.Store(true)
	if f.s.aloft.Add(-1) == 0 {
		close(f.s.landed)
	}
}

// fly sends the path until it is applied or the policy gives up.
func (f *flight) fly() {
	ctx, first := f.s.ctx, context.Context(f.s)
	if f.s.w.tracer.path != nil {
		ctx, first = f.traced()
	}
	if over(ctx) {
		f.stay(ctx)
	} else if err := f.again(first, 1); err != nil {
		f.goOn(ctx, first, err)
	} else {
		f.arrive(ctx)
	}
}

// traced gives the context of the path, and that of its first attempt.
//
//go:noinline
func (f *flight) traced() (ctx, first context.Context) {
	ctx = f.s.w.tracer.pathStart(f.s.ctx, f.s.p, &f.path, f.s.w.consistency)
	return ctx, limited{ctx, f.s}
}

// stay is the end of a path whose context ended before it began.
//
//go:noinline
func (f *flight) stay(ctx context.Context) {
	outcome, err := f.s.w.retrier.Do(ctx, f.path.kind, f.again, nil) // attempts nothing, and says so
	f.settle(ctx, outcome, err)
}

// arrive is the end of a path whose first attempt succeeded.
//
//go:noinline
func (f *flight) arrive(ctx context.Context) {
	f.s.w.retrier.Succeeded()
	f.settle(ctx, retry.Outcome{Attempts: 1}, nil)
}

// goOn is what follows a first attempt that failed.
//
//go:noinline
func (f *flight) goOn(ctx, first context.Context, err error) {
	w := f.s.w
	outcome, err := w.retrier.GoOn(ctx, retry.Failed{Context: first, Start: f.s.start, Err: err}, f.path.kind, f.again,
		w.tracer.observer(ctx, &f.path))
	f.settle(ctx, outcome, err)
}

// limited is a context with the values of one and the end of another.
type limited struct {
	context.Context
	end context.Context //nolint:containedctx // it is a context
}

func (c limited) Deadline() (time.Time, bool) { return c.end.Deadline() }
func (c limited) Done() <-chan struct{}       { return c.end.Done() }
func (c limited) Err() error                  { return c.end.Err() }

// again is an attempt, the n-th.
func (f *flight) again(ctx context.Context, n int) error {
	r := &f.sortie
	if n == 1 {
		r.start, r.request.now = f.s.start, f.s.now
	} else {
		r.start, r.request.now = time.Now(), f.s.w.clock.now()
	}
	if f.s.w.hedge > 0 && f.path.kind.Idempotent() {
		return f.hedged(ctx)
	}
	err := f.send(ctx, r)
	f.path.host = r.request.host
	if err != nil {
		return f.note(err)
	}
	return nil
}

// send makes one request.
func (f *flight) send(ctx context.Context, r *sortie) error {
	r.Next(ctx)
	r.request.host = nil
	f.sent.Add(1)
	err := f.s.w.exec.execute(r.Attempt, &r.request) //nolint:contextcheck // r is ctx now
	if err != nil {
		r.End(resultOf(err, r.start))
	} else {
		r.End(hosts.Answered)
	}
	return err
}

// leastSilence is how long an attempt must have waited for its end to say something of the host: a caller's deadline may
// be shorter than an answer takes.
const leastSilence = 200 * time.Millisecond

// resultOf says what the error of an attempt, begun at start, tells of the host.
//
//go:noinline
func resultOf(err error, start time.Time) hosts.Result {
	result := hosts.ResultOf(err)
	if result == hosts.TimedOut && time.Since(start) < leastSilence {
		return hosts.Cancelled
	}
	return result
}

// note keeps what the error of a request says, and returns it.
//
//go:noinline
func (f *flight) note(err error) error {
	verdict := retry.Classify(err, f.path.kind)
	f.path.overloaded = f.path.overloaded || verdict.Reason == retry.ReasonOverloaded
	if verdict.Batchlog && !f.s.p.strict && f.path.kind == retry.LoggedBatch {
		return retry.Stop(err) // it goes on as a fan-out
	}
	return err
}

// settle notes what became of the path.
//
//go:noinline
func (f *flight) settle(ctx context.Context, outcome retry.Outcome, err error) {
	now := Applied
	if err != nil {
		now = outcomeOf(outcome.Class)
		if now == NotApplied && f.path.overloaded && f.s.w.derived(ctx, &f.path) {
			now = Unknown
		}
	}
	p, sent := &f.path, int(f.sent.Load())
	p.outcome = p.outcome.then(now)
	p.attempts += sent
	p.requests = sent
	p.batchlog = outcome.Batchlog
	p.err = err
	f.s.w.tracer.pathEnd(ctx, PathEnd{
		Outcome: p.outcome, Attempts: sent, Host: p.host, Reason: outcome.Last.Reason, Refused: outcome.Refused, Err: err,
	})
}
