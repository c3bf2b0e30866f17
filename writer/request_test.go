package writer

import (
	"bytes"
	"context"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/tables"
)

// Each request has a goroutine of its own, so that the caller can leave when its context ends.
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
			x := &fakeExecutor{answer: func(context.Context, fanout.Attempt) error {
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

// What is looked up by partition or table takes no longer for each when there are many: a stored error may have 100,000.
func TestManyRequestsTakeNoSquareOfTime(t *testing.T) {
	t.Parallel()
	const n = 50_000
	mutations := make([]*statement.Mutation, 0, 2*n)
	for i := range 2 * n {
		name := strconv.Itoa(i % n)
		mutations = append(mutations, &statement.Mutation{Keyspace: "shop", Table: "t" + name, PartitionKey: []byte(name)})
	}
	start := time.Now()
	requests := fanout.Requests(mutations)
	if len(requests) != n || len(requests[7].Mutations) != 2 || requests[7].Mutations[0] != mutations[7] || requests[7].Mutations[1] != mutations[n+7] {
		t.Errorf("%d requests, the eighth of %v", len(requests), requests[7].Mutations)
	}
	requests[7].Outcome = Unknown
	if results := tableResults(requests); len(results) != n || results[7].Table != "t7" || results[7].Outcome != Unknown || results[8].Outcome != NotApplied {
		t.Errorf("%d results, the eighth %+v", len(results), results[7])
	}
	if took := time.Since(start); took > 10*time.Second { // compared with each other they take minutes
		t.Errorf("took %v", took)
	}
}
