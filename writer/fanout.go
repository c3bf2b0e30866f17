package writer

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

// fanOut is the requests that are in flight together. It is also the limit of their first attempts, which end with the
// context of the call or after the limit of an attempt. The caller waits for both anyway, so the attempts need no timer
// and no goroutine of their own. Nil stands for no request at all.
type fanOut struct {
	w        *Writer
	p        *plan
	ctx      context.Context //nolint:containedctx // of the call; lives as long
	mode     Mode            // of p, which a batch alongside counters may change
	limit    time.Duration   // of first attempts
	start    time.Time       // of first attempts
	now      int64           // the same by the writer's clock, in milliseconds of Unix time, if some row expires
	senders  []sender
	inFlight atomic.Int32
	begun    atomic.Int32 // senders that have a goroutine, or had one

	mu    sync.Mutex
	ended chan struct{} // closed when first attempts have to end, and when all are done
	err   error         // why; set before ended is closed
	done  chan struct{} // closed when all are done, if ended was closed before that; else nil
}

// startFanOut starts the open requests. Either all or none of them are of counters. Until they are done nothing else may look at them.
func (w *Writer) startFanOut(ctx context.Context, p *plan, requests []request) *fanOut {
	n := 0
	for i := range requests {
		if requests[i].open() {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	s := &fanOut{
		w: w, p: p, ctx: ctx, mode: p.mode, limit: w.retrier.AttemptTimeout(), start: time.Now(), ended: make(chan struct{}), senders: make([]sender, n),
	}
	if expiring(requests) {
		s.now = w.clock.now().UnixMilli()
	}
	if d, ok := ctx.Deadline(); ok && requests[0].kind == retry.Counter {
		// Another attempt would not follow, and the server takes its time over counters (counter_write_request_timeout, 5 s).
		s.limit = max(s.limit, time.Until(d)+leeway)
	}
	s.inFlight.Store(int32(n))
	width := n
	if p.width > 0 {
		width = min(n, p.width)
	}
	s.begun.Store(int32(width))
	n = 0
	for i := range requests {
		if !requests[i].open() {
			continue
		}
		f := &s.senders[n]
		f.request, f.s = &requests[i], s
		f.outcome, f.attempts = f.request.outcome, f.request.attempts
		f.current.attempt = attempt{
			kind: f.request.kind, mutations: f.request.mutations, consistency: w.consistency, traced: w.tracer.Any(),
		}
		f.current.Silence = leastSilence
		f.current.Keyspace, f.current.Key = f.request.mutations[0].Keyspace, f.request.mutations[0].PartitionKey
		n++
	}
	if w.group > 0 {
		groups := s.join()
		for i := range groups {
			go groups[i].run() //nolint:contextcheck // s has it
		}
	}
	for i := range width {
		if s.senders[i].group == nil {
			go s.senders[i].run() //nolint:contextcheck // s has it
		}
	}
	return s
}

// expiring says whether a row of the requests ends.
func expiring(requests []request) bool {
	return slices.ContainsFunc(requests, func(p request) bool { return slices.ContainsFunc(p.mutations, expires) })
}

func expires(m *statement.Mutation) bool {
	_, ends := m.ExpiresAt()
	return ends
}

// wait returns when all are done, or a moment after the end of the call's context. It returns the requests as they are then.
func (s *fanOut) wait(requests []request) []request {
	if s == nil {
		return requests
	}
	// Where the call has no timer of its own yet, its deadline is met by that of first attempts.
	limit, end, early := s.limit, s.ctx, false
	if c, ok := s.ctx.(*call); ok && c.timed.Load() == nil {
		end = c.Context
		if left := c.deadline.Sub(s.start); left < limit {
			limit, early = left, true
		}
	}
	timer := time.AfterFunc(limit-time.Since(s.start), s.expire)
	defer timer.Stop()
	if done := end.Done(); done == nil { // a plain receive costs half of a select
		<-s.ended
	} else {
		select {
		case <-s.ended:
		case <-done:
			early = true
		}
	}
	if s.inFlight.Load() == 0 {
		return requests
	}
	if !early { // first attempts have ended; others may follow
		select {
		case <-s.done:
			return requests
		case <-s.ctx.Done():
		}
	}
	s.end(s.ctx.Err())
	if s.inFlight.Load() == 0 {
		return requests
	}
	grace := time.NewTimer(leeway)
	defer grace.Stop()
	select {
	case <-s.done:
		return requests
	case <-grace.C:
		return s.abandon(requests)
	}
}

// expire is the end of first attempts that took too long.
func (s *fanOut) expire() { s.end(context.DeadlineExceeded) }

// end ends the first attempts, before all are done.
func (s *fanOut) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = context.Canceled // a context of the caller's own that says Done before Err
	}
	if s.err == nil {
		s.err, s.done = err, make(chan struct{})
		close(s.ended)
	}
}

// Deadline implements [req.Limit].
func (s *fanOut) Deadline() (time.Time, bool) {
	limit := s.start.Add(s.limit)
	if d, ok := s.ctx.Deadline(); ok && d.Before(limit) {
		return d, true
	}
	return limit, true
}

// Done implements [req.Limit].
func (s *fanOut) Done() <-chan struct{} { return s.ended }

// Err implements [req.Limit].
func (s *fanOut) Err() error {
	select {
	case <-s.ended:
		return s.err
	default:
		return nil
	}
}

// over is why the call has ended, if it has: the error of its context or, if the context has no error yet, that of first attempts.
func (s *fanOut) over() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	return cmp.Or(s.Err(), context.Canceled)
}

// abandon returns the requests as they are, and counts those that have not ended. Requests still in flight are left behind: other
// values are returned in their place, with nothing known of them. Requests that have not begun never will.
func (s *fanOut) abandon(requests []request) []request {
	all := make([]request, len(requests))
	senders := s.senders
	for i := range requests {
		if len(senders) == 0 || senders[0].request != &requests[i] {
			all[i] = requests[i]
			continue
		}
		f := &senders[0]
		senders = senders[1:]
		switch {
		case f.stage.Load() == finished:
			all[i] = requests[i]
			continue
		case f.stage.CompareAndSwap(waiting, canceled):
			_, err := req.NotAttempted(f.request.kind, s.over())
			all[i] = f.left(NotApplied, wrapTimeout(s.ctx, err))
		default:
			all[i] = f.left(Unknown, errStraggler(s.ctx))
		}
		if g := f.group; g == nil {
			s.p.stragglers++
		} else if !g.counted { // it is one request
			g.counted = true
			s.p.stragglers++
		}
	}
	return all
}
