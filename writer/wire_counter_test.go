package writer

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/retry"
)

// openWireCounters is openWire with the tables of viewSet.
func openWireCounters(t *testing.T, nodes int, options ...NewOption) *wireShop {
	t.Helper()
	s := openWire(t, cassandratest.Start, nodes, options...)
	s.Create(createTables(describe.Of(viewSet(t).Internal()))...)
	return s
}

// sentTo are the requests with a statement for the table that were sent after the one with number from.
func (s *wireShop) sentTo(table string, from int) []cassandratest.Request {
	return slices.DeleteFunc(s.writes(from), func(r cassandratest.Request) bool { return !r.On(table) })
}

// What counters put on the wire: no timestamp of any kind, a counter batch where several are in one partition, and a
// request to a replica.
func TestWireCounters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireCounters(t, 5)
		if err := s.w.Warm(t.Context(), viewSet(t)); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second) // for the pools to be full
		from := len(s.Journal())
		if _, err := s.w.Write(t.Context(), "op", orderSet(t).Update(move()), viewSet(t).Add(newView())); err != nil {
			t.Fatal(err)
		}
		for table, kind := range map[string]cassandratest.Kind{"views": cassandratest.Batch, "views_by_day": cassandratest.Batch, "views_by_region": cassandratest.Execute} {
			sent := s.sentTo(table, from)
			if len(sent) != 1 {
				t.Fatalf("%s: %v", table, sent)
			}
			r := sent[0]
			if r.Kind != kind || r.Logged || r.Counter != (kind == cassandratest.Batch) || r.DefaultTimestamp != nil || r.Serial != 0 || r.Applied != 1 {
				t.Errorf("%s: %+v", table, r)
			}
			for _, st := range r.Statements {
				if _, ok := st.Value("[timestamp]"); ok {
					t.Errorf("%s has a timestamp", st.Text)
				}
				if likes, _ := st.Value("likes"); string(likes.Bytes) != string(be(-2)) {
					t.Errorf("%s adds %x to likes", st.Text, likes.Bytes)
				}
				key, _ := st.Value(map[bool]string{true: "region", false: "page_id"}[table == "views_by_region"])
				if replicas := s.Replicas("shop", key.Bytes); !slices.Contains(replicas, r.Node) {
					t.Errorf("%v is sent to node %d, the replicas are %v", r, r.Node, replicas)
				}
			}
		}
		if batch := s.sentTo("orders_by_id", from); len(batch) != 1 || !batch[0].Logged || batch[0].On("views") {
			t.Errorf("the batch: %v", batch)
		}
	})
}

// Every error and every lost answer, on a real driver: a counter is never applied twice, is never sent again once it may have
// been, and what is claimed of it is true. Resume does not change that.
func TestWireCounterOutcomes(t *testing.T) {
	t.Parallel()
	tally := &wireTally{}
	t.Cleanup(func() { tally.report(t) })
	for first, fault := range wireFaults() {
		switch first {
		case "overloaded": // the leader of the counter is asked before its replicas are looked at
			fault.partition = maybe
		case "late": // within the time of the call, which is that of the attempt
			fault.partition = done
		}
		for _, table := range []string{"views", "views_by_region"} { // a batch, and a statement
			t.Run(first+"/"+table, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					unwind(t)
					s := openWireCounters(t, 3, Timeout(5*time.Second), Retry(retry.Policy{MaxAttempts: 3}))
					rule := s.When(cassandratest.Table(table), cassandratest.Nth(1)).Do(fault.steps...)
					from := len(s.Journal())
					_, err := s.w.Write(t.Context(), "op", orderSet(t).Insert(newOrder(Open)), viewSet(t).Add(newView()))
					rule.End()
					claim := Applied
					if err != nil {
						e := asError(t, err)
						for _, r := range e.Tables {
							if r.Table == table {
								claim = r.Outcome
							}
						}
						for range 2 { // whatever it says
							if _, err := s.w.Resume(t.Context(), e); err == nil {
								t.Error("a Resume has made the counter good")
							}
						}
					}
					<-time.After(time.Minute) // what comes late has come
					sent := s.sentTo(table, from)
					applied := 0
					for _, r := range sent {
						applied += r.Applied
					}
					tally.judge(claim, applied, 1)
					want := known([]wireKnown{fault.partition})
					if applied > 1 || claim == Applied && applied != 1 || claim == NotApplied && applied != 0 {
						t.Errorf("it is claimed to be %v, and was applied %d times", claim, applied)
					}
					if want == Unknown && (len(sent) != 1 || claim != Unknown) {
						t.Errorf("it may have been applied, was sent %d times and is claimed to be %v", len(sent), claim)
					}
					if want == Applied && (len(sent) != 1 || claim != Applied) {
						t.Errorf("it was applied, was sent %d times and is claimed to be %v", len(sent), claim)
					}
				})
			})
		}
	}
}

// The reply of a counter is lost, with and without it being applied, in many writes one after the other: acknowledged and unknown
// ones together bound what the server has counted.
func TestWireCounterSum(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireCounters(t, 3, Timeout(5*time.Second))
		steps := [][]cassandratest.Step{
			nil, {cassandratest.Apply, cassandratest.Cut}, {cassandratest.Cut}, {cassandratest.Apply, cassandratest.Drop}, {cassandratest.Drop}, nil, {cassandratest.Drop, cassandratest.Delay(8 * time.Second), cassandratest.Apply}, nil,
		}
		n := 0
		s.When(cassandratest.Table("views_by_region")).Choose(func(cassandratest.Request) []cassandratest.Step {
			n++
			return steps[n%len(steps)]
		})
		acknowledged, unknown := 0, 0
		for range 80 {
			_, err := s.w.Write(t.Context(), "op", viewSet(t).Add(newView()))
			switch {
			case err == nil:
				acknowledged++
			case outcomes(asError(t, err))["views_by_region"] == Unknown:
				unknown++
			}
			<-time.After(time.Second) // for the connections
		}
		<-time.After(time.Minute)
		counted := 0
		for _, r := range s.sentTo("views_by_region", 0) {
			counted += r.Applied
		}
		t.Logf("acknowledged %d, unknown %d, counted %d", acknowledged, unknown, counted)
		if counted < acknowledged || counted > acknowledged+unknown || unknown == 0 || acknowledged == 0 || counted == acknowledged {
			t.Errorf("counted %d, acknowledged %d, unknown %d", counted, acknowledged, unknown)
		}
	})
}

// A call that is cancelled leaves a counter that it has sent Unknown, and one that it has not NotApplied.
func TestWireCounterCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireCounters(t, 3)
		s.When(cassandratest.Table("views_by_region")).Do(cassandratest.Apply, cassandratest.Drop)
		for want, after := range map[Outcome]time.Duration{Unknown: time.Second, NotApplied: 0} {
			ctx, cancel := context.WithCancel(t.Context())
			if after == 0 {
				cancel()
			}
			timer := time.AfterFunc(after, cancel)
			_, err := s.w.Write(ctx, "op", viewSet(t).Add(newView()))
			timer.Stop()
			cancel()
			if got := outcomes(asError(t, err))["views_by_region"]; got != want {
				t.Errorf("after %v: %v, want %v", after, got, want)
			}
		}
	})
}
