package writer

import (
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/explained"
	"github.com/denorm-go/denorm/tables"
)

// What Explain says goes out is what Write sends.
func TestExplainIsWhatWriteSends(t *testing.T) {
	t.Parallel()
	open, paid := move()
	for name, change := range map[string]tables.Change{
		"fan-out":        orderSet(t).Insert(open),
		"logged batch":   orderSet(t).Update(open, paid),
		"same partition": noteSet(t).Insert(newNote()),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &fakeExecutor{}
			w := fakeWriter(x)
			plan, err := explained.Of(w.explain("op", change))
			if err != nil {
				t.Fatal(err)
			}
			res, err := w.Write(t.Context(), "op", change)
			if err != nil {
				t.Fatal(err)
			}
			if res.Mode != Mode(plan.Mode) || res.Attempts != len(plan.Requests) {
				t.Errorf("%v in %d requests, explained was %v in %d", res.Mode, res.Attempts, Mode(plan.Mode), len(plan.Requests))
			}
			var sent, explained []string
			for _, r := range x.sent() {
				for _, m := range r.Mutations {
					sent = append(sent, m.Statement)
				}
			}
			for _, r := range plan.Requests {
				for _, s := range r.Statements {
					explained = append(explained, s.Text)
				}
			}
			if !sameElements(sent, explained) {
				t.Errorf("sent\n%s\nexplained\n%s", strings.Join(sent, "\n"), strings.Join(explained, "\n"))
			}
		})
	}
}

func sameElements(a, b []string) bool {
	count := make(map[string]int)
	for _, s := range a {
		count[s]++
	}
	for _, s := range b {
		count[s]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}
