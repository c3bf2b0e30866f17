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
	kills := 0
	for _, n := range r.Kills {
		kills += n
	}
	fmt.Fprintf(&b, "%d logical writes in %.0f s under the faults of seed %d, %d clients killed, clocks apart by up to 1 s; "+
		"quiet %.0f s later.\n", r.Writes(), r.Length.Seconds(), r.Seed, kills, r.Quiet.Seconds())
	b.WriteString("\n| second | fault | s until all nodes were well |\n|---:|---|---:|\n")
	for _, e := range r.Events {
		fmt.Fprintf(&b, "| %.0f | %s | %.0f |\n", e.At.Seconds(), e.What, e.Took.Seconds())
	}
	b.WriteString("\n| orders | clients killed | acknowledged | of these resumed or repeated | not applied | in flight | partial " +
		"| unknown |")
	b.WriteString("\n|---" + strings.Repeat("|---:", 7) + "|\n")
	for _, t := range r.Tallies {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d |\n", t.Service, r.Kills[t.Service], t.Applied, t.Resumed,
			t.NotApplied, t.Open[history.InFlight], t.Open[history.Partial], t.Open[history.Open])
	}
	b.WriteString("\nWhat was found, and what had become of the writes that left it:\n\n| orders |")
	for _, k := range history.Kinds {
		fmt.Fprintf(&b, " %s |", k)
	}
	for _, c := range history.Causes {
		fmt.Fprintf(&b, " left by: %s |", c)
	}
	b.WriteString("\n|---" + strings.Repeat("|---:", len(history.Kinds)+len(history.Causes)) + "|\n")
	for _, t := range r.Tallies {
		fmt.Fprintf(&b, "| %s |", t.Service)
		for _, k := range history.Kinds {
			fmt.Fprintf(&b, " %d |", t.Found[k])
		}
		for _, c := range history.Causes {
			fmt.Fprintf(&b, " %d |", t.By[c])
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\n%d writes that were in flight when their client was killed were repeated.\n", r.Repeated)
	fmt.Fprintf(&b, "%d writes that failed were stored, and delivered %d times to other processes, of which %d were killed.\n", r.Stored, r.Deliveries,
		r.Kills[ConsumerService])
	b.WriteString(r.accounts())
	if len(r.Wrong) == 0 {
		b.WriteString("\nNothing that the library does not allow.\n")
	} else {
		fmt.Fprintf(&b, "\n**Faults: %d**\n\n", len(r.Wrong))
		for n, w := range r.Wrong {
			if n == 20 {
				b.WriteString("- and more\n")
				break
			}
			b.WriteString("- " + w + "\n")
		}
	}
	return b.String()
}

// accounts is the paragraph on those.
func (r *Report) accounts() string {
	text := fmt.Sprintf("\nVersioned accounts with a unique address, %d clients killed: %d changes acknowledged, %d of them resumed, "+
		"%d not applied, %d unknown. ", r.Kills[AccountService], r.Changes[writer.Applied], r.Resumed, r.Changes[writer.NotApplied],
		r.Changes[writer.Unknown])
	text += fmt.Sprintf("When all was quiet, rows with something to be finished %d, rows that differed between the tables %d; after "+
		"the next write of each account %d. ", r.Before.Pending, r.Before.Divergence(), r.After.Divergence())
	text += fmt.Sprintf("Lost changes %d, unsound outcomes %d, changes of nobody's %d, addresses of two owners or unregistered %d. ",
		len(r.After.Lost), len(r.After.Unsound), len(r.After.Phantom), len(r.After.Owners))
	return text + fmt.Sprintf("Addresses still claimed for somebody without them %d, of which %d went to the next who asked.\n",
		len(r.After.Unclaimed), r.Released)
}
