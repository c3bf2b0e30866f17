package hosts

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

const (
	limit    = 3 // attempts in a row without an answer that take a node out
	minPause = time.Second
	maxPause = 10 * time.Second
	steady   = 30 * time.Second      // in rotation for so long, a node is trusted as before
	moment   = 20 * time.Millisecond // attempts that lose a connection within it count as one: it may be the same
)

// breaker takes a node out of rotation after three attempts in a row that it did not answer, or whose connections
// ended: gocql may keep connections that are closed, and give them to every request (session/fresh.go). While it is
// out, one attempt at a time tries it, once the node has sent anything since it last failed to answer. A trial that is
// answered brings it back; each one that is not makes the next wait longer, from 1 s to 10 s, whatever the node sends:
// its heartbeats may be well while its disk is stuck. Without an observer of what nodes send, the pauses have to do.
//
// The zero value is in rotation. It is safe for concurrent use, and costs one atomic load while all is well.
type breaker struct {
	silent   atomic.Int32 // attempts in a row without an answer; limit while out
	observed *atomic.Bool // what nodes send is told to hear; nil is never

	mu    sync.Mutex
	pause time.Duration // the last one, before jitter
	next  time.Time     // when a trial may begin; while one is under way, when it is given up
	heard bool          // the node has sent something since it last failed to answer
	back  time.Time     // when it came back
	lost  time.Time     // when an attempt that lost its connection was counted last
}

// in says whether the node is in rotation.
func (b *breaker) in() bool { return b.silent.Load() < limit }

func (b *breaker) blind() bool { return b.observed == nil || !b.observed.Load() }

// try begins a trial of a node that is out of rotation, if it is time for one.
func (b *breaker) try(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.in() || now.Before(b.next) || !b.heard && !b.blind() {
		return false
	}
	b.next = now.Add(maxPause) // its end may never be told; this is longer than one takes
	return true
}

// end takes in what an attempt, a trial or not, ended with.
func (b *breaker) end(r Result, trial bool, clock func() time.Time) {
	unanswered := r == TimedOut || r == Lost
	if r == Answered && b.silent.Load() == 0 || !trial && r != Answered && !unanswered {
		return
	}
	now := clock()
	b.mu.Lock()
	defer b.mu.Unlock()
	switch out := !b.in(); {
	case r == Answered:
		b.silent.Store(0)
		if out {
			b.back = now
		}
	case !out:
		if r == Lost {
			if now.Sub(b.lost) < moment {
				return
			}
			b.lost = now
		}
		if unanswered && b.silent.Add(1) == limit {
			b.open(now)
		}
	case trial:
		b.fail(r, now)
	}
}

// open takes the node out of rotation. One that was out not long ago has to wait longer than then.
func (b *breaker) open(now time.Time) {
	again := now.Sub(b.back) < steady
	if !again {
		b.pause = 0
	}
	b.heard, b.next = false, now
	if again || b.blind() {
		b.wait(now)
	}
}

// fail ends a trial without an answer.
func (b *breaker) fail(r Result, now time.Time) {
	switch r {
	case Unsent:
		b.next = now
	case Cancelled:
		b.heard, b.next = false, now.Add(jitter(max(b.pause, minPause)))
	default:
		b.heard = false
		b.wait(now)
	}
}

// wait makes the next trial wait longer than the last one did.
func (b *breaker) wait(now time.Time) {
	b.pause = min(max(2*b.pause, minPause), maxPause)
	b.next = now.Add(jitter(b.pause))
}

// jitter spreads the trials of many clients over half a pause.
func jitter(pause time.Duration) time.Duration {
	return pause*3/4 + rand.N(pause/2) //nolint:gosec // it spreads load, it guards nothing
}

// hear takes in that the node has sent something, to whomever.
func (b *breaker) hear() {
	if b.in() {
		return
	}
	b.mu.Lock()
	b.heard = true
	b.mu.Unlock()
}

// reset puts the node back into rotation, without a past: gocql has made its connections again.
func (b *breaker) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.silent.Store(0)
	b.pause, b.next, b.heard, b.back, b.lost = 0, time.Time{}, false, time.Time{}, time.Time{}
}
