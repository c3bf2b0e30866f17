package writer

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/session"
	"github.com/gocql/gocql"
)

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
		"orders_by_id": "order_id = ?", "orders_by_user": "user_id = ? AND order_id = ?", "orders_by_status": "status = ? AND order_id = ?",
	} {
		keys := map[string][]any{"orders_by_id": {o.OrderID}, "orders_by_user": {o.UserID, o.OrderID}, "orders_by_status": {string(o.Status), o.OrderID}}
		var stamp int64
		err := s.session.Query("SELECT updated_at FROM shop."+table+" WHERE "+where, keys[table]...).Consistency(gocql.All).Scan(&stamp)
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

// A node is killed while it coordinates groups that it has not answered: before it has sent a mutation of them, after one part, or after all.
// Of a writer that knows no other node all tables are Unknown then, and that is true whatever they have; what was acknowledged before is there. A
// Resume by another writer completes all of them. A writer that knows the other nodes acknowledges all by itself.
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
					s.When(cassandratest.Batch, cassandratest.On(coordinator)).Do(append(slices.Clone(sent.steps), cassandratest.Drop)...)
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
						if has := s.has(t, acknowledged[n], stamps[n]); len(has) != 3 || slices.Contains(slices.Collect(maps.Values(has)), false) {
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
