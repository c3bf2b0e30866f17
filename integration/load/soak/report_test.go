package soak_test

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"
	"time"

	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/integration/load/soak"
	"github.com/denorm-go/denorm/writer"
)

// Report is what a run was and what came of it.
type Report struct {
	Seed     uint64
	Events   []Event
	Length   time.Duration // of the load
	Quiet    time.Duration // until nothing could change the tables any more
	Kills    map[string]int
	Tallies  []*soak.Tally
	Repeated int // writes that were in flight when their client was killed, and repeated
	Stored   int // writes that failed and were stored for another process
	// Deliveries are more than those writes: a stored one is delivered until it is finished, and some more often.
	Deliveries int
	// Of the accounts:
	Changes  map[writer.Outcome]int
	Resumed  int // of the applied ones
	Before   *soak.AccountReport
	After    *soak.AccountReport
	Released int // addresses that nobody had any more, and somebody else then got
	Wrong    []string
}

// Event is something that happened to the nodes.
type Event struct {
	At   time.Duration // since the begin of the load
	Took time.Duration // until all nodes were well again
	What string
}

// Writes is how many there were.
func (r *Report) Writes() int {
	n := sum(r.Changes)
	for _, t := range r.Tallies {
		n += t.Writes()
	}
	return n
}

// sum is the sum of the values.
func sum[K comparable](of map[K]int) (n int) {
	for _, v := range of {
		n += v
	}
	return n
}

//go:embed report.md.tmpl
var markdown string

var reported = template.Must(template.New("report").Funcs(template.FuncMap{
	"seconds": func(d time.Duration) string { return fmt.Sprintf("%.0f", d.Seconds()) },
	"whole":   func(d time.Duration) int { return int(d.Seconds()) },
}).Parse(markdown))

// String is the report in Markdown.
func (r *Report) String() string {
	var b strings.Builder
	if err := reported.Execute(&b, struct {
		*Report

		Kinds                                                    []history.Kind
		Causes                                                   []history.Cause
		Killed, Consumers, Clients, Applied, NotApplied, Unknown int
	}{
		r, history.Kinds, history.Causes, sum(r.Kills), r.Kills[soak.ConsumerService], r.Kills[soak.AccountService],
		r.Changes[writer.Applied], r.Changes[writer.NotApplied], r.Changes[writer.Unknown],
	}); err != nil {
		panic(err) // the template is of a report
	}
	return b.String()
}
