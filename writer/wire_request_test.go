package writer

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// What a write puts on the wire, in each mode: one timestamp in the statements and none of the protocol, the writer's
// consistency, no serial one, and a request to a replica.
func TestWireRequests(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change  tables.Change
		options []Option
		mode    Mode
		kind    cassandratest.Kind
		logged  bool
		want    int // requests
		sweep   bool
	}{
		"fan-out":        {change: orderSet(t).Insert(newOrder(Open)), mode: FanOut, kind: cassandratest.Execute, want: 3},
		"same partition": {change: noteSet(t).Insert(newNote()), mode: SamePartition, kind: cassandratest.Batch, want: 1},
		"logged batch": {
			change: orderSet(t).Update(move()), mode: LoggedBatch, kind: cassandratest.Batch, logged: true,
			want: 1, sweep: true,
		},
		"one, fan-out": {
			change: orderSet(t).Insert(newOrder(Open)), options: []Option{Consistency(session.One)},
			mode: FanOut, kind: cassandratest.Execute, want: 3,
		},
		"one, batch": {
			change: noteSet(t).Insert(newNote()), options: []Option{Consistency(session.One)},
			mode: SamePartition, kind: cassandratest.Batch, want: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				s := openWire(t, cassandratest.Start, 5)
				level := gocql.LocalQuorum
				if test.options != nil {
					level = gocql.One
				}
				result, err := s.w.With(test.options...).Write(t.Context(), "op", test.change)
				if err != nil || result.Mode != test.mode {
					t.Fatalf("%v, %v", result, err)
				}
				sent := s.writes(0)
				if len(sent) != test.want {
					t.Errorf("sent %v", sent)
				}
				for _, r := range sent {
					if r.Kind != test.kind || r.Logged != test.logged || r.Consistency != level || r.Serial != 0 ||
						r.DefaultTimestamp != nil || r.Applied != 1 {
						t.Errorf("%+v", r)
					}
					for _, st := range r.Statements {
						v, ok := st.Value("[timestamp]")
						at := bytes.Clone(v.Bytes)
						if !ok || len(at) != 8 {
							t.Fatalf("no timestamp in %s", st.Text)
						}
						below := !bytes.Equal(at, be(result.Timestamp))
						if below && (!test.sweep || !bytes.Equal(at, be(result.Timestamp-1))) {
							t.Errorf("timestamp %x of %s, want %x", at, st.Text, be(result.Timestamp))
						}
					}
				}
			})
		})
	}
}

// Requests go to a replica of the partition they write: of a logged batch, of the first one.
func TestWireRouting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWire(t, cassandratest.Start, 9)
		<-time.After(time.Second) // for the pools to be full
		keys := map[string][]string{
			"orders_by_id": {"order_id"}, "orders_by_user": {"user_id"}, "orders_by_status": {"status"}, "notes": {"user_id"},
			"notes_by_time": {"user_id"},
		}
		nodes := make(map[int]int)
		for i := range 100 {
			o, n := newOrder(Open), newNote()
			o.OrderID[0], o.UserID[0], n.UserID[0] = byte(i), byte(i*7), byte(i*3)
			paid := o
			paid.Status = Paid
			from := len(s.Journal())
			for _, change := range []tables.Change{orderSet(t).Insert(o), noteSet(t).Insert(n), orderSet(t).Update(o, paid)} {
				if _, err := s.w.Write(t.Context(), "op", change); err != nil {
					t.Fatal(err)
				}
			}
			for _, r := range s.writes(from) {
				st := r.Statements[0]
				v, _ := st.Value(keys[st.Table][0])
				if replicas := s.Replicas("shop", v.Bytes); len(replicas) != 3 || !slices.Contains(replicas, r.Node) {
					t.Fatalf("%v is sent to node %d, the replicas are %v", r, r.Node, replicas)
				}
				nodes[r.Node]++
			}
		}
		for n := 1; n <= 9; n++ {
			if nodes[n] < 10 {
				t.Errorf("node %d has got %d of 500 requests", n, nodes[n])
			}
		}
	})
}

// All attempts of a write, and of its Resume, also from a stored error in another process, are the same bytes.
func TestWireSameBytes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change tables.Change
		option Option
		table  string
	}{
		"fan-out":        {orderSet(t).Insert(newOrder(Open)), Auto(), "orders_by_user"},
		"same partition": {noteSet(t).Insert(newNote()), Auto(), "notes_by_time"},
		"logged batch":   {orderSet(t).Update(move()), Logged(), "orders_by_id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				s := openWire(t, cassandratest.Start, 3, Retry(retry.Policy{MaxAttempts: 3}), test.option)
				rule := s.When(cassandratest.Table(test.table)).Do(cassandratest.Apply,
					cassandratest.Fail(cassandratest.WriteTimeout("SIMPLE", 1, 2)))
				_, err := s.w.Write(t.Context(), "op", test.change)
				stored, err := asError(t, err).MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				if rule.Handled() != 3 {
					t.Fatalf("%d attempts", rule.Handled())
				}
				s.Heal()
				<-time.After(time.Hour)
				var failed Error
				if err := failed.UnmarshalBinary(stored); err != nil {
					t.Fatal(err)
				}
				from := len(s.Journal())
				other, err := newOf(s.session)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := other.Resume(t.Context(), &failed); err != nil {
					t.Fatal(err)
				}
				all := s.Journal(cassandratest.Table(test.table), cassandratest.Where(func(r cassandratest.Request) bool {
					return r.Kind != cassandratest.Prepare
				}))
				if len(all) != 4 {
					t.Fatalf("%d requests", len(all))
				}
				for _, r := range all {
					if !slices.EqualFunc(r.Statements, all[0].Statements, cassandratest.Statement.Equal) || len(r.Statements) == 0 {
						t.Errorf("%v differs from %v", r, all[0])
					}
				}
				if resumed := s.writes(from); len(resumed) != 1 { // what is applied is left alone
					t.Errorf("resumed: %v", resumed)
				}
			})
		})
	}
}

// A Resume that fails does not forget what the write itself may have done, and knows nothing of other deliveries of its
// error.
func TestWireResumeIsSticky(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]tables.Change{
		"fan-out": orderSet(t).Insert(newOrder(Open)), "same partition": noteSet(t).Insert(newNote()),
		"logged batch": orderSet(t).Update(move()),
	} {
		for first, steps := range map[string][]cassandratest.Step{
			"applied":     {cassandratest.Apply, cassandratest.Drop},
			"not applied": {cassandratest.Fail(cassandratest.Code(gocql.ErrCodeInvalid))},
		} {
			t.Run(name+"/"+first, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					unwind(t)
					s := openWire(t, cassandratest.Start, 3, once())
					rule := s.When().Do(steps...)
					e := failed(t, s.w, change)
					rule.End()
					s.When().Do(cassandratest.Fail(cassandratest.Unavailable(gocql.LocalQuorum, 2, 1)))
					_, err := s.w.Resume(t.Context(), e)
					for table, got := range outcomes(asError(t, err)) {
						if got != Unknown {
							t.Errorf("%s is %v, want %v", table, got, Unknown)
						}
					}
				})
			})
		}
	}
}

// Of a table with a materialized view the coordinator makes a logged batch, so that OVERLOADED may follow a part of the
// write. The writer reads from the schema, when it matters, whether there is one.
func TestWireOverloadedView(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Outcome{"plain": NotApplied, "view": Unknown, "schema not read": Unknown} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				s := openWire(t, cassandratest.Start, 3, once())
				s.When(cassandratest.Table("orders_by_user")).Do(cassandratest.Fail(cassandratest.Overloaded))
				switch name {
				case "view":
					s.Create(`CREATE MATERIALIZED VIEW shop.big_orders AS SELECT * FROM shop.orders_by_user
						WHERE user_id IS NOT NULL AND order_id IS NOT NULL PRIMARY KEY (order_id, user_id)`)
				case "schema not read":
					s.When(cassandratest.Table("system_schema.views")).
						Do(cassandratest.Fail(cassandratest.Unavailable(gocql.One, 1, 0)))
				}
				e := failed(t, s.w, orderSet(t).Insert(newOrder(Open)))
				if got := outcomes(e); got["orders_by_user"] != want || got["orders_by_id"] != Applied ||
					got["orders_by_status"] != Applied {
					t.Errorf("%v", got)
				}
			})
		})
	}
}

// A batch that fails at the batchlog goes on as a fan-out, of the same statements, and what the batch may have done is
// not forgotten.
func TestWireFallback(t *testing.T) {
	t.Parallel()
	batchlog := cassandratest.Fail(cassandratest.WriteTimeout("BATCH_LOG", 1, 2))
	noNodes := cassandratest.Fail(cassandratest.Unavailable(gocql.Two, 1, 0))
	syntax := []cassandratest.Step{cassandratest.Fail(cassandratest.Code(gocql.ErrCodeSyntax))}
	for name, test := range map[string]struct {
		batch  []cassandratest.Step
		fanOut []cassandratest.Step // of orders_by_user
		want   Outcome              // of orders_by_user
	}{
		"applied":              {[]cassandratest.Step{batchlog}, nil, Applied},
		"then clean":           {[]cassandratest.Step{batchlog}, syntax, Unknown},
		"replayed, then clean": {[]cassandratest.Step{cassandratest.Apply, batchlog}, syntax, Unknown},
		"no nodes, then clean": {[]cassandratest.Step{noNodes}, syntax, NotApplied},
		"no nodes, then silent": {[]cassandratest.Step{noNodes}, []cassandratest.Step{
			cassandratest.Apply,
			cassandratest.Drop,
		}, Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				s := openWire(t, cassandratest.Start, 3, once(), Timeout(time.Minute))
				s.When(cassandratest.Batch).Do(test.batch...)
				s.When(cassandratest.Execute, cassandratest.Table("orders_by_user")).Do(test.fanOut...)
				result, err := s.w.Write(t.Context(), "payOrder", orderSet(t).Update(move()))
				if result.Mode != Fallback {
					t.Errorf("%+v", result)
				}
				var batch, single []cassandratest.Statement
				for _, r := range s.writes(0) {
					if r.Kind == cassandratest.Batch && r.Logged {
						batch = append(batch, r.Statements...)
					} else {
						single = append(single, r.Statements...)
					}
				}
				for _, st := range batch {
					if !slices.ContainsFunc(single, st.Equal) {
						t.Errorf("%s is not in the fan-out", st.Text)
					}
				}
				if len(batch) == 0 || len(single) != len(batch) {
					t.Errorf("%d statements in the batch, %d after it", len(batch), len(single))
				}
				if test.want == Applied {
					if err != nil {
						t.Error(err)
					}
					return
				}
				if got := outcomes(asError(t, err)); got["orders_by_user"] != test.want || got["orders_by_id"] != Applied {
					t.Errorf("%v", got)
				}
			})
		})
	}
}

// A node that has lost its prepared statements, and one that loses them again and again: the write goes through, and
// what it says is true.
func TestWireUnprepared(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]tables.Change{
		"fan-out": orderSet(t).Insert(newOrder(Open)), "same partition": noteSet(t).Insert(newNote()),
		"logged batch": orderSet(t).Update(move()),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				unwind(t)
				s := openWire(t, cassandratest.Start, 1)
				if _, err := s.w.Write(t.Context(), "op", change); err != nil {
					t.Fatal(err)
				}
				s.Node(1).Forget()
				if _, err := s.w.Write(t.Context(), "op", change); err != nil {
					t.Errorf("forgotten: %v", err)
				}
				s.When(cassandratest.Nth(1, 2, 3, 4, 5, 6, 7)).Do(cassandratest.Fail(cassandratest.Unprepared))
				if _, err := s.w.Write(t.Context(), "op", change); err != nil {
					t.Errorf("forgotten again and again: %v", err)
				}
				s.Heal()
				s.Node(1).Forget()
				s.When(cassandratest.Prepare).Do(cassandratest.Drop)
				at := s.stamp()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := s.w.With(At(at), once()).Write(ctx, "op", change)
				for table, outcome := range outcomes(asError(t, err)) {
					if outcome != Unknown || s.ledger.has(table, at) != 0 { // gocql does not say that it was the PREPARE
						t.Errorf("not prepared: %s is %v", table, outcome)
					}
				}
			})
		})
	}
}

// The tables that the tests declare from a set are those that the set wants, and Warm names those that do not exist.
func TestWireWarm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWire(t, cassandratest.Start, 3)
		if err := s.w.Warm(t.Context(), orderSet(t), noteSet(t)); err != nil {
			t.Error(err)
		}
		s.Create(`DROP TABLE shop.notes`)
		const want = "denorm: Warm: schema of shop.notes not read: the cluster has no such table"
		if err := s.w.Warm(t.Context(), orderSet(t), noteSet(t)); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	})
}

// The read of a base row goes to a replica, and again to another one where that does not answer with the row.
func TestWireReadsAreRouted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWire(t, cassandratest.Start, 9)
		<-time.After(time.Second) // for the pools to be full
		for i := range 30 {
			o := newOrder(Open)
			o.OrderID[0] = byte(i * 8)
			if _, err := s.w.Write(t.Context(), "op", orderSet(t).Insert(o)); err != nil {
				t.Fatal(err)
			}
			from := len(s.Journal())
			s.When(cassandratest.Table("orders_by_id"), cassandratest.Execute, cassandratest.Nth(1)).
				Do(cassandratest.Fail(cassandratest.Overloaded))
			if _, err := Load(t.Context(), s.w, "op", orderSet(t), o); err != nil {
				t.Fatal(err)
			}
			s.Heal()
			var nodes []int
			for _, r := range s.Journal()[from:] {
				if r.Kind != cassandratest.Execute {
					continue
				}
				v, _ := r.Statements[0].Value("order_id")
				if nodes = append(nodes, r.Node); !slices.Contains(s.Replicas("shop", v.Bytes), r.Node) {
					t.Errorf("%v is sent to node %d", r, r.Node)
				}
			}
			if len(nodes) != 2 || nodes[0] == nodes[1] {
				t.Errorf("read from nodes %v", nodes)
			}
		}
	})
}
