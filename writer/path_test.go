package writer

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/denorm-go/denorm/tables"
)

// Each path has a goroutine of its own, so that the caller can leave when its context ends.
func TestGoroutines(t *testing.T) {
	t.Parallel()
	open, paid := move()
	for name, test := range map[string]struct {
		change tables.Change
		want   int
	}{
		"single":         {mustSet[Task](t, "task", tables.Table{Name: "tasks", PartKey: []string{"task_id"}}).Insert(newTask("bob")), 1},
		"same partition": {noteSet(t).Insert(newNote()), 1},
		"logged batch":   {orderSet(t).Update(open, paid), 1},
		"fan-out":        {orderSet(t).Insert(open), 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			seen := make(map[string]bool)
			x := &fakeExecutor{answer: func(context.Context, request) error {
				mu.Lock()
				defer mu.Unlock()
				seen[goroutine()] = true
				return nil
			}}
			if _, err := fakeWriter(x).Write(t.Context(), "op", test.change); err != nil {
				t.Fatal(err)
			}
			if seen[goroutine()] || len(seen) != test.want {
				t.Errorf("%d goroutines, the caller's among them: %v", len(seen), seen[goroutine()])
			}
		})
	}
}

// goroutine names the current one.
func goroutine() string {
	buf := make([]byte, 64)
	return string(bytes.Fields(buf[:runtime.Stack(buf, false)])[1])
}

// Mutations of one keyspace with equal partition keys travel together, others do not, and the base table comes first.
func TestGroup(t *testing.T) {
	t.Parallel()
	m := func(keyspace, table, key string) *tables.Mutation {
		return &tables.Mutation{Keyspace: keyspace, Table: table, PartitionKey: []byte(key)}
	}
	for name, test := range map[string]struct {
		in   []*tables.Mutation
		want [][]string
	}{
		"none":            {},
		"one":             {[]*tables.Mutation{m("k", "a", "1")}, [][]string{{"a"}}},
		"equal keys":      {[]*tables.Mutation{m("k", "a", "1"), m("k", "b", "1")}, [][]string{{"a", "b"}}},
		"other key":       {[]*tables.Mutation{m("k", "a", "1"), m("k", "b", "2")}, [][]string{{"a"}, {"b"}}},
		"other keyspace":  {[]*tables.Mutation{m("k", "a", "1"), m("l", "b", "1")}, [][]string{{"a"}, {"b"}}},
		"apart":           {[]*tables.Mutation{m("k", "a", "1"), m("k", "b", "2"), m("k", "c", "1")}, [][]string{{"a", "c"}, {"b"}}},
		"a key and its x": {[]*tables.Mutation{m("k", "a", "1"), m("k", "b", "1x")}, [][]string{{"a"}, {"b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := slices.Clone(test.in)
			paths := group(test.in)
			if len(paths) != len(test.want) {
				t.Fatalf("%d paths, want %d", len(paths), len(test.want))
			}
			for i := range paths {
				if got := paths[i].tables(); !slices.Equal(got, test.want[i]) {
					t.Errorf("path %d: %v, want %v", i, got, test.want[i])
				}
				if paths[i].outcome != NotApplied {
					t.Error("what was not sent is not applied")
				}
			}
			if !slices.Equal(in, test.in) {
				t.Error("the mutations given were moved: two paths share them")
			}
		})
	}
}
