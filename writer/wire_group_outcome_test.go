package writer

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/explained"
	"github.com/denorm-go/denorm/internal/testutil/length"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// raw is an encoded value.
type raw []byte

func (r raw) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return r, nil }

// applyPart carries out those statements of a batch whose bit is set in subset, as a coordinator does that fails in the
// middle.
func (s *wireShop) applyPart(r cassandratest.Request, subset int) {
	for i, st := range r.Statements {
		if subset>>i&1 == 0 {
			continue
		}
		values := make([]any, len(st.Values))
		for n, v := range st.Values {
			values[n] = raw(v.Bytes)
		}
		go func() { _ = s.session.Query(st.Text, values...).Consistency(gocql.One).Exec() }()
	}
}

// sentByWriter says that a request is not one of applyPart.
var sentByWriter = cassandratest.Where(func(r cassandratest.Request) bool { return r.Consistency == gocql.LocalQuorum })

// groupKnown is what is known after one attempt of a group, where the first error comes before the first mutation and
// not between two.
func groupKnown(name string, f wireFault) wireKnown {
	if strings.HasPrefix(name, "unavailable") || name == "overloaded" {
		return maybe
	}
	return f.partition
}

// Every error and every lost answer of a group, with every subset of its mutations applied, and then every kind of
// error of one of the requests that it becomes: what is claimed of each table is what the attempts allow to say,
// neither more nor less.
func TestWireGroupOutcomes(t *testing.T) {
	t.Parallel()
	tally := &wireTally{}
	t.Cleanup(func() { tally.report(t) })
	const table = "orders_by_user"
	outcomes := func(nodes int, order func(*testing.T, *wireShop) Order) func(*testing.T, string, wireFault) {
		return func(t *testing.T, first string, fault wireFault) {
			t.Helper()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				s := openWireGroups(t, nodes, Timeout(time.Minute),
					Retry(retry.Policy{MaxAttempts: 2, MaxElapsedTime: time.Minute}))
				faults, group := wireFaults(), groupKnown(first, fault)
				subsets, thirds := 8, length.Of(t, 3)
				if group != maybe {
					subsets, thirds = 1, 3
				}
				for subset := range subsets {
					for i := range thirds { // of the second errors
						second := wireSeconds[(3*i+subset)%len(wireSeconds)]
						s.groupOutcome(t, tally, table, groupCase{
							change: orderSet(t).Insert(order(t, s)), first: fault, group: group, subset: subset, second: faults[second],
							say: fmt.Sprintf("%03b applied, then %s", subset, second),
						})
					}
				}
			})
		}
	}
	shared := outcomes(3, func(*testing.T, *wireShop) Order { return fresh() })
	joined := outcomes(6, func(t *testing.T, s *wireShop) Order { t.Helper(); return s.joined(t) })
	for first, fault := range wireFaults() {
		t.Run(first, func(t *testing.T) { t.Parallel(); shared(t, first, fault) })
		t.Run(first+", one has joined", func(t *testing.T) { t.Parallel(); joined(t, first, fault) })
	}
}

// groupCase is one write.
type groupCase struct {
	change        tables.Change
	first, second wireFault // of the group, and of the request to one table after it
	group         wireKnown
	subset        int
	say           string
}

func (s *wireShop) groupOutcome(t *testing.T, tally *wireTally, table string, c groupCase) {
	t.Helper()
	var made []wireKnown
	batch := s.When(cassandratest.Batch, sentByWriter).Choose(func(r cassandratest.Request) []cassandratest.Step {
		made = append(made, c.group)
		s.applyPart(r, c.subset)
		return append([]cassandratest.Step{cassandratest.Delay(5 * time.Millisecond)}, c.first.steps...)
	})
	alone := s.When(cassandratest.Execute, cassandratest.Table(table), sentByWriter).
		Choose(func(cassandratest.Request) []cassandratest.Step {
			made = append(made, c.second.partition)
			return c.second.steps
		})
	at := s.stamp()
	result, err := s.w.With(At(at)).Write(s.counted(t.Context()), "op", c.change)
	batch.End()
	alone.End()
	if batch.Handled() != 1 || result.Groups != 1 || result.Requests != 1 {
		t.Fatalf("%s: %d groups, %+v", c.say, batch.Handled(), result)
	}
	want := known(made)
	if (err == nil) != (want == Applied) && err == nil {
		t.Errorf("%s: error %v, want %v", c.say, err, want)
	}
	claims := map[string]TableResult{}
	if err != nil {
		for _, r := range asError(t, err).Tables {
			claims[r.Table] = r
		}
		wantConsistent(t, asError(t, err))
	}
	<-time.After(3 * time.Minute) // what comes late has come, what was cut is connected, and what left the groups is back
	for range 5 {                 // and nodes that did not answer come back into rotation
		if _, err := s.w.With(Group(0)).Write(t.Context(), "op", orderSet(t).Insert(fresh())); err != nil {
			t.Fatal(err)
		}
	}
	for part, statements := range statementsOf(t, c.change) {
		claim := claims[part]
		if err == nil {
			claim.Outcome, claim.Attempts = Applied, len(made)
		}
		if applied := s.ledger.has(part, at); !tally.judge(claim.Outcome, applied, statements) {
			t.Errorf("%s: %s is claimed to be %v, and of %d statements %d were applied", c.say, part, claim.Outcome, statements,
				applied)
		}
		switch {
		case part == table:
			if claim.Outcome != want || claim.Attempts != len(made) {
				t.Errorf("%s: %s is %v after %d attempts, want %v after %d: %v", c.say, part, claim.Outcome, claim.Attempts, want,
					len(made), err)
			}
		case claim.Outcome != Applied && (claim.Outcome != Unknown || claim.Attempts != 2):
			// it may lose its answer with the connection
			t.Errorf("%s: %s, which is not at fault, is %v after %d attempts", c.say, part, claim.Outcome, claim.Attempts)
		}
	}
}

// shelvedSet is Versioned, and has two query tables.
func shelvedSet(tb testing.TB) *tables.Set[Piece] {
	tb.Helper()
	return mustSet[Piece](tb, "item",
		tables.Table{Name: "items", PartKey: []string{"item_id"}},
		tables.Table{Name: "items_by_shelf", PartKey: []string{"shelf"}, SortKey: []string{"item_id"}},
		tables.Table{Name: "items_by_count", PartKey: []string{"count"}, SortKey: []string{"item_id"}},
		tables.Versioned("version"),
	)
}

// openWireItems opens a shop that has the tables of shelvedSet too, and whose writer groups.
func openWireItems(t *testing.T, options ...NewOption) (*wireShop, *tables.Set[Piece]) {
	t.Helper()
	s, set := openWireGroups(t, 3, options...), shelvedSet(t)
	s.Create(schema.Must(schema.Declare(schema.Sets(set))).In(map[string]string{"": "shop"}).Statements()...)
	if err := s.w.Warm(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	return s, set
}

// freshItem is one of no partition that another one has, but that of its count.
func freshItem(count int32) Piece {
	id := gocql.TimeUUID()
	return Piece{ItemID: id, Shelf: "of " + id.String(), Count: count}
}

// pending is whether the row of an item does not say that its last change is done.
func (s *wireShop) pending(t *testing.T, id gocql.UUID) bool {
	t.Helper()
	var version, done gocql.UUID
	if err := s.session.Query("SELECT version, done FROM shop.items WHERE item_id = ?", id).Consistency(gocql.All).
		Scan(&version, &done); err != nil {
		t.Fatal(err)
	}
	return version != done
}

// places are the rows of an item in a query table.
func (s *wireShop) places(t *testing.T, table string, id gocql.UUID) (rows []Piece) {
	t.Helper()
	iter := s.session.Query("SELECT item_id, shelf, count, version FROM shop." + table).Consistency(gocql.All).Iter()
	for p := (Piece{}); iter.Scan(&p.ItemID, &p.Shelf, &p.Count, &p.Version); p = (Piece{}) {
		if p.ItemID == id {
			rows = append(rows, p)
		}
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// After its transaction the query tables of a Versioned set travel in one group, and the entry that says what is left
// goes after that. Nothing of it is sent if the condition does not hold.
func TestWireGroupAfterACondition(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s, set := openWireItems(t)
		before := freshItem(1)
		write := func(change tables.Change, partitions int) Result {
			from := len(s.Journal())
			result, err := s.w.Write(t.Context(), "changeItem", change)
			if err != nil || s.w.Wait(t.Context()) != nil {
				t.Fatal(err)
			}
			sent := s.writes(from)
			if len(sent) != 3 || sent[0].Serial == 0 || sent[1].Serial != 0 || len(sent[1].Statements) != partitions ||
				sent[1].Logged ||
				!sent[2].On("items") {
				t.Errorf("sent %v", sent)
			}
			if result.Mode != Conditional || result.Requests != 2 || result.Groups != 1 || result.Attempts != 2 {
				t.Errorf("%+v", result)
			}
			return result
		}
		before.Version = write(set.Insert(before), 2).Version
		after := before
		after.Shelf, after.Count = "another", 2
		after.Version = write(set.Update(before, after), 4).Version // to two places and away from two
		for _, table := range []string{"items_by_shelf", "items_by_count"} {
			if rows := s.places(t, table, after.ItemID); len(rows) != 1 || rows[0] != after {
				t.Errorf("%s: %+v, want %+v", table, rows, after)
			}
		}
		from := len(s.Journal())
		if _, err := s.w.Write(t.Context(), "changeItem", set.Update(before, after)); !errors.Is(err, ErrConflict) {
			t.Errorf("an old before-image: %v", err)
		}
		if slices.ContainsFunc(s.writes(from), func(r cassandratest.Request) bool {
			return r.On("items_by_shelf") || r.On("items_by_count")
		}) {
			t.Errorf("sent %v", s.writes(from))
		}
	})
}

// Every error and every lost answer of such a group, with every subset of it applied, and then every kind of error of a
// request that it becomes: query tables without an answer are Pending, whatever their own requests say, the entry stays
// as long as they are, and a Resume of the stored error, or the next change of the entity, finishes them.
func TestWireGroupOutcomesAfterACondition(t *testing.T) {
	t.Parallel()
	for first, fault := range wireFaults() {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				s, set := openWireItems(t, Timeout(time.Minute), Retry(retry.Policy{MaxAttempts: 2, MaxElapsedTime: time.Minute}))
				faults, group := wireFaults(), groupKnown(first, fault)
				subsets := 4
				if group != maybe {
					subsets = 1
				}
				for n := range wireSeconds {
					subset, second := n%subsets, wireSeconds[n]
					s.groupAfterACondition(t, set, groupCase{
						first: fault, group: group, subset: subset, second: faults[second], say: fmt.Sprintf("%02b applied, then %s",
							subset, second),
					}, n)
				}
			})
		})
	}
}

// groupAfterACondition makes the n-th write, of an item of its own.
func (s *wireShop) groupAfterACondition(t *testing.T, set *tables.Set[Piece], c groupCase, n int) {
	t.Helper()
	const table, other = "items_by_shelf", "items_by_count"
	group := s.When(cassandratest.Batch, cassandratest.Table(table), sentByWriter).
		Choose(func(r cassandratest.Request) []cassandratest.Step {
			s.applyPart(r, c.subset)
			return append([]cassandratest.Step{cassandratest.Delay(5 * time.Millisecond)}, c.first.steps...)
		})
	alone := s.When(cassandratest.Execute, cassandratest.Table(table), sentByWriter).
		Choose(func(cassandratest.Request) []cassandratest.Step {
			return c.second.steps
		})
	item := freshItem(int32(n))
	result, err := s.w.Write(t.Context(), "addItem", set.Insert(item))
	group.End()
	alone.End()
	made := []wireKnown{c.group}
	if alone.Handled() > 0 {
		made = append(made, c.second.partition)
	}
	if group.Handled() != 1 || alone.Handled() > 1 || result.Groups != 1 || result.Requests != 2 {
		t.Fatalf("%s: %d groups, %+v", c.say, group.Handled(), result)
	}
	if err := s.w.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[string]Outcome{"items": Applied, table: Pending, other: Applied}
	if known(made) == Applied {
		want[table] = Applied
	}
	got := map[string]Outcome{"items": Applied, table: Applied, other: Applied}
	if err != nil {
		wantConsistent(t, asError(t, err))
		got = outcomes(asError(t, err))
		if got[other] == Pending { // it may lose its answer with the connection
			want[other] = Pending
		}
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s is %v, want %v: %v", c.say, name, got[name], want[name], err)
		}
	}
	<-time.After(3 * time.Minute) // what comes late has come, what was cut is connected, and what left the groups is back
	for range 5 {                 // and nodes that did not answer come back into rotation
		if _, err := s.w.With(Group(0)).Write(t.Context(), "op", orderSet(t).Insert(fresh())); err != nil {
			t.Fatal(err)
		}
	}
	item.Version = result.Version
	for _, name := range []string{table, other} {
		if rows := s.places(t, name, item.ItemID); got[name] == Applied && (len(rows) != 1 || rows[0] != item) {
			t.Errorf("%s: %s is claimed to be applied, and has %+v", c.say, name, rows)
		}
	}
	if s.pending(t, item.ItemID) != (err != nil) {
		t.Errorf("%s: unfinished: %v, after %v", c.say, err == nil, err)
	}
	if err != nil {
		s.finishItem(t, set, &item, asError(t, err), n%2 == 0)
	}
	if s.pending(t, item.ItemID) {
		t.Errorf("%s: unfinished after all is finished", c.say)
	}
	for _, name := range []string{table, other} {
		if rows := s.places(t, name, item.ItemID); len(rows) != 1 || rows[0] != item {
			t.Errorf("%s: in the end %s has %+v, want %+v", c.say, name, rows, item)
		}
	}
}

// finishItem finishes the insert of an item, by a Resume of the stored error or by the next change.
func (s *wireShop) finishItem(t *testing.T, set *tables.Set[Piece], item *Piece, failed *Error, resume bool) {
	t.Helper()
	if resume {
		data, err := failed.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var stored Error
		if err := stored.UnmarshalBinary(data); err != nil || !bytes.Contains(data, []byte("items_by_shelf")) {
			t.Fatal(err)
		}
		from := len(s.Journal())
		if result, err := s.w.Resume(t.Context(), &stored); err != nil || result.Groups != 0 ||
			result.Version != item.Version {
			t.Errorf("resumed: %+v, %v, sent %v", result, err, s.writes(from))
		}
	} else {
		after := *item
		after.Shelf = "next"
		result, err := s.w.Write(t.Context(), "moveItem", set.Update(*item, after))
		if err != nil || result.Groups != 1 {
			t.Errorf("the next change: %+v, %v", result, err)
		}
		after.Version = result.Version
		*item = after
	}
	if err := s.w.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Explain says that the query tables travel together after the condition.
func TestWireExplainGroupAfterACondition(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s, set := openWireItems(t)
		from := len(s.Journal())
		plan, err := explained.Of(s.w.explain("addItem", set.Insert(freshItem(1))))
		if err != nil || len(s.writes(from)) > 0 {
			t.Fatalf("%v, sent %v", err, s.writes(from))
		}
		if want := "2 of 2 partitions share a replica that is up now"; plan.Grouped != want || len(plan.Requests) != 1 {
			t.Errorf("%q in %d requests", plan.Grouped, len(plan.Requests))
		}
	})
}

// through gives a writer that groups and knows of one node alone.
func (s *wireShop) through(t *testing.T, node int) *Writer {
	t.Helper()
	cluster := session.Configure(s.Config(), "dc1")
	cluster.Keyspace = "shop"
	cluster.Hosts = []string{s.Node(node).Address()}
	cluster.HostFilter = gocql.WhiteListHostFilter(s.Node(node).Address())
	narrow, err := session.Connect(cluster)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(narrow.Close)
	w, err := newOf(narrow, Group(groupBytes))
	if err != nil {
		t.Fatal(err)
	}
	<-time.After(time.Second)
	if err := w.Warm(t.Context(), orderSet(t)); err != nil {
		t.Fatal(err)
	}
	return w
}

// has says in which tables an order is, with the timestamp of a write, when all nodes are asked.
func (s *wireShop) has(t *testing.T, o Order, at int64) map[string]bool {
	t.Helper()
	has := make(map[string]bool)
	for table, where := range map[string]string{
		"orders_by_id": "order_id = ?", "orders_by_user": "user_id = ? AND order_id = ?",
		"orders_by_status": "status = ? AND order_id = ?",
	} {
		keys := map[string][]any{
			"orders_by_id": {o.OrderID}, "orders_by_user": {o.UserID, o.OrderID},
			"orders_by_status": {string(o.Status), o.OrderID},
		}
		var stamp int64
		err := s.session.Query("SELECT updated_at FROM shop."+table+" WHERE "+where, keys[table]...).Consistency(gocql.All).
			Scan(&stamp)
		if err != nil && err != gocql.ErrNotFound { //nolint:errorlint // gocql returns it as it is
			t.Fatal(err)
		}
		has[table] = err == nil && stamp == at
	}
	return has
}

// open is how many groups the node has got, and not answered.
func (s *wireShop) open(node, from int) (n int) {
	for _, r := range s.writes(from) {
		if r.Node == node && len(r.Statements) > 1 && !slices.ContainsFunc(r.Steps, func(step string) bool {
			return step == "answer" || strings.HasPrefix(step, "fail") || strings.HasPrefix(step, "code")
		}) {
			n++
		}
	}
	return n
}

// A node is killed while it coordinates groups that it has not answered: before it has sent a mutation of them, after
// one part, or after all. Of a writer that knows no other node all tables are Unknown then, and that is true whatever
// they have; what was acknowledged before is there. A Resume by another writer completes all of them. A writer that
// knows the other nodes acknowledges all by itself.
func TestWireGroupWhoseNodeIsKilled(t *testing.T) {
	t.Parallel()
	const coordinator, writers = 1, 8
	for name, sent := range map[string]struct {
		steps       []cassandratest.Step
		least, most int // tables that have an order that nobody has resumed
	}{
		"before any mutation is sent":  {nil, 0, 0},
		"after some, to all replicas":  {[]cassandratest.Step{cassandratest.ApplyAt(1, 2, 3)}, 1, 2},
		"after some, to one replica":   {[]cassandratest.Step{cassandratest.ApplyAt(2)}, 1, 2},
		"after all, before the answer": {[]cassandratest.Step{cassandratest.Apply}, 3, 3},
	} {
		for _, client := range []string{"not resumed", "resumed", "with other nodes"} {
			t.Run(name+", "+client, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					unwind(t)
					s := openWireGroups(t, 3)
					w := s.w
					if client != "with other nodes" {
						w = s.through(t, coordinator)
					}
					acknowledged, stamps := make([]Order, writers), make([]int64, writers)
					for n := range acknowledged {
						acknowledged[n] = fresh()
						result, err := w.Write(t.Context(), "createOrder", orderSet(t).Insert(acknowledged[n]))
						if err != nil || result.Groups != 1 {
							t.Fatalf("%+v, %v", result, err)
						}
						stamps[n] = result.Timestamp
					}
					from := len(s.Journal())
					s.When(cassandratest.Batch, cassandratest.On(coordinator)).
						Do(append(slices.Clone(sent.steps), cassandratest.Drop)...)
					time.AfterFunc(100*time.Millisecond, s.Node(coordinator).Stop)
					orders, results, failed := make([]Order, writers), make([]Result, writers), make([]error, writers)
					var all sync.WaitGroup
					for n := range orders {
						orders[n] = fresh()
						all.Go(func() { results[n], failed[n] = w.Write(t.Context(), "createOrder", orderSet(t).Insert(orders[n])) })
					}
					all.Wait()
					open := s.open(coordinator, from)
					if open == 0 || client != "with other nodes" && open != writers {
						t.Fatalf("%d groups were open when the node was killed", open)
					}
					s.Node(coordinator).Restore()
					<-time.After(time.Minute) // hints have come
					for n := range orders {
						if has := s.has(t, acknowledged[n], stamps[n]); len(has) != 3 || slices.Contains(slices.Collect(maps.Values(has)),
							false) {
							t.Errorf("an order that was acknowledged before is in %v", has)
						}
						s.judgeKilled(t, orders[n], results[n], failed[n], client, sent.least, sent.most)
					}
				})
			})
		}
	}
}

// judgeKilled compares what was told of a write whose node was killed with the tables.
func (s *wireShop) judgeKilled(t *testing.T, o Order, result Result, err error, client string, least, most int) {
	t.Helper()
	if client == "with other nodes" {
		if err != nil {
			t.Errorf("%v", err)
		}
		least, most = 3, 3
	} else {
		e := asError(t, err)
		for _, r := range e.Tables {
			if r.Outcome != Unknown {
				t.Errorf("%s is %v: %v", r.Table, r.Outcome, err)
			}
		}
		if client == "resumed" {
			if again, err := s.w.Resume(t.Context(), e); err != nil || again.Timestamp != result.Timestamp {
				t.Errorf("resumed: %+v, %v", again, err)
			}
			least, most = 3, 3
		}
	}
	n := 0
	has := s.has(t, o, result.Timestamp)
	for _, is := range has {
		if is {
			n++
		}
	}
	if n < least || n > most {
		t.Errorf("the order is in %d tables, want %d to %d: %v", n, least, most, has)
	}
}
