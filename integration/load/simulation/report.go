package simulation

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/gocql/gocql"

	ct "github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/writer"
)

// Report is what came of a world, or of several.
type Report struct {
	Seeds    []uint64
	Requests int
	Journal  []ct.Request   // of one world
	Took     time.Duration  // virtual
	Met      map[string]int // writes, by the fault that they have met
	Services map[string]*Tally
	Faults   []string // what must not be, with the history of what is concerned
	Troubles []error
}

// Tally is what came of a service.
type Tally struct {
	Writes map[writer.Outcome]int
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
	r.Journal = w.cluster.Journal()
	r.Requests = len(r.Journal)
	return r
}

// add adds what came of writes of a service, what they may have left, and what must not be, the first ones with their
// history.
func (r *Report) add(c *crew, writes map[writer.Outcome]int, diverging map[string]int, faults ...string) {
	r.count(c.service.name, writes, diverging)
	for _, text := range faults {
		if len(r.Faults) < 5 {
			text += "\n" + c.trace(text)
		}
		r.Faults = append(r.Faults, c.service.name+": "+text)
	}
}

// count adds what came of writes of a service, and what they may have left.
func (r *Report) count(service string, writes map[writer.Outcome]int, diverging map[string]int) {
	t := r.Services[service]
	if t == nil {
		t = &Tally{Writes: make(map[writer.Outcome]int), Diverging: make(map[string]int)}
		r.Services[service] = t
	}
	for outcome, n := range writes {
		t.Writes[outcome] += n
	}
	for kind, n := range diverging {
		if n > 0 {
			t.Diverging[kind] += n
		}
	}
}

// Writes is how many logical writes there were.
func (r *Report) Writes() (all int) {
	for _, t := range r.Services {
		for _, n := range t.Writes {
			all += n
		}
	}
	return all
}

// Add adds another report.
func (r *Report) Add(other *Report) {
	r.Seeds = append(r.Seeds, other.Seeds...)
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
		r.count(name, o.Writes, o.Diverging)
	}
}

// Unmet are the faults that no write has met.
func (r *Report) Unmet() []string {
	all := slices.Concat(illnesses, []string{refused, forbidden, clientKilled, consumerKilled, delivered, deliveredTwice, resumedTwice, noQuorum})
	for i := range faults {
		all = append(all, faults[i].name)
	}
	return slices.DeleteFunc(all, func(name string) bool { return r.Met[name] > 0 })
}

// String is the report as tables in Markdown.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d logical writes, %d requests, %d worlds (seeds %d and up) of %d nodes, %.1f hours of virtual time. "+
		"Unsound outcomes, lost acknowledged writes and forbidden divergence: **%d**.\n\n", r.Writes(), r.Requests, len(r.Seeds),
		append(slices.Sorted(slices.Values(r.Seeds)), 0)[0], nodes, r.Took.Hours()-24*float64(len(r.Seeds)), len(r.Faults))
	b.WriteString("| service | writes | applied | not applied | not known | diverging rows, all from unfinished writes |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(r.Services)) {
		t, diverging := r.Services[name], []string{}
		for _, kind := range slices.Sorted(maps.Keys(t.Diverging)) {
			diverging = append(diverging, fmt.Sprintf("%s: %d", kind, t.Diverging[kind]))
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %s |\n", name,
			t.Writes[writer.Applied]+t.Writes[writer.NotApplied]+t.Writes[writer.Unknown], t.Writes[writer.Applied], t.Writes[writer.NotApplied], t.Writes[writer.Unknown], cmp.Or(strings.Join(diverging, "; "), "none"))
	}
	b.WriteString("\n| fault | writes that met it |\n| --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(r.Met)) {
		fmt.Fprintf(&b, "| %s | %d, %.1f %% |\n", name, r.Met[name], 100*float64(r.Met[name])/float64(max(1, r.Writes())))
	}
	return b.String()
}

//go:embed report.md.tmpl
var markdown string

var documented = template.Must(template.New("report").Parse(markdown))

// Markdown is the report for docs, of a run that took so long on so many processors.
func (r *Report) Markdown(took time.Duration, processors int) string {
	var b strings.Builder
	if err := documented.Execute(&b, map[string]any{
		"Took": took.Round(time.Second), "Processors": processors, "Report": r, "Skew": skew, "Consumers": consumers,
	}); err != nil {
		panic(err) // the template is of a report
	}
	return b.String()
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// trace is the history of what a finding names, as the nodes saw it: each write, when it came, where, and what was done
// with it.
func (c *crew) trace(finding string) string {
	ids := make(map[string]bool)
	for _, text := range uuids.FindAllString(finding, -1) {
		if id, err := gocql.ParseUUID(text); err == nil {
			ids[string(id[:])] = true
		}
	}
	var b strings.Builder
	for _, r := range c.cluster.Journal() {
		concerned := slices.ContainsFunc(r.Statements, func(s ct.Statement) bool {
			return s.Keyspace == c.service.keyspace && slices.ContainsFunc(s.Values, func(v ct.Value) bool { return ids[string(v.Bytes)] })
		})
		if concerned && !reading(r) && r.Kind != ct.Prepare {
			fmt.Fprintf(&b, "    %12v %v", r.At.Sub(c.started), r)
			for _, s := range r.Statements {
				at, _ := s.Value("[timestamp]")
				fmt.Fprintf(&b, " @%x", at.Bytes)
			}
			if r.Applied > 0 {
				fmt.Fprintf(&b, "; applied at %v", r.AppliedAt.Sub(c.started))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
