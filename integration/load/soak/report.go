package soak

import (
	"fmt"
	"strings"
	"time"

	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/writer"
)

// Report is what a run was and what came of it.
type Report struct {
	Seed     uint64
	Events   []Event
	Length   time.Duration // of the load
	Quiet    time.Duration // until nothing could change the tables any more
	Kills    map[string]int
	Tallies  []*Tally
	Repeated int // writes that were in flight when their client was killed, and repeated
	Stored   int // writes that failed and were stored for another process
	// Deliveries are more than those writes: a stored one is delivered until it is finished, and some more often.
	Deliveries int
	// Of the accounts:
	Changes  map[writer.Outcome]int
	Resumed  int // of the applied ones
	Before   *AccountReport
	After    *AccountReport
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
	n := 0
	for _, t := range r.Tallies {
		n += t.Writes()
	}
	for _, changes := range r.Changes {
		n += changes
	}
	return n
}

// String is the report in Markdown.
func (r *Report) String() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line := func(name string, cells ...any) {
		b.WriteString("| " + name)
		for _, c := range cells {
			fmt.Fprintf(&b, " | %v", c)
		}
		b.WriteString(" |\n")
	}
	head := func(name string, cells ...any) {
		line(name, cells...)
		say("|---" + strings.Repeat("|---:", len(cells)) + "|")
	}
	kills := 0
	for _, n := range r.Kills {
		kills += n
	}
	say("%d logical writes in %.0f s under the faults of seed %d, %d clients killed, clocks apart by up to 1 s; quiet %.0f s later.\n",
		r.Writes(), r.Length.Seconds(), r.Seed, kills, r.Quiet.Seconds())
	head("fault", "second", "s until all nodes were well")
	for _, e := range r.Events {
		line(e.What, int(e.At.Seconds()), int(e.Took.Seconds()))
	}
	say("")
	head("orders", "clients killed", "acknowledged", "of these resumed or repeated", "not applied", "in flight", "partial", "unknown")
	for _, t := range r.Tallies {
		line(t.Service, r.Kills[t.Service], t.Applied, t.Resumed, t.NotApplied, t.Open[history.InFlight], t.Open[history.Partial], t.Open[history.Open])
	}
	say("\nWhat was found, and what had become of the writes that left it:\n")
	var columns []any
	for _, k := range history.Kinds {
		columns = append(columns, k)
	}
	for _, c := range history.Causes {
		columns = append(columns, "left by: "+c.String())
	}
	head("orders", columns...)
	for _, t := range r.Tallies {
		var cells []any
		for _, k := range history.Kinds {
			cells = append(cells, t.Found[k])
		}
		for _, c := range history.Causes {
			cells = append(cells, t.By[c])
		}
		line(t.Service, cells...)
	}
	say("\n%d writes that were in flight when their client was killed were repeated.", r.Repeated)
	say("%d writes that failed were stored, and delivered %d times to other processes, of which %d were killed.", r.Stored, r.Deliveries,
		r.Kills[ConsumerService])
	say("\nVersioned accounts with a unique address, %d clients killed: %d changes acknowledged, %d of them resumed, %d not applied, %d unknown. "+
		"When all was quiet, rows with something to be finished %d, rows that differed between the tables %d; after the next write of each account %d. "+
		"Lost changes %d, unsound outcomes %d, changes of nobody's %d, addresses of two owners or unregistered %d. "+
		"Addresses still claimed for somebody without them %d, of which %d went to the next who asked.", r.Kills[AccountService],
		r.Changes[writer.Applied], r.Resumed, r.Changes[writer.NotApplied], r.Changes[writer.Unknown], r.Before.Pending, r.Before.Divergence(),
		r.After.Divergence(), len(r.After.Lost), len(r.After.Unsound), len(r.After.Phantom), len(r.After.Owners), len(r.After.Unclaimed), r.Released)
	if len(r.Wrong) == 0 {
		say("\nNothing that the library does not allow.")
		return b.String()
	}
	say("\n**Faults: %d**, the first of them:\n\n- %s", len(r.Wrong), strings.Join(r.Wrong[:min(20, len(r.Wrong))], "\n- "))
	return b.String()
}
