package writer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/explained"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// Counters are sent in requests of their own, one a partition, alongside whatever else there is, which goes as it
// would.
func TestCountersAreApart(t *testing.T) {
	t.Parallel()
	open, paid := move()
	counters := []string{"counter: increment views, increment views_by_day", "counter: increment views_by_region"}
	count := viewSet(t).Add(newView())
	for name, test := range map[string]struct {
		changes []tables.Change
		with    Option
		mode    Mode
		rest    []string
	}{
		"alone":      {[]tables.Change{count}, Auto(), Counter, nil},
		"concurrent": {[]tables.Change{count}, Concurrent(), Counter, nil},
		"with a fan-out": {
			[]tables.Change{count, orderSet(t).Insert(open)},
			Auto(), FanOut,
			[]string{"partition: put orders_by_id", "partition: put orders_by_status", "partition: put orders_by_user"},
		},
		"with a logged batch": {
			[]tables.Change{orderSet(t).Update(open, paid), count},
			Auto(), LoggedBatch,
			[]string{"logged batch: put orders_by_id, put orders_by_status, put orders_by_user, remove orders_by_status"},
		},
		"with an Atomic set": {
			[]tables.Change{orderSet(t, tables.Atomic()).Insert(open), count},
			Auto(), LoggedBatch,
			[]string{"logged batch: put orders_by_id, put orders_by_status, put orders_by_user"},
		},
		"with two entities": {
			[]tables.Change{orderSet(t).Insert(open), count, noteSet(t).Insert(newNote())},
			Auto(), LoggedBatch,
			[]string{"logged batch: put notes, put notes_by_time, put orders_by_id, put orders_by_status, put orders_by_user"},
		},
		"with one partition": {
			[]tables.Change{count, noteSet(t).Insert(newNote())},
			Auto(), SamePartition,
			[]string{"partition: put notes, put notes_by_time"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, r := &fakeExecutor{}, &recorder{}
			w := fakeWriter(x, traced(r)).With(test.with)
			res, err := w.Write(t.Context(), "op", test.changes...)
			if err != nil {
				t.Fatal(err)
			}
			want := append(slices.Clone(test.rest), counters...)
			slices.Sort(want)
			if got := shownAll(x.sent()); !slices.Equal(got, want) {
				t.Errorf("sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if res.Mode != test.mode || res.Counters != 2 || res.Attempts != len(want) || res.Timestamp == 0 {
				t.Errorf("%+v, want %v in %d requests", res, test.mode, len(want))
			}
			if end := r.ends[0]; end.Counters != 2 || end.Mode != test.mode.String() || end.Requests != len(want) {
				t.Errorf("traced: %+v", end)
			}
			for _, tables := range viewTables {
				if !slices.Contains(r.lines, fmt.Sprintf("op: start shop.%s counter LOCAL_QUORUM, %d statements",
					strings.Join(tables, "+"), len(tables))) {
					t.Errorf("%v is not explained as counters:\n%s", tables, strings.Join(r.lines, "\n"))
				}
			}
			plan, err := explained.Of(w.explain("op", test.changes...))
			if err != nil || Mode(plan.Mode) != res.Mode || len(plan.Requests) != res.Attempts {
				t.Errorf("explained: %v in %d requests, %v", Mode(plan.Mode), len(plan.Requests), err)
			}
			for _, q := range x.sent() {
				for _, m := range q.Mutations {
					if q.Kind == retry.Counter && (m.Timestamp != 0 || strings.Contains(m.Statement, "TIMESTAMP")) {
						t.Errorf("%s has a timestamp", m.Statement)
					}
				}
			}
		})
	}
}

// Counters are sent again while they surely were not counted, and never once they may have been.
func TestCounterOutcomes(t *testing.T) {
	t.Parallel()
	errCounter := &gocql.RequestErrWriteTimeout{WriteType: "COUNTER"}
	for name, test := range map[string]struct {
		answers  []error
		attempts int
		want     Outcome
	}{
		"counted":              {nil, 1, Applied},
		"write timeout":        {[]error{errCounter}, 1, Unknown},
		"write timeout SIMPLE": {[]error{errSimple}, 1, Unknown},
		"no response":          {[]error{gocql.ErrTimeoutNoResponse}, 1, Unknown},
		"connection lost":      {[]error{gocql.ErrConnectionClosed}, 1, Unknown},
		"overloaded":           {[]error{errOverloaded}, 1, Unknown}, // its leader may have counted it
		"unavailable":          {[]error{errUnavailable}, 2, Applied},
		"unavailable, lost":    {[]error{errUnavailable, gocql.ErrTimeoutNoResponse}, 2, Unknown},
		"unavailable to the end": {
			[]error{errUnavailable, errUnavailable, errUnavailable, errUnavailable},
			4,
			NotApplied,
		},
		"rejected":                   {[]error{errSyntax}, 1, NotApplied},
		"no stream, then overloaded": {[]error{gocql.ErrNoStreams, errOverloaded}, 2, Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				x := &fakeExecutor{answer: fail("views_by_region", test.answers...)}
				w := fakeWriter(x)
				_, err := w.Write(t.Context(), "op", orderSet(t).Insert(newOrder(Open)), viewSet(t).Add(newView()))
				sent := 0
				for _, r := range x.sent() {
					if carries(r, "views_by_region") {
						sent++
					}
				}
				if sent != test.attempts {
					t.Errorf("sent %d times, want %d", sent, test.attempts)
				}
				if test.want == Applied {
					if err != nil {
						t.Error(err)
					}
					return
				}
				e := asError(t, err)
				for _, r := range e.Tables {
					want := Applied
					if r.Table == "views_by_region" {
						want = test.want
					}
					if counts := strings.HasPrefix(r.Table, "views"); r.Outcome != want || r.Counter != counts {
						t.Errorf("%+v, want %v", r, want)
					}
				}
				if !errors.Is(e, ErrPartial) || errors.Is(e, ErrUnknown) != (test.want == Unknown) || e.Resumable() ||
					!e.OnlyCounters() {
					t.Errorf("%v", e)
				}
				if text := e.Error(); !strings.Contains(text, "counters are never sent again") {
					t.Errorf("not said: %s", text)
				}
			})
		})
	}
}

// Resume finishes the other tables and leaves the counters as they were, also those of an error that was stored. What
// it cannot finish it says, and a caller that resumes on and on is told that there is nothing more to resume.
func TestResumeLeavesCounters(t *testing.T) {
	t.Parallel()
	open, paid := move()
	for kind, test := range map[string]struct {
		change tables.Change
		table  string // of the ordinary ones, that fails first
		down   bool   // the batchlog fails before the Resume
	}{
		"fan-out":      {orderSet(t).Insert(open), "orders_by_user", false},
		"logged batch": {orderSet(t).Update(open, paid), "orders_by_user", false},
		"fallback":     {orderSet(t).Update(open, paid), "orders_by_user", true},
	} {
		for outcome, cause := range map[Outcome]error{
			Unknown: gocql.ErrTimeoutNoResponse, NotApplied: errUnavailable,
			Applied: nil,
		} {
			for _, stored := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%v/stored %v", kind, outcome, stored), func(t *testing.T) {
					t.Parallel()
					ordinary := fail(test.table, errSimple)
					x := &fakeExecutor{answer: func(ctx context.Context, r fanout.Attempt) error {
						if r.Kind == retry.Counter && carries(r, "views") {
							return cause
						}
						return ordinary(ctx, r)
					}}
					w := fakeWriter(x, once())
					e := failed(t, w, viewSet(t).Add(newView()), test.change)
					if !e.Resumable() || e.OnlyCounters() {
						t.Error("there is something to resume")
					}
					if stored {
						e = transport(t, e)
					}
					if test.down {
						w.batchlog.failed(time.Now().Add(time.Hour))
					}
					n := len(x.sent())
					_, err := w.Resume(t.Context(), e)
					for _, r := range x.sent()[n:] {
						if r.Kind == retry.Counter || carries(r, "views_by_region") {
							t.Errorf("sent again: %s", shown(r))
						}
					}
					if n == len(x.sent()) {
						t.Error("nothing was sent")
					}
					if outcome == Applied {
						if err != nil {
							t.Error(err)
						}
						return
					}
					left := asError(t, err)
					for table, got := range outcomes(left) {
						want := Applied
						if table == "views" || table == "views_by_day" {
							want = outcome
						}
						if got != want {
							t.Errorf("%s is %v, want %v", table, got, want)
						}
					}
					if errors.Is(left, ErrInvalid) || errors.Is(left, ErrUnknown) != (outcome == Unknown) || left.Resumable() ||
						!left.OnlyCounters() {
						t.Errorf("resumed: %v", left)
					}
					n = len(x.sent())
					rounds := 0
					for ; err != nil && !errors.Is(err, ErrInvalid) && rounds < 10; rounds++ { // as a caller does
						_, err = w.Resume(t.Context(), asError(t, err))
					}
					last := asError(t, err)
					if rounds != 1 || len(x.sent()) != n || !strings.Contains(err.Error(), "counters are never sent again: views ("+
						outcome.String()+")") {
						t.Errorf("%d rounds, %d requests: %v", rounds, len(x.sent())-n, err)
					}
					if errors.Is(last, ErrUnknown) != (outcome == Unknown) || last.NotApplied() || last.Resumable() {
						t.Errorf("what was known is forgotten: %v", last)
					}
				})
			}
		}
	}
}

// A batch that becomes a fan-out leaves the counters alongside it alone, and does not wait for them.
func TestFallbackLeavesCounters(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{"counted": nil, "lost": gocql.ErrTimeoutNoResponse} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var last atomic.Int64
				x := &fakeExecutor{answer: func(_ context.Context, r fanout.Attempt) error {
					switch r.Kind {
					case retry.LoggedBatch:
						return errBatchLog
					case retry.Counter:
						time.Sleep(4 * time.Second)
						return cause
					case retry.Partition, retry.UnloggedBatch, retry.Conditional, retry.Swap:
					}
					last.Store(int64(time.Since(start)))
					return nil
				}}
				open, paid := move()
				res, err := fakeWriter(x, WithClock(NewClock(time.Now)), Concurrent(), Auto()).
					Write(t.Context(), "op", orderSet(t).Update(open, paid), viewSet(t).Add(newView()))
				if (err == nil) != (cause == nil) || res.Mode != Fallback || res.Attempts != 1+6+2 {
					t.Errorf("%+v, %v", res, err)
				}
				if late := last.Load(); late > 0 {
					t.Errorf("the fan-out comes %v late", time.Duration(late))
				}
				counters := 0
				for _, r := range x.sent() {
					if r.Kind == retry.Counter {
						counters++
					}
				}
				if counters != 2 {
					t.Errorf("%d requests with counters", counters)
				}
				if err != nil {
					for table, outcome := range outcomes(asError(t, err)) {
						if want := map[bool]Outcome{true: Unknown, false: Applied}[strings.HasPrefix(table, "views")]; outcome != want {
							t.Errorf("%s is %v", table, outcome)
						}
					}
				}
			})
		})
	}
}

// A counter has no second chance, so its first may take as long as the call; and it is never hedged.
func TestCounterTakesItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := &fakeExecutor{answer: func(ctx context.Context, _ fanout.Attempt) error {
			select {
			case <-time.After(4 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
		w := fakeWriter(x, Hedge(time.Millisecond))
		if _, err := w.Write(t.Context(), "op", viewSet(t).Add(newView())); err != nil || len(x.sent()) != 2 {
			t.Errorf("%v, %d requests", err, len(x.sent()))
		}
		_, err := w.With(Timeout(3*time.Second)).Write(t.Context(), "op", viewSet(t).Add(newView()))
		if !errors.Is(err, ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) || len(x.sent()) != 4 {
			t.Errorf("%v, %d requests", err, len(x.sent()))
		}
	})
}

// What no version of the library has stored of counters is rejected.
func TestForeignCounters(t *testing.T) {
	t.Parallel()
	mutation := func(c tables.Change) []byte {
		r, err := c.Internal().Render(1, nil)
		if err != nil {
			t.Fatal(err)
		}
		data, err := r.Mutations[0].MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	put, count := mutation(noteSet(t).Insert(newNote())), mutation(viewSet(t).Add(newView()))
	if bytes.Contains(count, []byte("page_id")) {
		t.Error("a stored counter could be sent again")
	}
	request := func(mutations ...[]byte) wirePath { return wirePath{Mutations: mutations} }
	for name, test := range map[string]struct {
		mode     Mode
		requests []wirePath
		ok       bool
	}{
		"with a batch":          {LoggedBatch, []wirePath{request(put, put), request(count), request(count)}, true},
		"with a fan-out":        {FanOut, []wirePath{request(put), request(put), request(count)}, true},
		"alone":                 {Counter, []wirePath{request(count)}, true},
		"in a batch":            {LoggedBatch, []wirePath{request(put, count)}, false},
		"before a batch":        {LoggedBatch, []wirePath{request(count), request(put)}, false},
		"two batches":           {LoggedBatch, []wirePath{request(put), request(put), request(count)}, false},
		"a put among counters":  {Counter, []wirePath{request(put)}, false},
		"before other requests": {FanOut, []wirePath{request(count), request(put)}, false},
	} {
		data := sealed(wireError{Op: "op", Timestamp: 1, Mode: test.mode, Paths: test.requests})
		e := new(Error)
		if err := e.UnmarshalBinary(data); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	cql := forged{Kind: statement.Increment, Keyspace: "shop", Table: "views USING TTL 1; DROP"}.stored()
	if err := new(Error).UnmarshalBinary(
		sealed(wireError{Op: "op", Timestamp: 1, Mode: Counter, Paths: []wirePath{request(cql)}})); err == nil {
		t.Error("CQL for a table: read without error")
	}
}

// The time of a call counts from its begin, also for counters that are waited for after the rest.
func TestCountersDoNotLengthenACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := &fakeExecutor{answer: func(ctx context.Context, r fanout.Attempt) error {
			if r.Kind == retry.Counter {
				<-ctx.Done()
				return ctx.Err()
			}
			<-time.After(900 * time.Millisecond)
			return nil
		}}
		start := time.Now()
		_, err := fakeWriter(x, Timeout(time.Second)).Write(context.Background(), "op", viewSet(t).Add(newView()),
			orderSet(t).Insert(newOrder(Open)))
		if took := time.Since(start); err == nil || took > time.Second+10*time.Millisecond {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// A batch that becomes a fan-out while counters are under way leaves their tracer alone: with the race detector.
func TestCountersBesideAFallbackAreTraced(t *testing.T) {
	t.Parallel()
	open, paid := move()
	for range 50 {
		x := &fakeExecutor{answer: func(_ context.Context, r fanout.Attempt) error {
			if r.Kind == retry.LoggedBatch {
				return errBatchLog
			}
			return nil
		}}
		w := fakeWriter(x, traced(&modes{}), shared(session.Budget(retry.NewBudget(100_000, 0))))
		if _, err := w.Write(context.Background(), "op", viewSet(t).Add(newView()),
			orderSet(t).Update(open, paid)); err != nil {
			t.Fatal(err)
		}
	}
}

// modes reads what it is told of requests.
type modes struct{}

func (*modes) TraceStart(ctx context.Context, _ session.OperationStart) context.Context { return ctx }
func (*modes) TraceEnd(context.Context, session.OperationEnd)                           {}
func (*modes) TraceRequestEnd(context.Context, session.RequestEnd)                      {}
func (*modes) TraceRequestStart(ctx context.Context, s session.RequestStart) context.Context {
	if s.Mode == "" {
		panic("no mode")
	}
	return ctx
}

// Two Adds of a row are one: a counter has no timestamp at which they could mix.
func TestTwoAddsOfOneRow(t *testing.T) {
	t.Parallel()
	add := viewSet(t).Add(newView())
	_, err := fakeWriter(&fakeExecutor{}).Write(t.Context(), "op", add, add)
	if !errors.Is(err, ErrInvalid) ||
		!strings.HasSuffix(err.Error(), ": two Adds of one row in one write: add them up in one Add") {
		t.Errorf("%v", err)
	}
}

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
		for table, kind := range map[string]cassandratest.Kind{
			"views":        cassandratest.Batch,
			"views_by_day": cassandratest.Batch, "views_by_region": cassandratest.Execute,
		} {
			sent := s.sentTo(table, from)
			if len(sent) != 1 {
				t.Fatalf("%s: %v", table, sent)
			}
			r := sent[0]
			if r.Kind != kind || r.Logged || r.Counter != (kind == cassandratest.Batch) || r.DefaultTimestamp != nil ||
				r.Serial != 0 || r.Applied != 1 {
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

// Every error and every lost answer, on a real driver: a counter is never applied twice, is never sent again once it
// may have been, and what is claimed of it is true. Resume does not change that.
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

// The reply of a counter is lost, with and without it being applied, in many writes one after the other: acknowledged
// and unknown ones together bound what the server has counted.
func TestWireCounterSum(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unwind(t)
		s := openWireCounters(t, 3, Timeout(5*time.Second))
		steps := [][]cassandratest.Step{
			nil,
			{cassandratest.Apply, cassandratest.Cut},
			{cassandratest.Cut},
			{cassandratest.Apply, cassandratest.Drop},
			{cassandratest.Drop},
			nil,
			{cassandratest.Drop, cassandratest.Delay(8 * time.Second), cassandratest.Apply},
			nil,
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
		if counted < acknowledged || counted > acknowledged+unknown || unknown == 0 || acknowledged == 0 ||
			counted == acknowledged {
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
