package writer

import (
	"slices"
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
		"create_order": {op: "createOrder", changes: []tables.Change{orders.Insert(open)}},
		"create_order_logged": {
			w: fakeWriter(nopExecutor{}, Logged()), op: "createOrder",
			changes: []tables.Change{orders.Insert(open)},
		},
		"create_order_concurrent": {
			w: fakeWriter(nopExecutor{}, Concurrent()), op: "createOrder",
			changes: []tables.Change{orders.Insert(open)},
		},
		"create_order_atomic": {op: "createOrder", changes: []tables.Change{orderSet(t, tables.Atomic()).Insert(open)}},
		"pay_order":           {op: "payOrder", changes: []tables.Change{orders.Update(open, paid)}},
		"pay_order_concurrent": {
			w: fakeWriter(nopExecutor{}, Concurrent()), op: "payOrder",
			changes: []tables.Change{orders.Update(open, paid)},
		},
		"pay_order_fallback": {w: down, op: "payOrder", changes: []tables.Change{orders.Update(open, paid)}},
		"cancel_order":       {op: "cancelOrder", changes: []tables.Change{orders.Delete(open)}},
		"submit_order": {op: "submitOrder", changes: []tables.Change{
			orders.Insert(open), notes.Delete(newNote()),
			single.Insert(bob),
		}},
		"same_partition": {op: "writeNote", changes: []tables.Change{notes.Insert(newNote())}},
		"single": {
			op: "addTask",
			changes: []tables.Change{mustSet[Task](t, "task", tables.Table{Name: "tasks", PartKey: []string{"task_id"}}).
				Insert(bob)},
		},
		"single_writer_move": {op: "handOn", changes: []tables.Change{single.Update(bob, newTask("eve"))}},
		"absent_values":      {op: "editTask", changes: []tables.Change{single.Update(bob, bob)}},
		"sparse_absent":      {op: "addTask", changes: []tables.Change{sparse.Insert(bob)}},
		"sparse_present":     {op: "addTask", changes: []tables.Change{sparse.Insert(coded)}},
		"sparse_leaves":      {op: "editTask", changes: []tables.Change{sparse.Update(coded, bob)}},
		"expiring": {op: "addTask", changes: []tables.Change{taskSet(t, tables.ExpiresAt("ends")).
			Insert(ends)}},
		"one_attempt": {
			w: fakeWriter(nopExecutor{}, Retry(retry.Policy{MaxAttempts: 1}), Timeout(time.Second)), op: "createOrder",
			changes: []tables.Change{orders.Insert(open)},
		},
		"counters": {op: "viewPage", changes: []tables.Change{viewSet(t).Add(newView())}},
		"create_order_counters": {op: "createOrder", changes: []tables.Change{
			orders.Insert(open),
			viewSet(t).Add(newView()),
		}},
		"pay_order_counters": {op: "payOrder", changes: []tables.Change{
			orders.Update(open, paid),
			viewSet(t).Add(newView()),
		}},
		"no_change": {op: "nothing"},
		"patch":     {op: "putProduct", changes: []tables.Change{patched(t)}},
		"apart": {op: "addTask", changes: []tables.Change{mustSet[Task](t, "task",
			tables.Table{Name: "tasks", PartKey: []string{"owner"}, SortKey: []string{"task_id"}},
			tables.Table{Name: "task_log", Keyspace: "log", PartKey: []string{"owner"}, SortKey: []string{"task_id"}}).
			Insert(bob)}},
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
		tables.Table{
			Name: "carts_by_owner", Keyspace: "shop", PartKey: []string{"owner"}, SortKey: []string{"id"},
			Columns: []string{"note"},
		})
	return set.Patch(cart{ID: "1", Owner: "o"}, tables.Column("note"), tables.Without("products", "a"))
}

// Tables that could share requests but for one thing in their declaration are named with it, and no others: not those
// that share one, and not those of which only a query could tell.
func TestExplainApart(t *testing.T) {
	t.Parallel()
	type reading struct {
		Room, Sensor, ID string
		Bucket, Shard    int32
		Wide             int64
	}
	r := reading{Room: "r", Sensor: "s", ID: "2"}
	table := func(name, keyspace string, sortKey []string, partKey ...string) tables.Table {
		return tables.Table{Name: name, Keyspace: keyspace, PartKey: partKey, SortKey: sortKey}
	}
	id, sensor := []string{"id"}, []string{"sensor", "id"}
	for name, test := range map[string]struct {
		declared []tables.Option
		want     []string
	}{
		"another keyspace": {
			[]tables.Option{table("a", "shop", id, "room"), table("b", "depot", sensor, "room")},
			[]string{"a and b have partitions of their own: their partition keys are the same, their keyspaces are not (shop " +
				"and depot)"},
		},
		"another order": {
			[]tables.Option{table("a", "shop", id, "room", "sensor"), table("b", "shop", id, "sensor", "room")},
			[]string{"a and b have partitions of their own: their partition keys have the same columns in another order, " +
				"(room, sensor) and (sensor, room)"},
		},
		"another bucket": {
			[]tables.Option{
				table("a", "shop", id, "room", "bucket"), table("b", "shop", id, "room", "shard"),
				tables.Derive("bucket", tables.Hash(4, "id")), tables.Derive("shard", tables.Hash(8, "id")),
			},
			[]string{"a and b have partitions of their own: their partition keys differ in the bucket function alone, hash(4, " +
				"id) as int and hash(8, id) as int"},
		},
		"another type of bucket": {
			[]tables.Option{
				table("a", "shop", id, "room", "bucket"), table("b", "shop", id, "room", "wide"),
				tables.Derive("bucket", tables.Hash(4, "id")), tables.Derive("wide", tables.Hash(4, "id")),
			},
			[]string{"a and b have partitions of their own: their partition keys differ in the bucket function alone, hash(4, " +
				"id) as int and hash(4, id) as bigint"},
		},
		"a bucket of something else": {
			[]tables.Option{
				table("a", "shop", sensor, "room", "bucket"), table("b", "shop", sensor, "room", "shard"),
				tables.Derive("bucket", tables.Hash(4, "id")), tables.Derive("shard", tables.Hash(4, "sensor")),
			}, nil,
		},
		"a bucket under another name": {
			[]tables.Option{
				table("a", "shop", id, "room", "bucket"), table("b", "shop", id, "room", "shard"),
				table("c", "shop", []string{"room"}, "id"),
				tables.Derive("bucket", tables.Hash(4, "id")), tables.Derive("shard", tables.Hash(4, "id")),
			}, nil,
		},
		"two things": {
			[]tables.Option{table("a", "shop", id, "room", "sensor"), table("b", "depot", id, "sensor", "room")}, nil,
		},
		"other columns": {
			[]tables.Option{
				table("a", "shop", id, "room"), table("b", "shop", []string{"room", "id"}, "sensor"),
				table("c", "shop", id, "room", "sensor"),
			}, nil,
		},
		"one request": {
			[]tables.Option{table("a", "shop", id, "room"), table("b", "shop", sensor, "room")}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &fakeExecutor{}
			w, change := fakeWriter(x), mustSet[reading](t, "reading", test.declared...).Insert(r)
			plan, err := w.Explain("write", change)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(plan.Apart, test.want) {
				t.Errorf("%q, want %q", plan.Apart, test.want)
			}
			if _, err := w.Write(t.Context(), "write", change); err != nil {
				t.Fatal(err)
			}
			if alone := len(x.sent()) == 1; alone != (name == "one request") {
				t.Errorf("%d requests", len(x.sent()))
			}
		})
	}
}

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
	plain, logged, concurrent := fakeWriter(nopExecutor{}), fakeWriter(nopExecutor{}, Logged()),
		fakeWriter(nopExecutor{}, Concurrent())
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
		if death := lineOf(text, "client dies"); !strings.HasPrefix(death, "nothing ") ||
			strings.Contains(text, "all of the write is done") {
			t.Errorf("says more than holds:\n%s", text)
		}
		b.WriteString(text + "\n")
	}
	golden.Check(t, "after_condition.golden", b.String())
}

// Without a condition and without a batchlog, what a client leaves that dies lasts until each of the entities is
// written again, and some of it longer.
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
		if !strings.HasSuffix(lineOf(text, "client dies"), until) ||
			!strings.Contains(text, "a row that was to be removed may stay") {
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
