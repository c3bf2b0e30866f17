package tables

import (
	"fmt"
	"testing"
)

// The names of tables and keyspaces may follow from what clients send. However many there are, a bounded number of texts is kept,
// and one more costs no more than the first.
func TestTextsAreBounded(t *testing.T) { //nolint:paralleltest // it counts allocations
	type event struct{ ID, Note string }
	s := Must(New[event]("event", Table{Name: "events", PartKey: []string{"id"}}))
	table := s.def.tables[0]
	n := 0
	next := func() {
		n++
		if got := table.statements("shop", fmt.Sprintf("events_%d", n)); got.name != fmt.Sprintf("events_%d", n) {
			t.Fatalf("events_%d gets the text of %s", n, got.name)
		}
	}
	early := testing.AllocsPerRun(200, next)
	for n < 20_000 {
		next()
	}
	// A few more, as the names are longer.
	if late := testing.AllocsPerRun(200, next); late > early+5 {
		t.Errorf("a text takes %v allocations among the first, %v after 20,000", early, late)
	}
	kept := 0
	for i := range table.compiled.Load() {
		if table.compiled.Load()[i].Load() != nil {
			kept++
		}
	}
	if kept > 1024 || kept < 512 {
		t.Errorf("%d texts are kept", kept)
	}
	// What a service needs again and again stays: some hundred tenants, each of which writes now and then.
	tenants := Must(New[event]("event", Table{Name: "events", PartKey: []string{"id"}})).def.tables[0]
	compiled := 0
	texts := make(map[int]*statements)
	for round := range 10 {
		for i := range 250 {
			s := tenants.statements(fmt.Sprintf("tenant_%d", i), "events")
			if texts[i] != s && round > 0 {
				compiled++
			}
			texts[i] = s
		}
	}
	if compiled > 9*250/10 {
		t.Errorf("%d of %d texts were compiled again", compiled, 9*250)
	}
	if got := testing.AllocsPerRun(100, func() { tenants.statements("tenant_1", "events") }); got > 0 {
		t.Errorf("a text that is known takes %v allocations", got)
	}
}
