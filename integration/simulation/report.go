package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/integration/history"
	"github.com/denorm-go/denorm/integration/soak"
	"github.com/denorm-go/denorm/writer"
)

// Report is what came of a world, or of several.
type Report struct {
	Seeds    []uint64
	Writes   int
	Requests int
	Took     time.Duration  // virtual
	Met      map[string]int // writes, by the fault that they have met
	Services map[string]*Tally
	Faults   []string // what must not be
	Troubles []error
}

// Tally is what came of a service.
type Tally struct {
	Writes, Applied, NotApplied, Open, Killed int
	// Diverging are the findings that an unfinished write may leave, by kind and cause.
	Diverging map[string]int
}

func newReport(w *world) *Report {
	r := &Report{Seeds: []uint64{w.Seed}, Took: time.Since(w.started), Met: make(map[string]int), Services: make(map[string]*Tally)}
	w.weather.mu.Lock()
	defer w.weather.mu.Unlock()
	for name, writes := range w.weather.met {
		r.Met[name] = len(writes)
	}
	r.Requests = len(w.cluster.Journal())
	return r
}

func (r *Report) tally(name string) *Tally {
	t := r.Services[name]
	if t == nil {
		t = &Tally{Diverging: make(map[string]int)}
		r.Services[name] = t
	}
	return t
}

func (t *Tally) count(outcomes map[writer.Outcome]int) {
	t.Applied += outcomes[writer.Applied]
	t.NotApplied += outcomes[writer.NotApplied]
	t.Open += outcomes[writer.Unknown]
	t.Writes += outcomes[writer.Applied] + outcomes[writer.NotApplied] + outcomes[writer.Unknown]
}

// orders adds what was found in the orders of a service.
func (r *Report) orders(l *orderLoad, found *history.Report) {
	t := r.tally(l.service.name)
	t.count(l.history.Count())
	r.Writes += len(l.history.Writes())
	for _, f := range found.Findings {
		mild := f.Kind == history.Ghost || f.Kind == history.Missing || f.Kind == history.Differing
		if mild && !l.service.whole() && f.Cause != history.None {
			t.Diverging[fmt.Sprintf("%v, %v", f.Kind, f.Cause)]++
			continue
		}
		r.Faults = append(r.Faults, l.service.name+": "+f.String()+"\n"+l.trace(f.Writes))
	}
}

// accounts adds what was found in the accounts.
func (r *Report) accounts(l *accountLoad, found *soak.AccountReport) {
	t := r.tally(l.service.name)
	t.count(l.history.Count())
	r.Writes += len(l.history.Writes())
	for _, list := range [][]string{found.Lost, found.Unsound, found.Phantom, found.Ghosts, found.Missing, found.Differing, found.Owners} {
		for _, f := range list {
			r.Faults = append(r.Faults, l.service.name+": "+f+"\n"+l.trace(f))
		}
	}
	t.Diverging["address kept for nobody"] += len(found.Unclaimed)
}

// Add adds another report.
func (r *Report) Add(other *Report) {
	r.Seeds = append(r.Seeds, other.Seeds...)
	r.Writes += other.Writes
	r.Requests += other.Requests
	r.Took += other.Took
	r.Faults = append(r.Faults, other.Faults...)
	r.Troubles = append(r.Troubles, other.Troubles...)
	if r.Met == nil {
		r.Met, r.Services = make(map[string]int), make(map[string]*Tally)
	}
	for name, n := range other.Met {
		r.Met[name] += n
	}
	for name, o := range other.Services {
		t := r.tally(name)
		t.Writes, t.Applied, t.NotApplied, t.Open = t.Writes+o.Writes, t.Applied+o.Applied, t.NotApplied+o.NotApplied, t.Open+o.Open
		for kind, n := range o.Diverging {
			t.Diverging[kind] += n
		}
	}
}

// String is the report as text.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d logical writes, %d requests, %v of virtual time, %d worlds\n", r.Writes, r.Requests, r.Took.Round(time.Second), len(r.Seeds))
	for _, name := range slices.Sorted(maps.Keys(r.Met)) {
		fmt.Fprintf(&b, "  %-32s met by %6d writes, %4.1f %%\n", name, r.Met[name], 100*float64(r.Met[name])/float64(max(1, r.Writes)))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Services)) {
		t := r.Services[name]
		fmt.Fprintf(&b, "  %-28s %7d writes: %d applied, %d not applied, %d not known\n", name, t.Writes, t.Applied, t.NotApplied, t.Open)
		for _, kind := range slices.Sorted(maps.Keys(t.Diverging)) {
			fmt.Fprintf(&b, "      %-32s %d\n", kind, t.Diverging[kind])
		}
	}
	return b.String()
}
