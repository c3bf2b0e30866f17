package soak

import (
	"fmt"
	"slices"
	"strings"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/load/history"
	"github.com/denorm-go/denorm/writer"
)

// Tally is what became of the writes of a service, and what they have left.
type Tally struct {
	Service    string
	Applied    int
	Resumed    int // of those: after an answer that said less, or because the client was killed
	NotApplied int
	Open       map[history.Cause]int // neither
	Found      map[history.Kind]int
	By         map[history.Cause]int // divergences, by what became of the write that left them
}

// Writes is how many there were.
func (t *Tally) Writes() int {
	n := t.Applied + t.NotApplied
	for _, open := range t.Open {
		n += open
	}
	return n
}

// serviceOf is the service of a client, whose name begins with it.
func serviceOf(client string) string {
	service, _, _ := strings.Cut(client, "/")
	return service
}

// Judge says of each service what was written and found, and what of that the library does not allow, one sentence
// each: any fault but a divergence, any divergence of a service whose tables must agree, and any that no unfinished
// write explains.
func Judge(services []Service, writes []history.Write[orders.Order], found []history.Finding) (tallies []*Tally, wrong []string) {
	byName := make(map[string]*Tally, len(services))
	whole := make(map[string]bool, len(services))
	for _, s := range services {
		t := &Tally{
			Service: s.Name, Open: make(map[history.Cause]int), Found: make(map[history.Kind]int), By: make(map[history.Cause]int),
		}
		tallies = append(tallies, t)
		byName[s.Name], whole[s.Name] = t, s.Whole()
	}
	for i := range writes {
		w := &writes[i]
		t := byName[serviceOf(w.By)]
		if t == nil {
			wrong = append(wrong, fmt.Sprintf("a write by %q, which is no service", w.By))
			continue
		}
		t.count(w)
	}
	for _, f := range found {
		service := serviceOf(f.By)
		if t := byName[service]; t != nil {
			t.Found[f.Kind]++
			if f.Kind.Diverges() {
				t.By[f.Cause]++
			}
		}
		switch {
		case !f.Kind.Diverges():
			wrong = append(wrong, fmt.Sprintf("%s: %v", service, f))
		case f.Cause == history.None:
			wrong = append(wrong, fmt.Sprintf("%s: no unfinished write explains it: %v", service, f))
		case whole[service] || byName[service] == nil:
			wrong = append(wrong, fmt.Sprintf("%s: its tables must agree, and a write %v has left: %v", service, f.Cause, f))
		}
	}
	return tallies, wrong
}

func (t *Tally) count(w *history.Write[orders.Order]) {
	switch w.Outcome {
	case writer.Applied:
		t.Applied++
		if w.Resumed {
			t.Resumed++
		}
	case writer.NotApplied:
		t.NotApplied++
	case writer.Unknown, writer.Pending, writer.Conflict, writer.Taken, writer.Invalid, writer.NotFound: // the last four are of calls
		t.Open[w.Cause()]++
	}
}

// Wrong is what the library does not allow of the accounts, before and after each of them has been written once more:
// until then a killed client may have left the tables apart, and the base row says so.
func Wrong(before, after *AccountReport) []string {
	wrong := slices.Concat(after.Lost, after.Unsound, after.Phantom, after.Ghosts, after.Missing, after.Differing, after.Owners)
	if before.Unnoted > 0 {
		wrong = append(wrong, fmt.Sprintf("%d divergences of accounts whose base row does not say that anything is to be finished",
			before.Unnoted))
	}
	return wrong
}
