package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/pageviews"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/integration/load/soak"
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
	Faults   []string // what must not be, with the history of what is concerned
	Troubles []error
}

// Tally is what came of a service.
type Tally struct {
	Writes, Applied, NotApplied, Open int
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
		if f.Kind.Diverges() && !l.service.whole() && f.Cause != history.None {
			t.Diverging[fmt.Sprintf("%v, %v", f.Kind, f.Cause)]++
			continue
		}
		r.fault(l.crew, f.String())
	}
}

// fault adds what must not be, the first ones with their history.
func (r *Report) fault(c *crew, text string) {
	if len(r.Faults) < 5 {
		text += "\n" + c.trace(text)
	}
	text = c.service.name + ": " + text
	r.Faults = append(r.Faults, text)
}

// ledger adds what was found in rows that carry their changes.
func (r *Report) ledger(c *crew, h *history.History[soak.Account], before, found *soak.AccountReport) {
	t := r.tally(c.service.name)
	t.count(h.Count())
	r.Writes += len(h.Writes())
	for _, f := range soak.Wrong(before, found) {
		r.fault(c, f)
	}
	for kind, n := range map[string]int{
		"pending in the base row, completed by the next write": before.Divergence(), "unique address without an owner": len(found.Unclaimed),
	} {
		if n > 0 {
			t.Diverging[kind] += n
		}
	}
}

// logins adds what was found in rows that end.
func (r *Report) logins(l *loginLoad, faults []string) {
	t := r.tally(l.service.name)
	for _, v := range l.writes {
		outcome := writer.Applied
		if v.refused {
			outcome = writer.NotApplied
		} else if v.open {
			outcome = writer.Unknown
		}
		t.count(map[writer.Outcome]int{outcome: 1})
	}
	r.Writes += len(l.writes)
	for _, f := range faults {
		r.fault(l.crew, f)
	}
}

// views adds what was found in the counts of views.
func (r *Report) views(l *viewLoad, sums map[string]map[gocql.UUID]int64, visits []pageviews.Visit) {
	t := r.tally(l.service.name)
	for _, v := range l.views {
		t.count(map[writer.Outcome]int{v.known(): 1})
	}
	r.Writes += len(l.views)
	for _, f := range l.faults(sums, visits) {
		r.fault(l.crew, f)
	}
	for _, page := range l.pages {
		if sums[total][page] != sums[daily][page] {
			t.Diverging["page with different counts in its tables"]++
		}
	}
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

// Unmet are the faults that no write has met.
func (r *Report) Unmet() []string {
	all := slices.Concat(illnesses, []string{refused, clientKilled, consumerKilled, delivered, deliveredTwice, resumedTwice, noQuorum})
	for i := range faults {
		all = append(all, faults[i].name)
	}
	return slices.DeleteFunc(all, func(name string) bool { return r.Met[name] > 0 })
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

// Markdown is the report for docs, of a run that took so long on so many processors.
func (r *Report) Markdown(took time.Duration, processors int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Simulation\n\nServices with orders, accounts, seats, logins and counters on the in-process Cassandra, in virtual time and under every kind of fault "+
		"(integration/load/simulation; `make simulation`).\n\n")
	fmt.Fprintf(&b, "%d logical writes in %v on %d processors: %d requests, %d worlds (seeds %d and up) of %d nodes, %.1f hours of virtual time. "+
		"Unsound outcomes, lost acknowledged writes and forbidden divergence: **%d**.\n\n", r.Writes, took.Round(time.Second), processors,
		r.Requests, len(r.Seeds), slices.Min(r.Seeds), nodes, r.Took.Hours()-24*float64(len(r.Seeds)), len(r.Faults))
	b.WriteString("| service | writes | applied | not applied | not known | diverging rows, all from unfinished writes |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(r.Services)) {
		t := r.Services[name]
		var diverging []string
		for _, kind := range slices.Sorted(maps.Keys(t.Diverging)) {
			diverging = append(diverging, fmt.Sprintf("%s: %d", kind, t.Diverging[kind]))
		}
		if diverging == nil {
			diverging = []string{"none"}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %s |\n", name, t.Writes, t.Applied, t.NotApplied, t.Open, strings.Join(diverging, "; "))
	}
	b.WriteString("\n| fault | writes that met it |\n| --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(r.Met)) {
		fmt.Fprintf(&b, "| %s | %d, %.1f %% |\n", name, r.Met[name], 100*float64(r.Met[name])/float64(max(1, r.Writes)))
	}
	fmt.Fprintf(&b, "\nThe clock of every client is wrong by up to %v. Writes that a client cannot finish are stored, and a "+
		"queue delivers them up to two minutes late and in any order, to %d other processes for each service, "+
		"which are killed as well. Some are delivered more than once: after they are done, to two processes or "+
		"two goroutines at the same time, or while another write changes the row. The result of each delivery "+
		"is compared with the tables and with the results of the others.\n\n", skew, consumers)
	b.WriteString("An order may have no status; its bucket is a field that follows from the status. Half of the logins " +
		"expire within seconds, and patches shorten or extend their TTL; at the end each cell must be that of " +
		"the newest write that has not expired. In every other world few accounts move between few addresses, " +
		"and whenever an account is read the table of unique addresses must name it. Clients of services marked " +
		"\"left\", and of logged batches, abandon half of the writes that failed and all that were in flight " +
		"when they were killed; clients of accounts and seats abandon a quarter, and the next change of an " +
		"account completes what was left. Increments are never sent again, so some are lost or counted in one " +
		"of two tables only; the sum of each page is compared with what was acknowledged and what is unknown, " +
		"and no view is counted twice. One call in six of a write has a Hedge of 1 to 50 ms.\n")
	return b.String()
}
