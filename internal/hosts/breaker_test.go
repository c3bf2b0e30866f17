package hosts

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// law is what a breaker promises, in other words: with times of events in place of what is to happen next.
type law struct {
	row    int // attempts in a row without an answer, while in rotation
	out    bool
	trials int // under way

	began   time.Time // of the last trial
	failed  time.Time // when it went out, or its last trial ended without an answer
	pause   time.Duration
	sent    bool // something, since failed
	ignored bool // what it sends
	back    time.Time
}

func (l *law) open(now time.Time) {
	again := !l.back.IsZero() && now.Sub(l.back) < 30*time.Second
	if !again {
		l.pause = 0
	}
	l.out, l.row, l.trials, l.sent, l.ignored = true, 0, 0, false, again
	l.grow(now)
}

func (l *law) grow(now time.Time) {
	l.failed = now
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
		l.out, l.row, l.trials = false, 0, 0
	case !l.out:
		if r == TimedOut {
			if l.row++; l.row == 3 {
				l.open(now)
			}
		}
	case trial:
		l.trials = 0
		switch r {
		case Unsent:
			l.failed = time.Time{}
		case Cancelled:
			l.failed, l.sent = now, false
		case TimedOut, Broken:
			l.ignored = l.sent
			l.sent = false
			l.grow(now)
		case Answered:
		}
	}
}

// may says whether a trial must or must not begin; if neither, that is left to the jitter.
func (l *law) may(now time.Time) (must, mustNot bool) {
	if !l.out {
		return false, true
	}
	if l.trials > 0 { // given up after 10 s
		late := !now.Before(l.began.Add(10 * time.Second))
		return late, !late
	}
	waited := now.Sub(l.failed)
	if l.sent && !l.ignored {
		return true, false
	}
	return waited >= l.pause*5/4, waited < l.pause*3/4
}

func TestBreakerLaw(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var b breaker
		l := law{}
		now := time.Unix(1_700_000_000, 0)
		clock := func() time.Time { return now }
		results := rapid.SampledFrom([]Result{Answered, TimedOut, TimedOut, TimedOut, Cancelled, Unsent, Broken})
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
					t.Fatalf("trial %v after %v, pause %v, sent %v, ignored %v, under way %d", began, now.Sub(l.failed), l.pause,
						l.sent, l.ignored, l.trials)
				}
				if began {
					l.trials, l.began = 1, now
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
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(12*time.Second)).Draw(t, "time")))
			},
			"rest": func(*rapid.T) { now = now.Add(30 * time.Second) },
			"reset": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "often enough") == 0 {
					b.reset()
					l = law{}
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
