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
	steady   = 30 * time.Second // in rotation for so long, a node is trusted as before
)

// breaker takes a node out of rotation after three attempts in a row that it did not answer. While it is out, one attempt
// at a time tries it: as soon as it sends anything, or after a pause that doubles from 1 s to 10 s. A trial with an answer
// brings it back; one without makes the next wait for its pause, even if the node sends (its heartbeats may be well
// while its disk is stuck).
//
// The zero value is in rotation. It is safe for concurrent use, and costs one atomic load while all is well.
type breaker struct {
	silent atomic.Int32 // attempts in a row without an answer; limit while out

	mu    sync.Mutex
	pause time.Duration // the last one, before jitter
	next  time.Time     // when a trial may begin; while one is under way, when it is given up
	trial bool          // one is under way
	heard bool          // the node has sent something since it was taken out, or since the last trial failed
	deaf  bool          // what it sends is no reason for a trial
	back  time.Time     // when it came back
}

// in says whether the node is in rotation.
func (b *breaker) in() bool { return b.silent.Load() < limit }

// try begins a trial of a node that is out of rotation, if it is time for one.
func (b *breaker) try(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	due := !now.Before(b.next)
	if b.in() || !due && (b.trial || !b.heard || b.deaf) {
		return false
	}
	// The end of a trial may never be told; maxPause is longer than one takes.
	b.trial, b.next = true, now.Add(maxPause)
	return true
}

// end takes in what an attempt, a trial or not, ended with.
func (b *breaker) end(r Result, trial bool, clock func() time.Time) {
	if r == Answered && b.silent.Load() == 0 || !trial && r != Answered && r != TimedOut {
		return
	}
	now := clock()
	b.mu.Lock()
	defer b.mu.Unlock()
	switch out := !b.in(); {
	case r == Answered:
		b.silent.Store(0)
		if out {
			b.trial, b.back = false, now
		}
	case !out:
		if r == TimedOut && b.silent.Add(1) == limit {
			b.open(now)
		}
	case trial:
		b.fail(r, now)
	}
}

// open takes the node out of rotation.
func (b *breaker) open(now time.Time) {
	b.trial, b.heard = false, false
	b.deaf = b.pause > 0 && now.Sub(b.back) < steady
	if !b.deaf {
		b.pause = 0
	}
	b.wait(now)
}

// fail ends a trial without an answer.
func (b *breaker) fail(r Result, now time.Time) {
	b.trial = false
	switch r {
	case Unsent:
		b.next = now
	case Cancelled:
		b.heard, b.next = false, now.Add(jitter(b.pause))
	default:
		b.deaf, b.heard = b.heard, false
		b.wait(now)
	}
}

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

// reset puts the node back into rotation, without a past: gocql has made its connections anew.
func (b *breaker) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.silent.Store(0)
	b.pause, b.next, b.back = 0, time.Time{}, time.Time{}
	b.trial, b.heard, b.deaf = false, false, false
}
