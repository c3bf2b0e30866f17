package reconcile

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/denorm-go/denorm/internal/pace"
)

// throttle sends requests at a pace, and by a rate that others may change meanwhile, or not at all while it is paused.
type throttle struct {
	mu       sync.Mutex
	pace     *pace.Pace
	waiting  []chan struct{}
	interval time.Duration // between requests, 0 for no limit
	last     time.Time     // when the last request began
	next     time.Time     // when the next request may begin that has no turn yet
	paused   bool
	changed  chan struct{} // closed and replaced when interval or paused changes
}

func newThrottle(c pace.Config, rate int) *throttle {
	t := &throttle{pace: pace.New(c), changed: make(chan struct{})}
	t.set(false, rate)
	return t
}

// set admits no more requests than rate a second, 0 for no bound, or none while it is paused. It is also for those that
// wait already.
func (t *throttle) set(paused bool, rate int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var interval time.Duration
	if rate > 0 {
		interval = time.Second / time.Duration(rate)
	}
	if paused == t.paused && interval == t.interval {
		return
	}
	t.paused, t.interval, t.next = paused, interval, t.last.Add(interval)
	close(t.changed)
	t.changed = make(chan struct{})
	t.admit()
}

// setMost bounds the requests in flight.
func (t *throttle) setMost(most int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pace.SetMost(most)
	t.admit()
}

// do runs a request when there is room for it.
func (t *throttle) do(ctx context.Context, kind int, f func() error) error {
	if err := t.acquire(ctx); err != nil {
		return err
	}
	start := time.Now()
	err := f()
	took := time.Since(start)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pace.Release(kind, took, err)
	t.admit()
	return err
}

func (t *throttle) acquire(ctx context.Context) error {
	t.mu.Lock()
	var ready chan struct{}
	if t.paused || !t.pace.TryAcquire() {
		ready = make(chan struct{})
		t.waiting = append(t.waiting, ready)
	}
	t.mu.Unlock()
	if ready != nil {
		select {
		case <-ready:
		case <-ctx.Done():
			t.leave(ready)
			return ctx.Err()
		}
	}
	return t.turn(ctx)
}

// leave gives up waiting.
func (t *throttle) leave(ready chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.waiting, ready); i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
		return
	}
	t.pace.Unsent() // it was given room meanwhile
	t.admit()
}

// turn waits until the rate allows another request, anew when the rate changes.
func (t *throttle) turn(ctx context.Context) error {
	for {
		t.mu.Lock()
		changed, now := t.changed, time.Now()
		var due <-chan time.Time
		if !t.paused {
			at := t.next
			if t.interval == 0 || at.Before(now) {
				at = now
			}
			t.next = at.Add(t.interval)
			if !at.After(now) {
				t.last = now
				t.mu.Unlock()
				return nil
			}
			due = time.After(at.Sub(now))
		}
		t.mu.Unlock()
		select {
		case <-due:
			if t.begin(changed) {
				return nil
			}
		case <-changed:
		case <-ctx.Done():
			t.mu.Lock()
			defer t.mu.Unlock()
			t.pace.Unsent()
			t.admit()
			return ctx.Err()
		}
	}
}

// begin takes a turn, if nothing has changed since it was given.
func (t *throttle) begin(changed chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changed != changed {
		return false
	}
	t.last = time.Now()
	return true
}

// admit gives room to those that wait.
func (t *throttle) admit() {
	for len(t.waiting) > 0 && !t.paused && t.pace.TryAcquire() {
		close(t.waiting[0])
		t.waiting = t.waiting[1:]
	}
}

// state is how many requests may be in flight, and whether it is paused.
func (t *throttle) state() (bound int, paused bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pace.Bound(), t.paused
}
