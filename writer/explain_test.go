package writer

import (
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
)

// Someone who sees only a golden file must be able to say how many requests go out, what is atomic, what a reader may
// see, and what the limits are.
func TestExplain(t *testing.T) {
	t.Parallel()
	orders, notes := orderSet(t), noteSet(t)
	open, paid := move()
	bob := newTask("bob")
	ends := bob
	ends.Ends = ptr(time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC))
	coded := bob
	coded.Code = ptr("a")
	single := taskSet(t, tables.SingleWriter("owner"))
	sparse := taskSet(t, tables.Table{Name: "tasks_by_code", PartKey: []string{"code"}, SortKey: []string{"task_id"}},
		tables.SingleWriter("code"))
	down := fakeWriter(nopExecutor{})
	down.batchlog.failed(time.Now().Add(time.Hour))
	for name, test := range map[string]struct {
		w       *Writer
		op      string
		changes []tables.Change
	}{
		"create_order":            {op: "createOrder", changes: []tables.Change{orders.Insert(open)}},
		"create_order_logged":     {w: fakeWriter(nopExecutor{}, Logged()), op: "createOrder", changes: []tables.Change{orders.Insert(open)}},
		"create_order_concurrent": {w: fakeWriter(nopExecutor{}, Concurrent()), op: "createOrder", changes: []tables.Change{orders.Insert(open)}},
		"create_order_atomic":     {op: "createOrder", changes: []tables.Change{orderSet(t, tables.Atomic()).Insert(open)}},
		"pay_order":               {op: "payOrder", changes: []tables.Change{orders.Update(open, paid)}},
		"pay_order_concurrent":    {w: fakeWriter(nopExecutor{}, Concurrent()), op: "payOrder", changes: []tables.Change{orders.Update(open, paid)}},
		"pay_order_fallback":      {w: down, op: "payOrder", changes: []tables.Change{orders.Update(open, paid)}},
		"cancel_order":            {op: "cancelOrder", changes: []tables.Change{orders.Delete(open)}},
		"submit_order":            {op: "submitOrder", changes: []tables.Change{orders.Insert(open), notes.Delete(newNote()), single.Insert(bob)}},
		"same_partition":          {op: "writeNote", changes: []tables.Change{notes.Insert(newNote())}},
		"single":                  {op: "addTask", changes: []tables.Change{mustSet[Task](t, "task", tables.Table{Name: "tasks", PartKey: []string{"task_id"}}).Insert(bob)}},
		"single_writer_move":      {op: "handOn", changes: []tables.Change{single.Update(bob, newTask("eve"))}},
		"absent_values":           {op: "editTask", changes: []tables.Change{single.Update(bob, bob)}},
		"sparse_absent":           {op: "addTask", changes: []tables.Change{sparse.Insert(bob)}},
		"sparse_present":          {op: "addTask", changes: []tables.Change{sparse.Insert(coded)}},
		"sparse_leaves":           {op: "editTask", changes: []tables.Change{sparse.Update(coded, bob)}},
		"expiring":                {op: "addTask", changes: []tables.Change{taskSet(t, tables.ExpiresAt("ends")).Insert(ends)}},
		"one_attempt": {
			w: fakeWriter(nopExecutor{}, Retry(retry.Policy{MaxAttempts: 1}), Timeout(time.Second)), op: "createOrder",
			changes: []tables.Change{orders.Insert(open)},
		},
		"counters":              {op: "viewPage", changes: []tables.Change{viewSet(t).Add(newView())}},
		"create_order_counters": {op: "createOrder", changes: []tables.Change{orders.Insert(open), viewSet(t).Add(newView())}},
		"pay_order_counters":    {op: "payOrder", changes: []tables.Change{orders.Update(open, paid), viewSet(t).Add(newView())}},
		"no_change":             {op: "nothing"},
		"patch":                 {op: "putProduct", changes: []tables.Change{patched(t)}},
		"apart": {op: "addTask", changes: []tables.Change{mustSet[Task](t, "task",
			tables.Table{Name: "tasks", PartKey: []string{"owner"}, SortKey: []string{"task_id"}},
			tables.Table{Name: "task_log", Keyspace: "log", PartKey: []string{"owner"}, SortKey: []string{"task_id"}}).Insert(bob)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &fakeExecutor{}
			w := test.w
			if w == nil {
				w = fakeWriter(x)
			}
			plan, err := w.Explain(test.op, test.changes...)
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, name+".golden", plan.String())
			if len(x.sent()) > 0 {
				t.Error("Explain has sent a request")
			}
		})
	}
}

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
			plan, err := w.Explain("op", change)
			if err != nil {
				t.Fatal(err)
			}
			res, err := w.Write(t.Context(), "op", change)
			if err != nil {
				t.Fatal(err)
			}
			if res.Mode != plan.Mode || res.Attempts != len(plan.Requests) {
				t.Errorf("%v in %d requests, explained was %v in %d", res.Mode, res.Attempts, plan.Mode, len(plan.Requests))
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

// patched changes elements of one table and a column of two.
func patched(tb testing.TB) tables.Change {
	tb.Helper()
	type cart struct {
		ID, Owner string
		Note      *string
		Products  map[string]int32
	}
	set := mustSet[cart](tb, "cart",
		tables.Table{Name: "carts", Keyspace: "shop", PartKey: []string{"id"}},
		tables.Table{Name: "carts_by_owner", Keyspace: "shop", PartKey: []string{"owner"}, SortKey: []string{"id"}, Columns: []string{"note"}})
	return set.Patch(cart{ID: "1", Owner: "o"}, tables.Column("note"), tables.Without("products", "a"))
}
