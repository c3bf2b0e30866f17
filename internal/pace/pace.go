// Package pace bounds the requests in flight by how the servers answer.
package pace

import (
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/hosts"
)

// Pace bounds the requests in flight. The bound grows after each window without trouble, and shrinks to 0.7 of itself
// after one with: timeouts, overload, or answers slower than the target. New makes one. It is for one goroutine at a
// time.
type Pace struct {
	Config

	limit    float64
	inFlight int
	kinds    []window
	doubles  bool // until the first trouble
}

// window is what the last requests of a kind took.
type window struct {
	took    []time.Duration
	trouble bool
	target  time.Duration
	seen    int // of the first windows
}

// The target is a multiple of what the fastest of the first windows took, where none is given. These begin with few
// requests at a time: it would otherwise be of requests that wait for each other. It is raised when one request at a
// time takes longer, as under the load of others.
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

// New makes a pace.
func New(c Config) *Pace {
	return &Pace{Config: c, limit: float64(min(c.First, c.Most)), kinds: make([]window, c.Kinds), doubles: c.Doubles}
}

// SetMost bounds the requests in flight.
func (p *Pace) SetMost(most int) { p.Most, p.limit = most, min(p.limit, float64(most)) }

// TryAcquire takes room for a request if there is some. Release gives it back, or Unsent.
func (p *Pace) TryAcquire() bool {
	if p.inFlight >= p.Bound() {
		return false
	}
	p.inFlight++
	return true
}

// Unsent gives back the room of a request that was not sent.
func (p *Pace) Unsent() { p.inFlight-- }

// Release is the end of a request that was given room, with what it took and its error.
func (p *Pace) Release(kind int, took time.Duration, err error) {
	p.inFlight--
	w := &p.kinds[kind]
	w.took = append(w.took, took)
	w.trouble = w.trouble || hosts.Overloaded(err)
	if len(w.took) >= windowSize {
		p.adjust(w)
	}
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
	if p.Target == 0 && p.Bound() == 1 && took > w.target { // one at a time: it is not for each other that they wait
		w.target = time.Duration(p.Slack) * took
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

// Bound is how many requests may be in flight.
func (p *Pace) Bound() int { return int(p.limit) }
