package load

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/denorm-go/denorm/integration/orderservice"
)

// Report is what came of a run.
type Report struct {
	began  time.Time
	worked time.Duration

	mu      sync.Mutex
	samples []sample
	checks  int
	faults  int
	shown   []string // the first of them
}

// sample is one request.
type sample struct {
	at                      time.Time
	took                    time.Duration
	write, repeat, definite bool
	outcome                 orderservice.Outcome
}

const shownFaults = 20

func (r *Report) add(s sample) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples = append(r.samples, s)
}

func (r *Report) check() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checks++
}

func (r *Report) wrong(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults++
	if len(r.shown) < shownFaults {
		r.shown = append(r.shown, fmt.Sprintf(format, args...))
	}
}

// Wrong is how many answers were wrong.
func (r *Report) Wrong() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.faults
}

// Definite is the share of the requests sent in a stretch of time that were answered with what became of them, and how
// many they were. The zero time is the beginning and the end.
func (r *Report) Definite(from, to time.Time) (share float64, requests int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	definite := 0
	for _, s := range r.samples {
		if s.at.Before(from) || !to.IsZero() && !s.at.Before(to) {
			continue
		}
		requests++
		if s.definite {
			definite++
		}
	}
	if requests == 0 {
		return 1, 0
	}
	return float64(definite) / float64(requests), requests
}

// String is a summary for people.
func (r *Report) String() string {
	share, requests := r.Definite(time.Time{}, time.Time{})
	r.mu.Lock()
	defer r.mu.Unlock()
	count := func(is func(sample) bool) (n int) {
		for _, s := range r.samples {
			if is(s) {
				n++
			}
		}
		return n
	}
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-14s  %s\n", name, fmt.Sprintf(format, args...))
	}
	line("requests", "%d, of which %d writes, in %.1f s: %.0f a second", requests, count(func(s sample) bool { return s.write }),
		r.worked.Seconds(), float64(requests)/max(r.worked.Seconds(), 1e-3))
	line("definite", "%.2f %% of the answers", 100*share)
	line("unknown", "%d", count(func(s sample) bool { return !s.definite }))
	line("not applied", "%d", count(func(s sample) bool { return s.outcome == orderservice.NotApplied }))
	line("repeated", "%d", count(func(s sample) bool { return s.repeat }))
	line("writes", "%s", r.latency(func(s sample) bool { return s.write }))
	line("reads", "%s", r.latency(func(s sample) bool { return !s.write }))
	line("checked", "%d times an order in an answer or in a list", r.checks)
	line("wrong", "%d answers", r.faults)
	for _, fault := range r.shown {
		line("", "%s", fault)
	}
	return b.String()
}

func (r *Report) latency(is func(sample) bool) string {
	var took []time.Duration
	for _, s := range r.samples {
		if is(s) {
			took = append(took, s.took)
		}
	}
	if len(took) == 0 {
		return "none"
	}
	slices.Sort(took)
	at := func(percent int) float64 { return took[(len(took)-1)*percent/100].Seconds() * 1000 }
	return fmt.Sprintf("p50 %.1f ms, p99 %.1f ms, longest %.1f ms", at(50), at(99), at(100))
}
