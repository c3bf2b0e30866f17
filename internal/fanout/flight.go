package fanout

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
)

// Flight is the requests that are in flight together. It is also the limit of their first attempts, which end with the
// context of the call or after the limit of an attempt. The caller waits for both anyway, so the attempts need no timer
// and no goroutine of their own. Nil stands for no request at all.
type Flight struct {
	sender   *Sender
	write    *Write
	ctx      context.Context //nolint:containedctx // of the call; lives as long
	mode     string
	limit    time.Duration // of first attempts
	start    time.Time     // of first attempts
	now      int64         // the same by the writer's clock, in milliseconds of Unix time, if some row expires
	tasks    []task
	inFlight atomic.Int32
	begun    atomic.Int32 // tasks that have a goroutine, or had one

	mu    sync.Mutex
	ended chan struct{} // closed when first attempts have to end, and when all are done
	err   error         // why; set before ended is closed
	done  chan struct{} // closed when all are done, if ended was closed before that; else nil
}

// Start starts the open requests of a write that is sent in a mode. Either all or none of them are of counters. Until
// they are done nothing else may look at them.
func (s *Sender) Start(ctx context.Context, write *Write, mode string, requests []Request) *Flight {
	n := 0
	for i := range requests {
		if requests[i].Open() {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	f := &Flight{
		sender: s, write: write, ctx: ctx, mode: mode, limit: s.Retrier.AttemptTimeout(), start: time.Now(),
		ended: make(chan struct{}), tasks: make([]task, n),
	}
	if expiring(requests) {
		f.now = s.Now().UnixMilli()
	}
	if d, ok := ctx.Deadline(); ok && requests[0].Kind == retry.Counter {
		// Another attempt would not follow, and the server takes its time over counters (counter_write_request_timeout, 5 s).
		f.limit = max(f.limit, time.Until(d)+Leeway)
	}
	f.inFlight.Store(int32(n))
	width := min(n, cmp.Or(write.Width, n))
	f.begun.Store(int32(width))
	n = 0
	for i := range requests {
		if !requests[i].Open() {
			continue
		}
		t := &f.tasks[n]
		t.request, t.flight = &requests[i], f
		t.outcome, t.attempts = t.request.Outcome, t.request.Attempts
		t.current.attempt = Attempt{
			Kind: t.request.Kind, Mutations: t.request.Mutations, Consistency: s.Consistency, Traced: s.Tracer.Any(),
		}
		t.current.Keyspace, t.current.Key = t.request.Mutations[0].Keyspace, t.request.Mutations[0].PartitionKey
		n++
	}
	if write.Grouped {
		groups := f.join()
		for i := range groups {
			go groups[i].run() //nolint:contextcheck // f has it
		}
	}
	for i := range width {
		if f.tasks[i].group == nil {
			go f.tasks[i].run() //nolint:contextcheck // f has it
		}
	}
	return f
}

// expiring says whether a row of the requests ends.
func expiring(requests []Request) bool {
	return slices.ContainsFunc(requests, func(p Request) bool { return slices.ContainsFunc(p.Mutations, Expires) })
}

// Expires says whether the row of a mutation ends.
func Expires(m *statement.Mutation) bool {
	_, ends := m.ExpiresAt()
	return ends
}

// Wait returns when all are done, or a moment after the end of the call's context. It returns the requests as they are
// then.
func (f *Flight) Wait(requests []Request) []Request {
	if f == nil {
		return requests
	}
	// Where the call has no timer of its own yet, its deadline is met by that of first attempts.
	limit, end, early := f.limit, f.ctx, false
	if c, ok := f.ctx.(*Call); ok && c.timed.Load() == nil {
		end = c.Context
		if left := c.deadline.Sub(f.start); left < limit {
			limit, early = left, true
		}
	}
	timer := time.AfterFunc(limit-time.Since(f.start), func() { f.end(context.DeadlineExceeded) })
	defer timer.Stop()
	if done := end.Done(); done == nil { // a plain receive costs half of a select
		<-f.ended
	} else {
		select {
		case <-f.ended:
		case <-done:
			early = true
		}
	}
	if f.inFlight.Load() == 0 {
		return requests
	}
	if !early { // first attempts have ended; others may follow
		select {
		case <-f.done:
			return requests
		case <-f.ctx.Done():
		}
	}
	f.end(f.ctx.Err())
	if f.inFlight.Load() == 0 {
		return requests
	}
	grace := time.NewTimer(Leeway)
	defer grace.Stop()
	select {
	case <-f.done:
		return requests
	case <-grace.C:
		return f.abandon(requests)
	}
}

// end ends the first attempts, before all are done.
func (f *Flight) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		err = context.Canceled // a context of the caller's own that says Done before Err
	}
	if f.err == nil {
		f.err, f.done = err, make(chan struct{})
		close(f.ended)
	}
}

// Deadline implements [req.Limit].
func (f *Flight) Deadline() (time.Time, bool) {
	limit := f.start.Add(f.limit)
	if d, ok := f.ctx.Deadline(); ok && d.Before(limit) {
		return d, true
	}
	return limit, true
}

// Done implements [req.Limit].
func (f *Flight) Done() <-chan struct{} { return f.ended }

// Err implements [req.Limit].
func (f *Flight) Err() error {
	select {
	case <-f.ended:
		return f.err
	default:
		return nil
	}
}

// over is why the call has ended, if it has: the error of its context or, if the context has no error yet, that of
// first attempts.
func (f *Flight) over() error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	return cmp.Or(f.Err(), context.Canceled)
}

// abandon returns the requests as they are, and counts those that have not ended. Requests still in flight are left
// behind: other values are returned in their place, with nothing known of them. Requests that have not begun never
// will.
func (f *Flight) abandon(requests []Request) []Request {
	all := make([]Request, len(requests))
	tasks := f.tasks
	for i := range requests {
		if len(tasks) == 0 || tasks[0].request != &requests[i] {
			all[i] = requests[i]
			continue
		}
		t := &tasks[0]
		tasks = tasks[1:]
		switch {
		case t.stage.Load() == finished:
			all[i] = requests[i]
			continue
		case t.stage.CompareAndSwap(waiting, canceled):
			_, err := req.NotAttempted(t.request.Kind, f.over())
			all[i] = t.left(retry.NotApplied, WrapTimeout(f.ctx, err))
		default:
			all[i] = t.left(retry.Unknown, ErrStraggler(f.ctx))
		}
		if g := t.group; g == nil {
			f.write.Stragglers++
		} else if !g.counted { // it is one request
			g.counted = true
			f.write.Stragglers++
		}
	}
	return all
}
