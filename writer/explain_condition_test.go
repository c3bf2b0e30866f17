package writer

import (
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/tables"
)

// What is sent after a condition is not one write with it: no plan says that all of the write is done or nothing.
func TestExplainOfTheRestAfterACondition(t *testing.T) {
	t.Parallel()
	log := mustSet[Task](t, "task", tables.Table{Name: "tasks", PartKey: []string{"task_id"}})
	unique := mustSet[Piece](t, "item",
		tables.Table{Name: "items", PartKey: []string{"item_id"}},
		tables.Table{Name: "item_of_shelf", PartKey: []string{"shelf"}, Unique: true}, tables.Versioned("version"))
	old := newItem()
	moved := old
	moved.Shelf = "b"
	bob, note := newTask("bob"), noteSet(t).Insert(newNote())
	plain, logged, concurrent := fakeWriter(nopExecutor{}), fakeWriter(nopExecutor{}, Logged()), fakeWriter(nopExecutor{}, Concurrent())
	var b strings.Builder
	for _, test := range []struct {
		w       *Writer
		mode    Mode
		changes []tables.Change
	}{
		{plain, Single, []tables.Change{unique.Update(old, moved), log.Insert(bob)}},
		{plain, Single, []tables.Change{seatSet(t).Insert(old), log.Insert(bob)}},
		{plain, SamePartition, []tables.Change{unique.Insert(old), note}},
		{plain, LoggedBatch, []tables.Change{itemSet(t).Insert(old), note}},
		{concurrent, FanOut, []tables.Change{itemSet(t).Update(old, moved), note}},
		{logged, Single, []tables.Change{itemSet(t).Insert(old)}}, // its query table
		{plain, Conditional, []tables.Change{itemSet(t).Insert(old), viewSet(t).Add(newView())}},
	} {
		p, err := test.w.Explain("changeItem", test.changes...)
		if err != nil {
			t.Fatal(err)
		}
		text := p.String()
		if p.Mode != test.mode || !strings.HasPrefix(lineOf(text, "atomic"), "the condition with ") {
			t.Errorf("%v, want %v:\n%s", p.Mode, test.mode, text)
		}
		if death := lineOf(text, "client dies"); !strings.HasPrefix(death, "nothing ") || strings.Contains(text, "all of the write is done") {
			t.Errorf("says more than holds:\n%s", text)
		}
		b.WriteString(text + "\n")
	}
	golden.Check(t, "after_condition.golden", b.String())
}

// Without a condition and without a batchlog, what a client leaves that dies lasts until each of the entities is written again, and some of
// it longer.
func TestExplainOfAFanOutWithRemoves(t *testing.T) {
	t.Parallel()
	open, paid := move()
	single := taskSet(t, tables.SingleWriter("owner"))
	w := fakeWriter(nopExecutor{}, Concurrent())
	for _, changes := range [][]tables.Change{
		{single.Update(newTask("bob"), newTask("eve"))}, {orderSet(t).Update(open, paid), noteSet(t).Insert(newNote())},
	} {
		p, err := w.Explain("move", changes...)
		if err != nil {
			t.Fatal(err)
		}
		text, until := p.String(), "until the entity is written again"
		if len(changes) > 1 {
			until = "until each of the entities is written again"
		}
		if !strings.HasSuffix(lineOf(text, "client dies"), until) || !strings.Contains(text, "a row that was to be removed may stay") {
			t.Errorf("%s", text)
		}
	}
}

// lineOf is what a plan says under a title.
func lineOf(plan, title string) string {
	lines := strings.Split(plan, "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, title+"  ") })
	if i < 0 {
		return ""
	}
	return strings.TrimSpace(strings.TrimPrefix(lines[i], title))
}
