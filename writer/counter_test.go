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

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// Counters are sent in requests of their own, one a partition, alongside whatever else there is, which goes as it would.
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
			[]tables.Change{count, noteSet(t).Insert(newNote())}, Auto(), SamePartition, []string{"partition: put notes, put notes_by_time"},
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
				if !slices.Contains(r.lines, fmt.Sprintf("op: start shop.%s counter LOCAL_QUORUM, %d statements", strings.Join(tables, "+"), len(tables))) {
					t.Errorf("%v is not explained as counters:\n%s", tables, strings.Join(r.lines, "\n"))
				}
			}
			plan, err := w.Explain("op", test.changes...)
			if err != nil || plan.Mode != res.Mode || len(plan.Requests) != res.Attempts {
				t.Errorf("explained: %v in %d requests, %v", plan.Mode, len(plan.Requests), err)
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
		"counted":                    {nil, 1, Applied},
		"write timeout":              {[]error{errCounter}, 1, Unknown},
		"write timeout SIMPLE":       {[]error{errSimple}, 1, Unknown},
		"no response":                {[]error{gocql.ErrTimeoutNoResponse}, 1, Unknown},
		"connection lost":            {[]error{gocql.ErrConnectionClosed}, 1, Unknown},
		"overloaded":                 {[]error{errOverloaded}, 1, Unknown}, // its leader may have counted it
		"unavailable":                {[]error{errUnavailable}, 2, Applied},
		"unavailable, lost":          {[]error{errUnavailable, gocql.ErrTimeoutNoResponse}, 2, Unknown},
		"unavailable to the end":     {[]error{errUnavailable, errUnavailable, errUnavailable, errUnavailable}, 4, NotApplied},
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
				if !errors.Is(e, ErrPartial) || errors.Is(e, ErrUnknown) != (test.want == Unknown) || e.Resumable() {
					t.Errorf("%v", e)
				}
				if text := e.Error(); !strings.Contains(text, "counters are never sent again") {
					t.Errorf("not said: %s", text)
				}
			})
		})
	}
}

// Resume finishes the other tables and leaves the counters as they were, also those of an error that was stored. What it
// cannot finish it says, and a caller that resumes on and on is told that there is nothing more to resume.
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
		for outcome, cause := range map[Outcome]error{Unknown: gocql.ErrTimeoutNoResponse, NotApplied: errUnavailable, Applied: nil} {
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
					if !e.Resumable() {
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
					if errors.Is(left, ErrInvalid) || errors.Is(left, ErrUnknown) != (outcome == Unknown) || left.Resumable() {
						t.Errorf("resumed: %v", left)
					}
					n = len(x.sent())
					rounds := 0
					for ; err != nil && !errors.Is(err, ErrInvalid) && rounds < 10; rounds++ { // as a caller does
						_, err = w.Resume(t.Context(), asError(t, err))
					}
					last := asError(t, err)
					if rounds != 1 || len(x.sent()) != n || !strings.Contains(err.Error(), "counters are never sent again: views ("+outcome.String()+")") {
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
	if err := new(Error).UnmarshalBinary(sealed(wireError{Op: "op", Timestamp: 1, Mode: Counter, Paths: []wirePath{request(cql)}})); err == nil {
		t.Error("CQL for a table: read without error")
	}
}
