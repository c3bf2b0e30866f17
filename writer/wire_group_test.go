package writer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/explained"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

const groupBytes = 4 << 10

// openWireGroups opens a shop whose writer groups, when the pools are full and keyspaces and schema are known.
func openWireGroups(t *testing.T, nodes int, options ...NewOption) *wireShop {
	t.Helper()
	s := openWire(t, cassandratest.Start, nodes, append([]NewOption{Group(groupBytes)}, options...)...)
	<-time.After(time.Second)
	if err := s.w.Warm(t.Context(), orderSet(t), noteSet(t)); err != nil {
		t.Fatal(err)
	}
	return s
}

// replicasOf are the replicas of the partition that a statement writes to.
func (s *wireShop) replicasOf(r cassandratest.Statement) []int {
	keys := map[string]string{"orders_by_id": "order_id", "orders_by_user": "user_id", "orders_by_status": "status"}
	v, _ := r.Value(keys[r.Table])
	return s.Replicas(r.Keyspace, v.Bytes)
}

// common are the nodes that are replicas of an order in all tables.
func (s *wireShop) common(t *testing.T, o Order) (nodes []int) {
	t.Helper()
	nodes = s.Replicas("shop", o.OrderID.Bytes())
	for _, key := range [][]byte{o.UserID.Bytes(), []byte(o.Status)} {
		replicas := s.Replicas("shop", key)
		nodes = slices.DeleteFunc(nodes, func(n int) bool { return !slices.Contains(replicas, n) })
	}
	return nodes
}

// joined is an order of which two partitions share a replica, and the third joins them.
func (s *wireShop) joined(t *testing.T) Order {
	t.Helper()
	const two = "3 of 3 partitions are in groups: 2 that share a replica that is up now, and 1 with other replicas"
	for range 1000 {
		o := fresh()
		if plan, err := explained.Of(s.w.explain("op", orderSet(t).Insert(o))); err != nil {
			t.Fatal(err)
		} else if plan.Grouped == two {
			return o
		}
		<-time.After(100 * time.Millisecond) // a pause ends
	}
	t.Fatal("of no order one partition joins")
	return Order{}
}

// Requests are sent together to a node that is a replica of two of them at least, and so is the third with three
// replicas: on three nodes always, on more where two share one. With one replica only those that have the same are sent
// together.
func TestWireGroups(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ nodes, replicas, least, most int }{ // requests of 60 writes of three partitions
		{nodes: 3, replicas: 3, least: 60, most: 60},
		{nodes: 6, replicas: 3, least: 60, most: 60},   // of three partitions two share a node on up to eight
		{nodes: 12, replicas: 3, least: 61, most: 120}, // of one in seven no two share a node
		{nodes: 12, replicas: 1, least: 150, most: 180},
	} {
		t.Run(fmt.Sprintf("%d nodes, %d replicas", test.nodes, test.replicas), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				s := openWire(t, cassandratest.Start, test.nodes, Group(groupBytes))
				s.Create(fmt.Sprintf(`ALTER KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': %d}`,
					test.replicas))
				<-time.After(10 * time.Second) // keyspaces are read again
				if err := s.w.Warm(t.Context(), orderSet(t)); err != nil {
					t.Fatal(err)
				}
				requests, coordinators, told := 0, make(map[int]int), make(map[string]int)
				for range 60 {
					o := fresh()
					plan, err := explained.Of(s.w.explain("createOrder", orderSet(t).Insert(o)))
					if err != nil {
						t.Fatal(err)
					}
					told[plan.Grouped]++
					from := len(s.Journal())
					result, err := s.w.Write(t.Context(), "createOrder", orderSet(t).Insert(o))
					if err != nil || result.Mode != FanOut || result.Requests != len(plan.Requests) {
						t.Fatalf("%+v, %v, planned in %d requests", result, err, len(plan.Requests))
					}
					sent, groups := s.writes(from), 0
					for _, r := range sent {
						if len(r.Statements) > 1 {
							groups++
							coordinators[r.Node]++
							if r.Logged {
								t.Error("a logged batch")
							}
						}
						elsewhere := 0
						for _, st := range r.Statements {
							if at, _ := st.Value("[timestamp]"); !slices.Equal(at.Bytes, be(result.Timestamp)) {
								t.Errorf("timestamp %x, want %x", at.Bytes, be(result.Timestamp))
							}
							if replicas := s.replicasOf(st); !slices.Contains(replicas, r.Node) {
								elsewhere++
							}
						}
						if elsewhere > 1 || elsewhere == 1 && (len(r.Statements) < 3 || test.replicas < 3) {
							t.Errorf("%d of %v to node %d, which is no replica", elsewhere, r.Statements, r.Node)
						}
					}
					if result.Requests != len(sent) || result.Attempts != len(sent) || result.Groups != groups {
						t.Errorf("%+v, sent %v", result, sent)
					}
					requests += len(sent)
				}
				t.Logf("%d requests, groups by coordinator %v", requests, coordinators)
				if requests < test.least || requests > test.most {
					t.Errorf("%d requests", requests)
				}
				joins := told["3 of 3 partitions are in groups: 2 that share a replica that is up now, and 1 with other "+
					"replicas"] > 0
				if want := test.nodes > 3 && test.replicas == 3; joins != want {
					t.Errorf("explained as %v", told)
				}
				if test.nodes == 3 {
					for n := 1; n <= 3; n++ {
						if coordinators[n] < 8 {
							t.Errorf("node %d coordinates %d of 60 groups", n, coordinators[n])
						}
					}
				}
			})
		})
	}
}

// What is in no group.
func TestWireUngrouped(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options []Option
		more    int // orders, beside one
		want    int // requests
	}{
		"off":         {options: []Option{Group(0)}, want: 3},
		"on":          {want: 1},
		"one attempt": {options: []Option{once()}, want: 3},
		"too many":    {options: []Option{Concurrent()}, more: 5, want: 2}, // 13 partitions, of which one has six rows
		"too large":   {options: []Option{Concurrent(), Group(1 << 10)}, more: 5, want: 4},
		"hedged":      {options: []Option{Hedge(time.Second)}, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				s := openWireGroups(t, 3)
				from := len(s.Journal())
				changes := []tables.Change{orderSet(t).Insert(fresh())}
				for range test.more {
					changes = append(changes, orderSet(t).Insert(fresh()))
				}
				if _, err := s.w.With(test.options...).Write(t.Context(), "op", changes...); err != nil {
					t.Fatal(err)
				}
				if sent := s.writes(from); len(sent) != test.want {
					t.Errorf("%d requests, want %d: %v", len(sent), test.want, sent)
				}
			})
		})
	}
}

// Tables with a view are in no group: a writer looks at the schema in the background once a minute, and goes by what it
// knows. What it has not seen is in no group.
func TestWireGroupsAndViews(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireGroups(t, 3)
		if _, sent, err := s.create(t, s.w); err != nil || len(sent) != 1 {
			t.Fatalf("%v, %v", sent, err)
		}
		s.Create(`CREATE MATERIALIZED VIEW shop.big_orders AS SELECT * FROM shop.orders_by_user
			WHERE user_id IS NOT NULL AND order_id IS NOT NULL PRIMARY KEY (order_id, user_id)`)
		<-time.After(liveAge)
		if _, _, err := s.create(t, s.w); err != nil { // which looks
			t.Fatal(err)
		}
		<-time.After(request.LeastSilence)
		if result, sent, err := s.create(t, s.w); err != nil || len(sent) != 2 || result.Requests != 2 || result.Groups != 1 {
			t.Errorf("%+v, %v, %v", result, sent, err)
		}
	})
}

// A writer that cannot read the schema groups nothing and waits for nothing: a call with little time is as without
// groups. What it could not read it reads later.
func TestWireGroupsWithoutASchema(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireGroups(t, 3)
		w, err := newOf(s.session, Group(groupBytes))
		if err != nil {
			t.Fatal(err)
		}
		silent := s.When(cassandratest.Table("system_schema.tables")).Do(cassandratest.Drop)
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		defer cancel()
		from, begin := len(s.Journal()), time.Now()
		result, err := w.Write(ctx, "op", orderSet(t).Insert(fresh()))
		if sent := s.writes(from); err != nil || len(sent) != 3 || result.Groups != 0 ||
			time.Since(begin) > 10*time.Millisecond {
			t.Errorf("schema not read: %+v, %v, %v after %v", result, sent, err, time.Since(begin))
		}
		<-time.After(liveAge)
		silent.End()
		for i, want := range []int{3, 1} {
			if _, sent, err := s.create(t, w); err != nil || len(sent) != want {
				t.Errorf("schema is there, write %d: %v, %v", i+1, sent, err)
			}
			<-time.After(request.LeastSilence)
		}
	})
}

// A call that has ended keeps no table out of groups for others.
func TestWireGroupsAfterACallThatEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireGroups(t, 3)
		w, err := newOf(s.session, Group(groupBytes))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := w.Write(ctx, "op", orderSet(t).Insert(fresh())); err == nil {
			t.Error("no error")
		}
		<-time.After(request.LeastSilence)
		if _, sent, err := s.create(t, w); err != nil || len(sent) != 1 {
			t.Errorf("%v, %v", sent, err)
		}
	})
}

// Explain says what travels together, and why not.
func TestWireExplainGroups(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireGroups(t, 3)
		open, paid := move()
		for name, test := range map[string]struct {
			w       *Writer
			change  tables.Change
			grouped string
			groups  int
		}{
			"create": {s.w, orderSet(t).Insert(open), "3 of 3 partitions share a replica that is up now", 1},
			"no retry": {
				s.w.With(once()), orderSet(t).Insert(open),
				"none: a failed group is sent again as single requests, and the retry policy allows one attempt", 0,
			},
			"pay":    {s.w.With(Concurrent()), orderSet(t).Update(open, paid), "6 of 6 partitions share a replica that is up now", 1},
			"logged": {s.w, orderSet(t).Update(open, paid), "none: only requests of a fan-out can be grouped", 0},
		} {
			from := len(s.Journal())
			plan, err := explained.Of(test.w.explain("op", test.change))
			if err != nil || plan.Grouped != test.grouped {
				t.Fatalf("%s: %q, %v", name, plan.Grouped, err)
			}
			if sent := s.writes(from); len(sent) > 0 {
				t.Errorf("%s: sent %v", name, sent)
			}
			if result, err := test.w.Write(t.Context(), "op", test.change); err != nil ||
				result.Requests != len(plan.Requests) || result.Groups != test.groups {
				t.Errorf("%s: %+v, %v, planned in %d requests", name, result, err, len(plan.Requests))
			}
		}
	})
}

// create writes an order and gives what was sent for it.
func (s *wireShop) create(t *testing.T, w *Writer) (Result, []cassandratest.Request, error) {
	t.Helper()
	from := len(s.Journal())
	result, err := w.Write(t.Context(), "createOrder", orderSet(t).Insert(fresh()))
	return result, s.writes(from), err
}

// A group that fails becomes its requests: at once, with the same bytes, each with one token of the budget, to other
// nodes. Without a token there is no second attempt, as for any request.
func TestWireGroupSplits(t *testing.T) {
	t.Parallel()
	for tokens, test := range map[int]struct {
		requests int
		applied  bool
	}{3: {4, true}, 2: {3, false}} {
		synctest.Test(t, func(t *testing.T) {
			unwind(t)
			s := openWireGroups(t, 3, shared(session.Budget(retry.NewBudget(tokens, 0.001))))
			s.When(cassandratest.Batch).Do(cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1)))
			begin := time.Now()
			result, sent, err := s.create(t, s.w)
			if took := time.Since(begin); took > 5*time.Millisecond {
				t.Errorf("took %v", took)
			}
			if (err == nil) != test.applied || len(sent) != test.requests || result.Requests != 1 || result.Groups != 1 ||
				result.Attempts != test.requests {
				t.Fatalf("%d tokens: %+v, %v, sent %v", tokens, result, err, sent)
			}
			for _, r := range sent[1:] {
				if r.Node == sent[0].Node || len(r.Statements) != 1 || !slices.ContainsFunc(sent[0].Statements,
					r.Statements[0].Equal) {
					t.Errorf("%v follows %v", r, sent[0])
				}
			}
			if test.applied {
				return
			}
			count := make(map[Outcome]int)
			for _, r := range asError(t, err).Tables {
				count[r.Outcome]++
				if r.Outcome == Unknown && (r.Attempts != 1 || !errors.Is(r.Err, retry.ErrBudget)) {
					t.Errorf("%+v", r)
				}
			}
			if count[Applied] != 2 || count[Unknown] != 1 {
				t.Errorf("%v", err)
			}
		})
	}
}

// A node whose group has failed gets none for 15 s; then one, and if that succeeds others.
func TestWireGroupsPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireGroups(t, 3)
		rule := s.When(cassandratest.Batch, cassandratest.On(2)).Do(cassandratest.Fail(cassandratest.Overloaded))
		groups := func(d time.Duration) (at2 int) {
			for end := time.Now().Add(d); time.Now().Before(end); <-time.After(100 * time.Millisecond) {
				result, sent, err := s.create(t, s.w)
				if err != nil || result.Groups != 1 {
					t.Fatalf("%+v, %v", result, err)
				}
				if sent[0].Node == 2 {
					at2++
				}
			}
			return at2
		}
		groups(5 * time.Second)
		if n := rule.Handled(); n != 1 {
			t.Errorf("%d groups to the node within 5 s", n)
		}
		groups(40 * time.Second)
		if n := rule.Handled(); n != 3 {
			t.Errorf("%d groups to the node within 45 s, want one each 15 s", n)
		}
		rule.End()
		<-time.After(15 * time.Second)
		if n := groups(3 * time.Second); n < 3 {
			t.Errorf("%d groups to the node when it is well again", n)
		}
		s.When(cassandratest.Batch).Do(cassandratest.Fail(cassandratest.Overloaded))
		for range 3 {
			if _, _, err := s.create(t, s.w); err != nil {
				t.Fatal(err)
			}
		}
		if result, sent, err := s.create(t, s.w); err != nil || result.Groups != 0 || len(sent) != 3 {
			t.Errorf("all are in a pause: %+v, %v, %v", result, sent, err)
		}
	})
}

// A table that may not be written, or is not there, fails alone, and is then in no group; the others are. Where it is
// the request that is invalid, or no request by itself, it is the node's groups that pause: one of its limits may be
// below what is sent.
func TestWireGroupWithARejectedTable(t *testing.T) {
	t.Parallel()
	unauthorized, invalid := cassandratest.Code(gocql.ErrCodeUnauthorized), cassandratest.Code(gocql.ErrCodeInvalid)
	for _, test := range []struct {
		answer        cassandratest.Error
		table, groups []int // requests of writes while the table is rejected, and while groups are
		hedge         time.Duration
	}{
		{answer: unauthorized, table: []int{4, 2, 2, 2, 2}, groups: []int{4, 4, 4, 3, 3}}, // each node once
		// as long as there are two
		{answer: unauthorized, table: []int{4, 2, 2, 2, 2}, groups: []int{4, 4, 3, 3}, hedge: time.Second},
		{answer: invalid, table: []int{4, 4, 4, 3, 3}, groups: []int{4, 4, 4, 3, 3}},
	} {
		synctest.Test(t, func(t *testing.T) {
			unwind(t)
			s := openWireGroups(t, 3, Hedge(test.hedge))
			rejected := s.When(cassandratest.Table("orders_by_user")).Do(cassandratest.Fail(test.answer))
			for i, want := range test.table {
				_, sent, err := s.create(t, s.w)
				got := outcomes(asError(t, err))
				if len(sent) != want || got["orders_by_user"] != NotApplied || got["orders_by_id"] != Applied ||
					got["orders_by_status"] != Applied {
					t.Errorf("%v, write %d: %v, sent %v", test.answer, i+1, got, sent)
				}
			}
			if test.table[1] == 2 {
				s.wantNoPause(t)
			}
			rejected.End()
			<-time.After(liveAge)
			if _, sent, err := s.create(t, s.w); err != nil || len(sent) != 1 {
				t.Errorf("a minute later: %v, %v", sent, err)
			}
			s.When(cassandratest.Batch).Do(cassandratest.Fail(test.answer))
			for i, want := range test.groups {
				if _, sent, err := s.create(t, s.w); err != nil || len(sent) != want {
					t.Errorf("rejected groups, write %d: %v, %v", i+1, sent, err)
				}
			}
		})
	}
}

// wantNoPause says whether each of the three nodes gets groups.
func (s *wireShop) wantNoPause(t *testing.T) {
	t.Helper()
	from := len(s.Journal())
	for range 30 {
		_, _, _ = s.create(t, s.w)
	}
	for n := range 3 {
		if !slices.ContainsFunc(s.writes(from), func(r cassandratest.Request) bool {
			return r.Node == n+1 && len(r.Statements) > 1
		}) {
			t.Errorf("no groups to node %d", n+1)
		}
	}
}

// A group that gets no answer is sent once more, to another node that is a replica of two of its three partitions at
// least.
func TestWireGroupIsHedged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireGroups(t, 6, Hedge(50*time.Millisecond), Timeout(20*time.Second))
		seen := make(map[int64]bool)
		s.When(cassandratest.Batch).Choose(func(r cassandratest.Request) []cassandratest.Step {
			at := writtenAt(r.Statements[0])
			if !seen[at] {
				seen[at] = true
				return []cassandratest.Step{cassandratest.Delay(time.Second)}
			}
			return nil
		})
		for range 100 { // not all groups have two nodes
			begin := time.Now()
			result, sent, err := s.create(t, s.w)
			if err != nil {
				t.Fatal(err)
			}
			if len(sent) != 2 || len(sent[0].Statements) != 3 || len(sent[1].Statements) != 3 {
				continue
			}
			if !slices.ContainsFunc(sent[1].Statements, func(st cassandratest.Statement) bool {
				return !slices.Contains(s.replicasOf(st), sent[1].Node)
			}) {
				continue // none has joined
			}
			if took := time.Since(begin); took > 100*time.Millisecond || sent[0].Node == sent[1].Node || result.Requests != 1 ||
				result.Attempts != 2 {
				t.Errorf("%+v after %v, sent %v", result, took, sent)
			}
			for _, r := range sent {
				elsewhere := 0
				for _, st := range r.Statements {
					if !slices.Contains(s.replicasOf(st), r.Node) {
						elsewhere++
					}
				}
				if elsewhere > 1 {
					t.Errorf("%d of %v to node %d, which is no replica", elsewhere, r.Statements, r.Node)
				}
			}
			return
		}
		t.Error("no group of three, of which one has joined, was hedged")
	})
}

// A call that ends before its group was sent has not applied it, one that ends after that does not know.
func TestWireGroupEndsWithTheCall(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]cassandratest.Step{
		"dropped": {cassandratest.Drop}, "applied": {cassandratest.Apply, cassandratest.Drop}, "never sent": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				s := openWireGroups(t, 3)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				want, attempts := Unknown, 1
				if steps == nil {
					cancel()
					want, attempts = NotApplied, 0
				}
				s.When(cassandratest.Batch).Do(append(steps, cassandratest.Drop)[:max(1, len(steps))]...)
				time.AfterFunc(100*time.Millisecond, cancel)
				result, err := s.w.Write(ctx, "op", orderSet(t).Insert(fresh()))
				if !errors.Is(err, context.Canceled) || result.Attempts != attempts {
					t.Errorf("%+v, %v", result, err)
				}
				for _, r := range asError(t, err).Tables {
					if r.Outcome != want || r.Attempts != attempts {
						t.Errorf("%+v, want %v", r, want)
					}
				}
			})
		})
	}
}

// A tracer is told of a group as of one request with all tables, and then of the requests that it becomes.
func TestWireGroupIsTraced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireGroups(t, 3)
		r := new(recorder)
		s.When(cassandratest.Batch, cassandratest.Nth(2)).
			Do(cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1)))
		for range 2 {
			if _, _, err := s.create(t, s.w.With(traced(r))); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{
			"start createOrder of 1, resume false",
			"createOrder: start shop.orders_by_id+orders_by_user+orders_by_status fan-out LOCAL_QUORUM, 3 statements",
			"createOrder: orders_by_id+orders_by_user+orders_by_status: end applied, 1 attempts, , failed false",
			"createOrder: end createOrder fan-out, 1 requests, 1 attempts, failed false",
			"start createOrder of 1, resume false",
			"createOrder: start shop.orders_by_id+orders_by_user+orders_by_status fan-out LOCAL_QUORUM, 3 statements",
			"createOrder: orders_by_id+orders_by_user+orders_by_status: end unknown, 1 attempts, unavailable, failed true",
		}
		for _, table := range []string{"orders_by_id", "orders_by_user", "orders_by_status"} {
			want = append(want, "createOrder: start shop."+table+" fan-out LOCAL_QUORUM, 1 statements",
				"createOrder: "+table+": end applied, 1 attempts, , failed false")
		}
		want = append(want, "createOrder: end createOrder fan-out, 1 requests, 4 attempts, failed false")
		if first := want[:7]; !slices.Equal(r.lines[:7], first) || !sameElements(r.lines, want) {
			t.Errorf("%q", r.lines)
		}
		if r.ends[0].Groups != 1 || r.ends[1].Groups != 1 {
			t.Errorf("%+v", r.ends)
		}
	})
}

// A group whose only node has no connection was never sent: its requests make their first attempts, which cost no token
// and are no retries.
func TestWireGroupThatIsNotSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		budget := retry.NewBudget(1, 0.001)
		s := openWireGroups(t, 6, shared(session.Budget(budget)))
		const at = 2
		o := fresh()
		for ; !slices.Equal(s.common(t, o), []int{at}); o = fresh() {
		}
		if result, err := s.w.Write(t.Context(), "op", orderSet(t).Insert(o)); err != nil || result.Requests != 1 {
			t.Fatalf("%+v, %v", result, err)
		}
		s.Node(at).Silence()
		s.Node(at).Cut()
		<-time.After(eofDelay + 150*time.Millisecond) // then it has noticed, and still waits for the next
		r := new(recorder)
		from := len(s.Journal())
		result, err := s.w.With(traced(r)).Write(t.Context(), "op", orderSet(t).Insert(o))
		sent := s.writes(from)
		if err != nil || len(sent) != 3 || result.Requests != 3 || result.Groups != 0 || result.Attempts != 3 {
			t.Errorf("%+v, %v, sent %v", result, err, sent)
		}
		if slices.ContainsFunc(r.lines, func(line string) bool { return strings.Contains(line, ": attempt ") }) {
			t.Errorf("%q", r.lines)
		}
	})
}

// lateTracer takes a second over the end of each request.
type lateTracer struct{ recorder }

func (*lateTracer) TraceRequestEnd(context.Context, session.RequestEnd) { <-time.After(time.Second) }

// A group that the call leaves behind is one request.
func TestWireGroupIsOneStraggler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireGroups(t, 3)
		r := new(lateTracer)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := s.w.With(traced(r)).Write(ctx, "op", orderSet(t).Insert(fresh())); err == nil {
			t.Fatal("no error")
		}
		if end := r.ends[0]; end.Requests != 1 || end.Groups != 1 || end.Stragglers != 1 {
			t.Errorf("%+v", end)
		}
	})
}

// A request that its group leaves without a token sends nothing. Tracers are told of it, or nothing would count it as
// given up for want of budget.
func TestWireGroupWithoutTokensIsTraced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireGroups(t, 3, shared(session.Budget(retry.NewBudget(2, 0.001))))
		s.When(cassandratest.Batch).Do(cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1)))
		r := new(recorder)
		if _, sent, err := s.create(t, s.w.With(traced(r))); err == nil || len(sent) != 3 {
			t.Fatalf("%v, %v", sent, err)
		}
		unsent := slices.DeleteFunc(slices.Clone(r.lines), func(line string) bool {
			return !strings.HasSuffix(line, ": end unknown, 0 attempts, unavailable, failed true")
		})
		if len(r.lines) != 2+2+3*2 || len(unsent) != 1 { // of the write, of the group, of its requests
			t.Errorf("%q", r.lines)
		}
	})
}

// Where replicas are missing, a request says that it was not applied and a group cannot: so after UNAVAILABLE requests
// travel alone, but for one group each 15 seconds a node, and in groups again once one of these has succeeded.
func TestWireGroupsPauseWhereReplicasAreMissing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireGroups(t, 3)
		w := s.w.With(Retry(retry.Policy{MaxAttempts: 2}))
		down := s.When().Do(cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1)))
		groups, tables := 0, make(map[Outcome]int)
		write := func() {
			result, _, err := s.create(t, w)
			groups += result.Groups
			if failed := (*Error)(nil); errors.As(err, &failed) {
				for _, table := range failed.Tables {
					tables[table.Outcome]++
				}
			}
		}
		for range 100 {
			write()
		}
		if groups > 3 || tables[Unknown] != 3*groups || tables[NotApplied] != 300-3*groups {
			t.Errorf("%d groups, outcomes of tables %v", groups, tables)
		}
		time.Sleep(16 * time.Second)
		for range 100 {
			write()
		}
		if groups > 6 {
			t.Errorf("%d groups after a pause", groups)
		}
		down.End()
		time.Sleep(16 * time.Second)
		groups = 0
		for range 100 {
			write()
		}
		if groups < 97 {
			t.Errorf("%d groups of 100 once all replicas are back", groups)
		}
	})
}

// A failure of other replicas of which a request alone would say no more is no reason for a pause.
func TestWireGroupsGoOnWhereOthersFail(t *testing.T) {
	t.Parallel()
	for _, answer := range []cassandratest.Error{
		cassandratest.WriteTimeout("UNLOGGED_BATCH", 1, 2), cassandratest.WriteFailure("UNLOGGED_BATCH", 1, 2, 1),
	} {
		synctest.Test(t, func(t *testing.T) {
			unwind(t)
			s := openWireGroups(t, 3)
			s.When(cassandratest.Batch).Do(cassandratest.Fail(answer))
			for i := range 6 {
				if result, sent, err := s.create(t, s.w); err != nil || result.Groups != 1 || len(sent) != 4 {
					t.Errorf("%v, write %d: %+v, %v, sent %v", answer, i+1, result, err, sent)
				}
			}
		})
	}
}
