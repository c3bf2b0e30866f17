package writer

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/tables"
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
		if plan, err := s.w.Explain("op", orderSet(t).Insert(o)); err != nil {
			t.Fatal(err)
		} else if plan.Grouped == two {
			return o
		}
		<-time.After(100 * time.Millisecond) // a pause ends
	}
	t.Fatal("of no order one partition joins")
	return Order{}
}

// Requests are sent together to a node that is a replica of two of them at least, and so is the third with three replicas: on three nodes always,
// on more where two share one. With one replica only those that have the same are sent together.
func TestWireGroups(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ nodes, replicas, least, most int }{ // requests of 60 writes of three partitions
		{nodes: 3, replicas: 3, least: 60, most: 60},
		{nodes: 6, replicas: 3, least: 60, most: 60}, // of three partitions two share a node on up to eight
		{nodes: 12, replicas: 3, least: 65, most: 120},
		{nodes: 12, replicas: 1, least: 150, most: 180},
	} {
		t.Run(fmt.Sprintf("%d nodes, %d replicas", test.nodes, test.replicas), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				s := openWire(t, cassandratest.Start, test.nodes, Group(groupBytes))
				s.Create(fmt.Sprintf(`ALTER KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': %d}`, test.replicas))
				<-time.After(10 * time.Second) // keyspaces are read again
				if err := s.w.Warm(t.Context(), orderSet(t)); err != nil {
					t.Fatal(err)
				}
				requests, coordinators, explained := 0, make(map[int]int), make(map[string]int)
				for range 60 {
					o := fresh()
					plan, err := s.w.Explain("createOrder", orderSet(t).Insert(o))
					if err != nil {
						t.Fatal(err)
					}
					explained[plan.Grouped]++
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
				joins := explained["3 of 3 partitions are in groups: 2 that share a replica that is up now, and 1 with other replicas"] > 0
				if want := test.nodes > 3 && test.replicas == 3; joins != want {
					t.Errorf("explained as %v", explained)
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
