// Package pace bounds the requests in flight by how the servers answer.
package pace

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/driver"
)

// Pace bounds the requests in flight. The bound grows after each window without trouble, and shrinks to 0.7 of itself after one with:
// timeouts, overload, or answers slower than the target. New makes one.
type Pace struct {
	Config

	mu       sync.Mutex
	limit    float64
	inFlight int
	waiting  []chan struct{}
	kinds    []window
	doubles  bool          // until the first trouble
	interval time.Duration // between requests, 0 for no limit
	last     time.Time     // when the last request began
	next     time.Time     // when the next request may begin that has no turn yet
	paused   bool
	changed  chan struct{} // closed and replaced when interval or paused changes
}

// window is what the last requests of a kind took.
type window struct {
	took    []time.Duration
	trouble bool
	target  time.Duration
	seen    int // of the first windows
}

// The target is a multiple of what the fastest of the first windows took, where none is given. These begin with few requests at a time: it would
// otherwise be of requests that wait for each other.
const (
	windowSize   = 50
	firstWindows = 4
)

// Config is how a [Pace] goes.
type Config struct {
	First      int           // requests in flight at the beginning
	Most       int           // and at any time
	Kinds      int           // of requests, which are not equally fast: numbers below this
	Percentile int           // of what the requests of a window take, which is compared with the target
	Target     time.Duration // 0: from the first requests of each kind
	Slack      int           // then it is so many times what these took
	Growth     float64       // of the bound in a window without trouble, as a part of it; one request at least
	Doubles    bool          // it doubles in each window until the first trouble
}

// New makes a pace with a rate, as of [Pace.Set].
func New(c Config, rate int) *Pace {
	p := &Pace{
		Config: c, limit: float64(min(c.First, c.Most)), kinds: make([]window, c.Kinds), doubles: c.Doubles, changed: make(chan struct{}),
	}
	p.Set(false, rate)
	return p
}

// Set admits no more requests than rate a second, 0 for no bound, or none while it is paused. It is also for those that wait already.
func (p *Pace) Set(paused bool, rate int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var interval time.Duration
	if rate > 0 {
		interval = time.Second / time.Duration(rate)
	}
	if paused == p.paused && interval == p.interval {
		return
	}
	p.paused, p.interval, p.next = paused, interval, p.last.Add(interval)
	close(p.changed)
	p.changed = make(chan struct{})
	p.admit()
}

// SetMost bounds the requests in flight.
func (p *Pace) SetMost(most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Most, p.limit = most, min(p.limit, float64(most))
	p.admit()
}

// Do runs a request when there is room for it.
func (p *Pace) Do(ctx context.Context, kind int, f func() error) error {
	if err := p.acquire(ctx); err != nil {
		return err
	}
	start := time.Now()
	err := f()
	p.Release(kind, time.Since(start), err)
	return err
}

func (p *Pace) acquire(ctx context.Context) error {
	p.mu.Lock()
	var ready chan struct{}
	if p.inFlight < int(p.limit) && !p.paused {
		p.inFlight++
	} else {
		ready = make(chan struct{})
		p.waiting = append(p.waiting, ready)
	}
	p.mu.Unlock()
	if ready != nil {
		select {
		case <-ready:
		case <-ctx.Done():
			p.leave(ready)
			return ctx.Err()
		}
	}
	return p.turn(ctx)
}

// leave gives up waiting.
func (p *Pace) leave(ready chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.waiting, ready); i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
		return
	}
	p.inFlight-- // it was given room meanwhile
	p.admit()
}

// turn waits until the rate allows another request, anew when the rate changes.
func (p *Pace) turn(ctx context.Context) error {
	for {
		p.mu.Lock()
		changed, now := p.changed, time.Now()
		var due <-chan time.Time
		if !p.paused {
			at := p.next
			if p.interval == 0 || at.Before(now) {
				at = now
			}
			p.next = at.Add(p.interval)
			if !at.After(now) {
				p.last = now
				p.mu.Unlock()
				return nil
			}
			due = time.After(at.Sub(now))
		}
		p.mu.Unlock()
		select {
		case <-due:
			if p.begin(changed) {
				return nil
			}
		case <-changed:
		case <-ctx.Done():
			p.mu.Lock()
			defer p.mu.Unlock()
			p.inFlight--
			p.admit()
			return ctx.Err()
		}
	}
}

// begin takes a turn, if nothing has changed since it was given.
func (p *Pace) begin(changed chan struct{}) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed != changed {
		return false
	}
	p.last = time.Now()
	return true
}

// Paused says whether it is paused.
func (p *Pace) Paused() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.paused
}

// TryAcquire takes room for a request if there is some: Release gives it back. It takes no account of the rate.
func (p *Pace) TryAcquire() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paused || p.inFlight >= int(p.limit) || len(p.waiting) > 0 {
		return false
	}
	p.inFlight++
	return true
}

// Release is the end of a request that was given room, with what it took and its error.
func (p *Pace) Release(kind int, took time.Duration, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inFlight--
	w := &p.kinds[kind]
	w.took = append(w.took, took)
	w.trouble = w.trouble || Overloaded(err)
	if len(w.took) >= windowSize {
		p.adjust(w)
	}
	p.admit()
}

// adjust sets the limit at the end of a window.
func (p *Pace) adjust(w *window) {
	slices.Sort(w.took)
	took := w.took[len(w.took)*p.Percentile/100]
	switch {
	case p.Target > 0:
		w.target = p.Target
	case w.seen < firstWindows: // one request or a few at a time: what they take where none waits for another
		if w.seen++; w.target == 0 || time.Duration(p.Slack)*took < w.target {
			w.target = time.Duration(p.Slack) * took
		}
	}
	switch {
	case w.trouble || took > w.target:
		p.limit, p.doubles = max(1, p.limit*0.7), false
	case p.doubles:
		p.limit = min(float64(p.Most), 2*p.limit)
	default:
		p.limit = min(float64(p.Most), p.limit+max(1, p.limit*p.Growth))
	}
	w.took, w.trouble = w.took[:0], false
}

// admit gives room to those that wait.
func (p *Pace) admit() {
	for len(p.waiting) > 0 && p.inFlight < int(p.limit) && !p.paused {
		p.inFlight++
		close(p.waiting[0])
		p.waiting = p.waiting[1:]
	}
}

// Overloaded says whether an error tells of a cluster, or a node, with too much to do.
func Overloaded(err error) bool {
	if err == nil {
		return false
	}
	var (
		read  *gocql.RequestErrReadTimeout
		write *gocql.RequestErrWriteTimeout
	)
	answer, answered := driver.RequestError(err)
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, gocql.ErrTimeoutNoResponse) || errors.As(err, &read) ||
		errors.As(err, &write) || answered && answer.Code() == gocql.ErrCodeOverloaded
}

// Bound is how many requests may be in flight.
func (p *Pace) Bound() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int(p.limit)
}
