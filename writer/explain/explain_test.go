package explain

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/internal/explained"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/internal/testutil/shop"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

// newWriter is a writer of keyspace shop in a cluster without tables.
func newWriter(t *testing.T, options ...writer.NewOption) *writer.Writer {
	t.Helper()
	cluster := cassandratest.Start(t, 1)
	cluster.Create("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	return open(t, cluster, options...)
}

func open(t *testing.T, cluster *cassandratest.Cluster, options ...writer.NewOption) *writer.Writer {
	t.Helper()
	config := cluster.Config()
	config.Keyspace = "shop"
	s, err := session.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	w, err := writer.New(s, options...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// textOf is what is said of a write. It sends nothing, as there are no tables.
func textOf(t *testing.T, w *writer.Writer, op string, changes ...tables.Change) string {
	t.Helper()
	text, err := Write(w, op, changes...)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Someone who sees only a golden file must be able to say how many requests go out, what is atomic, what a reader may
// see, and what the limits are.
func TestExplain(t *testing.T) {
	t.Parallel()
	plain, orders, notes := newWriter(t), shop.Orders(), noteSet(t)
	open, paid := move()
	bob := newTask("bob")
	ends := bob
	ends.Ends = ptr(time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC))
	coded := bob
	coded.Code = ptr("a")
	single := taskSet(t, tables.SingleWriter("owner"))
	sparse := taskSet(t, tables.Table{Name: "tasks_by_code", PartKey: []string{"code"}, SortKey: []string{"task_id"}},
		tables.SingleWriter("code"))
	for name, test := range map[string]struct {
		w       *writer.Writer
		op      string
		changes []tables.Change
	}{
		"create_order": {op: "createOrder", changes: []tables.Change{orders.Insert(open)}},
		"create_order_logged": {
			w: newWriter(t, writer.Logged()), op: "createOrder",
			changes: []tables.Change{orders.Insert(open)},
		},
		"create_order_concurrent": {
			w: newWriter(t, writer.Concurrent()), op: "createOrder",
			changes: []tables.Change{orders.Insert(open)},
		},
		"create_order_atomic": {op: "createOrder", changes: []tables.Change{shop.Orders(tables.Atomic()).Insert(open)}},
		"pay_order":           {op: "payOrder", changes: []tables.Change{orders.Update(open, paid)}},
		"pay_order_concurrent": {
			w: newWriter(t, writer.Concurrent()), op: "payOrder",
			changes: []tables.Change{orders.Update(open, paid)},
		},
		"cancel_order": {op: "cancelOrder", changes: []tables.Change{orders.Delete(open)}},
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
			w: newWriter(t, writer.Retry(retry.Policy{MaxAttempts: 1}), writer.Timeout(time.Second)), op: "createOrder",
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
			w := test.w
			if w == nil {
				w = plain
			}
			golden.Check(t, name+".golden", textOf(t, w, test.op, test.changes...))
		})
	}
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

// While the batchlog is not trusted, the statements of a logged batch are sent as a fan-out.
func TestFallback(t *testing.T) {
	t.Parallel()
	open, paid := move()
	made, err := explained.Of(newWriter(t, writer.Concurrent()).Internal().Explain("payOrder", shop.Orders().Update(open, paid)))
	if err != nil {
		t.Fatal(err)
	}
	made.Reason = "deletes in several partitions, but the batchlog has failed and is not trusted yet"
	golden.Check(t, "pay_order_fallback.golden", (&plan{Plan: made, mode: writer.Fallback}).text())
}

// Tables that could share requests but for one thing in their declaration are named with it, and no others: not those
// that share one, and not those of which only a query could tell.
func TestApart(t *testing.T) {
	t.Parallel()
	type reading struct {
		Room, Sensor, ID string
		Bucket, Shard    int32
		Wide             int64
	}
	w := newWriter(t)
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
			change := mustSet[reading](t, "reading", test.declared...).Insert(r)
			if got := apart([]tables.Change{change}, w.Internal().Physical); !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
			plan, err := explained.Of(w.Internal().Explain("write", change))
			if alone := err == nil && len(plan.Requests) == 1; alone != (name == "one request") {
				t.Errorf("%+v, %v", plan, err)
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
	plain, logged, concurrent := newWriter(t), newWriter(t, writer.Logged()),
		newWriter(t, writer.Concurrent())
	var b strings.Builder
	for _, test := range []struct {
		w       *writer.Writer
		mode    writer.Mode
		changes []tables.Change
	}{
		{plain, writer.Single, []tables.Change{unique.Update(old, moved), log.Insert(bob)}},
		{plain, writer.Single, []tables.Change{seatSet(t).Insert(old), log.Insert(bob)}},
		{plain, writer.SamePartition, []tables.Change{unique.Insert(old), note}},
		{plain, writer.LoggedBatch, []tables.Change{itemSet(t).Insert(old), note}},
		{concurrent, writer.FanOut, []tables.Change{itemSet(t).Update(old, moved), note}},
		{logged, writer.Single, []tables.Change{itemSet(t).Insert(old)}}, // its query table
		{plain, writer.Conditional, []tables.Change{itemSet(t).Insert(old), viewSet(t).Add(newView())}},
	} {
		text := textOf(t, test.w, "changeItem", test.changes...)
		if !strings.HasPrefix(lineOf(text, "mode"), test.mode.String()+":") || !strings.HasPrefix(lineOf(text, "atomic"), "the condition with ") {
			t.Errorf("want %v:\n%s", test.mode, text)
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
	w := newWriter(t, writer.Concurrent())
	for _, changes := range [][]tables.Change{
		{single.Update(newTask("bob"), newTask("eve"))}, {shop.Orders().Update(open, paid), noteSet(t).Insert(newNote())},
	} {
		text, until := textOf(t, w, "move", changes...), "until the entity is written again"
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

// Explain says of a versioned write that a condition comes first, however few requests follow.
func TestConditions(t *testing.T) {
	t.Parallel()
	w := newWriter(t, writer.Retry(retry.Policy{MaxAttempts: 3}))
	var b strings.Builder
	for _, changes := range [][]tables.Change{
		{itemSet(t).Insert(newItem())},
		{itemSet(t).Delete(newItem())},
		{seatSet(t).Insert(newItem())},
		{benchSet(t).Insert(bench{Hall: "a", Seat: 1}), benchSet(t).Delete(bench{Hall: "a", Seat: 2})},
		{itemSet(t).Insert(newItem()), shop.Orders().Insert(newOrder(orders.Open))},
	} {
		b.WriteString(textOf(t, w, "changeItem", changes...) + "\n")
	}
	golden.Check(t, "conditions.golden", b.String())
}

// The texts of transactions, and what is said of them.
func TestTransactions(t *testing.T) {
	t.Parallel()
	w, items, before := newWriter(t), transactionalItems(t), newItem()
	moved, other := before, before // which takes the shelf that moved gives up
	moved.Shelf, moved.Count = "b", 9
	other.ItemID = mustUUID("d2b6a2f0-5b1c-4c1e-9a51-0123456789ac")
	var b strings.Builder
	for _, changes := range [][]tables.Change{
		{items.Insert(before)},
		{items.Update(before, moved)},
		{items.Delete(before)},
		{items.Update(before, moved), items.Insert(other)},
	} {
		b.WriteString(textOf(t, w, "changeItem", changes...) + "\n")
	}
	golden.Check(t, "transactions.golden", b.String())
}

// What travels together is said, and why not.
func TestGroups(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, cluster *cassandratest.Cluster) {
		items := mustSet[Piece](t, "item",
			tables.Table{Name: "items", PartKey: []string{"item_id"}},
			tables.Table{Name: "items_by_shelf", PartKey: []string{"shelf"}, SortKey: []string{"item_id"}},
			tables.Table{Name: "items_by_count", PartKey: []string{"count"}, SortKey: []string{"item_id"}},
			tables.Versioned("version"))
		sets := []tables.Described{shop.Orders(), items}
		cluster.Create(schema.Must(schema.Declare(schema.Sets(sets...))).In(map[string]string{"": "shop"}).Statements()...)
		w := open(t, cluster, writer.Group(4<<10))
		<-time.After(time.Second) // the pools are full, and keyspaces known
		if err := w.Warm(t.Context(), sets...); err != nil {
			t.Fatal(err)
		}
		open, paid := move()
		item := newItem()
		item.Version = [16]byte{}
		for name, test := range map[string]struct {
			w      *writer.Writer
			op     string
			change tables.Change
		}{
			"create_order_grouped":     {w, "op", shop.Orders().Insert(open)},
			"create_order_no_retry":    {w.With(writer.Retry(retry.Policy{MaxAttempts: 1})), "op", shop.Orders().Insert(open)},
			"pay_order_grouped":        {w.With(writer.Concurrent()), "op", shop.Orders().Update(open, paid)},
			"pay_order_logged_grouped": {w, "op", shop.Orders().Update(open, paid)},
			"add_item_grouped":         {w, "addItem", items.Insert(item)},
		} {
			golden.Check(t, name+".golden", textOf(t, test.w, test.op, test.change))
		}
	})
}
