package layout

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"weak"
)

// The names of tables and keyspaces may follow from what clients send. However many there are, a bounded number of
// texts is kept, and one more costs no more than the first.
func TestTextsAreBounded(t *testing.T) { //nolint:paralleltest // it counts allocations
	table := events()
	n := 0
	name := func(n int) string { return fmt.Sprintf("events_%d", n) }
	next := func() *Statements {
		n++
		got := table.Statements("shop", name(n))
		if got.name != name(n) {
			t.Fatalf("events_%d gets the text of %s", n, got.name)
		}
		return got
	}
	early := testing.AllocsPerRun(200, func() { next() })
	var made []weak.Pointer[Statements]
	for n < 20_000 {
		s := next()
		if table.Statements("shop", name(n)) != s {
			t.Fatalf("text %d is not kept", n)
		}
		made = append(made, weak.Make(s))
	}
	runtime.GC()
	alive := 0
	for _, s := range made {
		if s.Value() != nil {
			alive++
		}
	}
	if alive > 1024 || alive < 512 {
		t.Errorf("%d texts are alive", alive)
	}
	for n := range 2000 { // most of them were forgotten
		if got := table.Statements("shop", name(n)); !reflect.DeepEqual(got, table.compile("shop", name(n))) ||
			table.Statements("shop", name(n)) != got {
			t.Fatalf("text %d was made again as %+v", n, got)
		}
	}
	// A few more, as the names are longer.
	if late := testing.AllocsPerRun(200, func() { next() }); late > early+5 {
		t.Errorf("a text takes %v allocations among the first, %v after 20,000", early, late)
	}
	if kept := len(table.compiled); kept > 1024 || kept < 512 {
		t.Errorf("%d texts are kept", kept)
	}
	// What a service needs again and again stays: some hundred tenants, each of which writes now and then.
	tenants := events()
	compiled := 0
	texts := make(map[int]*Statements)
	for round := range 10 {
		for i := range 250 {
			s := tenants.Statements(fmt.Sprintf("tenant_%d", i), "events")
			if texts[i] != s && round > 0 {
				compiled++
			}
			texts[i] = s
		}
	}
	if compiled > 9*250/10 {
		t.Errorf("%d of %d texts were compiled again", compiled, 9*250)
	}
	if got := testing.AllocsPerRun(100, func() { tenants.Statements("tenant_1", "events") }); got > 0 {
		t.Errorf("a text that is known takes %v allocations", got)
	}
}

// events is a table of events by id.
func events() *Table {
	return &Table{
		Name: "events", Key: []int{0}, Part: 1, Columns: []int{0, 1}, ColumnNames: []string{"id", "note"},
		KeyNames: []string{"id"},
	}
}
