package hosts

import (
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// law is what a breaker promises, in other words: with times of events in place of what is to happen next.
type law struct {
	observed bool
	row      int // attempts in a row without an answer, while in rotation
	out      bool

	underway bool
	began    time.Time // of the last trial
	failed   time.Time // when the pause began
	pause    time.Duration
	wait     bool // for the pause
	sent     bool // something, since the node last failed to answer
	back     time.Time
	losses   []time.Time // that were counted
}

func (l *law) grow(now time.Time) {
	l.failed, l.wait = now, true
	if l.pause == 0 {
		l.pause = time.Second
		return
	}
	l.pause = min(2*l.pause, 10*time.Second)
}

func (l *law) end(r Result, trial bool, now time.Time) {
	switch {
	case r == Answered:
		if l.out {
			l.back = now
		}
		l.out, l.row, l.underway = false, 0, false
	case !l.out:
		if n := len(l.losses); r == TimedOut || r == Lost && (n == 0 || now.Sub(l.losses[n-1]) >= 20*time.Millisecond) {
			if r == Lost {
				l.losses = append(l.losses, now)
			}
			l.row++
		}
		if l.row < 3 {
			return
		}
		l.out, l.row, l.sent, l.wait, l.underway = true, 0, false, false, false
		again := !l.back.IsZero() && now.Sub(l.back) < 30*time.Second
		if !again {
			l.pause = 0
		}
		if again || !l.observed {
			l.grow(now)
		}
	case trial:
		l.underway = false
		switch r {
		case Unsent:
			l.wait = false
		case Cancelled:
			l.failed, l.wait, l.sent = now, true, false
		case TimedOut, Lost, Broken:
			l.sent = false
			l.grow(now)
		case Answered:
		}
	}
}

// may says whether a trial must or must not begin; if neither, that is left to the jitter.
func (l *law) may(now time.Time) (must, mustNot bool) {
	if !l.out || l.observed && !l.sent {
		return false, true
	}
	if l.underway { // given up after 10 s
		late := !now.Before(l.began.Add(10 * time.Second))
		return late, !late
	}
	if !l.wait {
		return true, false
	}
	pause := max(l.pause, time.Second)
	waited := now.Sub(l.failed)
	return waited >= pause*5/4, waited < pause*3/4
}

func TestBreakerLaw(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var observed atomic.Bool
		observed.Store(rapid.Bool().Draw(t, "observed"))
		b := breaker{observed: &observed}
		l := law{observed: observed.Load()}
		now := time.Unix(1_700_000_000, 0)
		clock := func() time.Time { return now }
		results := rapid.SampledFrom([]Result{Answered, TimedOut, TimedOut, TimedOut, Lost, Cancelled, Unsent, Broken})
		t.Repeat(map[string]func(*rapid.T){
			"attempt": func(t *rapid.T) {
				r := results.Draw(t, "result")
				b.end(r, false, clock)
				l.end(r, false, now)
			},
			"silence": func(*rapid.T) {
				for range 3 {
					b.end(TimedOut, false, clock)
					l.end(TimedOut, false, now)
				}
			},
			"try": func(t *rapid.T) {
				must, mustNot := l.may(now)
				began := b.try(now)
				if began && mustNot || !began && must {
					t.Fatalf("trial %v after %v: %+v", began, now.Sub(l.failed), l)
				}
				if began {
					l.underway, l.began, l.wait = true, now, false
				}
			},
			"trial": func(t *rapid.T) {
				r := results.Draw(t, "result") // also of one that was given up, or begun before the node came back
				b.end(r, true, clock)
				l.end(r, true, now)
			},
			"hear": func(*rapid.T) {
				b.hear()
				if l.out {
					l.sent = true
				}
			},
			"moment": func(*rapid.T) { now = now.Add(10 * time.Millisecond) },
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(12*time.Second)).Draw(t, "time")))
			},
			"rest": func(*rapid.T) { now = now.Add(30 * time.Second) },
			"reset": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "often enough") == 0 {
					b.reset()
					l = law{observed: l.observed}
				}
			},
			"": func(t *rapid.T) {
				if b.in() == l.out {
					t.Fatalf("in rotation: %v", b.in())
				}
			},
		})
	})
}

// Pauses double up to 10 s. They begin again only for a node that was back for 30 s.
func TestPauses(t *testing.T) {
	t.Parallel()
	var b breaker // of a node whose sending nobody sees
	now := time.Unix(1_700_000_000, 0)
	clock := func() time.Time { return now }
	want := func(pauses ...int) {
		t.Helper()
		for i, p := range pauses {
			from, pause := now, time.Duration(p)*time.Second
			for !b.try(now) {
				now = now.Add(50 * time.Millisecond)
			}
			if took := now.Sub(from); took < pause*3/4 || took > pause*5/4+50*time.Millisecond {
				t.Errorf("pause %d is %v, want about %v", i+1, took, pause)
			}
			b.end(TimedOut, true, clock)
		}
	}
	silence := func() {
		for range limit {
			b.end(TimedOut, false, clock)
		}
	}
	silence()
	want(1, 2, 4, 8, 10, 10)
	b.end(Answered, true, clock)
	now = now.Add(29 * time.Second)
	silence()
	want(10, 10)
	b.end(Answered, true, clock)
	now = now.Add(30 * time.Second)
	silence()
	want(1, 2)
	b.reset()
	silence()
	want(1, 2)
}
