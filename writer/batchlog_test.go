package writer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/explained"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/planned"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// batchLimit is a limit that is less than BatchLimit takes.
func batchLimit(bytes int) Option { return option(func(c *config) { c.batchLimit = bytes }) }

// A batch that the server would reject, or would drop from its batchlog, is rejected with table, size and limit.
func TestGuard(t *testing.T) {
	t.Parallel()
	open, paid := move()
	x := &fakeExecutor{}
	_, err := fakeWriter(x, batchLimit(600)).Write(t.Context(), "payOrder", orderSet(t).Update(open, paid))
	wantRefusal(t, "size", err)
	if !errors.Is(err, ErrTooLarge) || OutcomeOf(err) != NotApplied {
		t.Errorf("%v, %v, want ErrTooLarge and NotApplied", err, OutcomeOf(err))
	}
	for _, want := range []string{"payOrder: too large: ", "orders_by_status", "938", "600", "550"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	read := func(_ context.Context, _, table string) (liveTable, error) {
		if table == "orders_by_user" {
			return liveTable{}, nil
		}
		return liveTable{gcGrace: tenDays}, nil
	}
	w := newWriter(x, "shop", read)
	_, err = w.Write(t.Context(), "payOrder", orderSet(t).Update(open, paid))
	wantRefusal(t, "gc_grace", err)
	if !strings.Contains(err.Error(), "ALTER TABLE shop.orders_by_user WITH gc_grace_seconds") {
		t.Errorf("%v does not say how to fix it", err)
	}
	for name, test := range map[string]struct {
		set  *tables.Set[Order]
		want bool
	}{"plain": {orderSet(t), true}, "atomic": {orderSet(t, tables.Atomic()), false}} {
		for _, w := range []*Writer{w, fakeWriter(x, batchLimit(600))} {
			_, err := w.Write(t.Context(), "payOrder", test.set.Update(open, paid))
			if wantRefusal(t, name, err); strings.Contains(err.Error(), "Concurrent()") != test.want {
				t.Errorf("%s: Concurrent is advised, or it is not: %v", name, err)
			}
		}
	}
	if len(x.sent()) > 0 {
		t.Error("a request was sent")
	}
	if _, err := w.Write(t.Context(), "createOrder", orderSet(t).Insert(open)); err != nil {
		t.Errorf("the guard is for logged batches: %v", err)
	}
	if _, err := w.With(Concurrent()).Write(t.Context(), "payOrder", orderSet(t).Update(open, paid)); err != nil {
		t.Errorf("the guard is for logged batches: %v", err)
	}
}

// While the cluster is down the schema cannot be read. That is no fault of the call: nothing was sent, and the same
// error can be resumed when the cluster is back. It used to be ErrInvalid, on which services give up.
func TestGuardInAnOutage(t *testing.T) {
	t.Parallel()
	open, paid := move()
	for name, cause := range map[string]error{
		"no connections": gocql.ErrNoConnections, "EOF": io.EOF, "no table yet": errNoTable,
		"unauthorized": answer{gocql.ErrCodeUnauthorized, "no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var down atomic.Bool
				down.Store(true)
				read := func(ctx context.Context, keyspace, table string) (liveTable, error) {
					if down.Load() {
						return liveTable{}, cause
					}
					return grace(tenDays)(ctx, keyspace, table)
				}
				x, r := &fakeExecutor{}, &recorder{}
				w := newWriter(x, "shop", read, traced(r))
				res, err := w.Write(t.Context(), "payOrder", orderSet(t).Update(open, paid))
				e := asError(t, err)
				if errors.Is(err, ErrInvalid) || !errors.Is(err, cause) || !e.NotApplied() || len(e.Tables) != 3 ||
					len(x.sent()) > 0 {
					t.Errorf("%v, %d sent", err, len(x.sent()))
				}
				if res.Timestamp == 0 || res.Timestamp != e.Timestamp || res.Mode != LoggedBatch || res.Attempts != 0 {
					t.Errorf("%+v", res)
				}
				if len(r.ends) != 1 || !errors.Is(r.ends[0].Err, err) {
					t.Errorf("told of %v", r.ends)
				}
				wantConsistent(t, e)
				down.Store(false)
				res, err = w.Resume(t.Context(), transport(t, e))
				if err != nil || res.Timestamp != e.Timestamp || res.Mode != LoggedBatch || res.Attempts != 1 {
					t.Errorf("resumed: %+v, %v", res, err)
				}
			})
		})
	}
}

// A table that turns out to have gc_grace_seconds = 0 when its batch is resumed is not written in one either: a strict
// batch is rejected, any other goes out as a fan-out.
func TestGuardOfResume(t *testing.T) {
	t.Parallel()
	open, paid := move()
	x := &fakeExecutor{}
	down := newWriter(x, "shop", func(context.Context, string, string) (liveTable, error) { return liveTable{}, io.EOF },
		once())
	strict := failed(t, down.With(Logged()), orderSet(t).Update(open, paid))
	_, err := newWriter(x, "shop", grace(0)).Resume(t.Context(), strict)
	if again := asError(t, err); again.NotApplied() || !strings.Contains(err.Error(), "gc_grace_seconds = 0") ||
		len(x.sent()) > 0 {
		t.Errorf("strict: %v, %d sent", err, len(x.sent()))
	}
	e := failed(t, down, orderSet(t).Update(open, paid))
	res, err := newWriter(x, "shop", grace(0)).Resume(t.Context(), e)
	if err != nil || res.Mode != Fallback || res.Timestamp != e.Timestamp || len(x.sent()) != 6 {
		t.Errorf("not strict: %+v, %v, %d sent", res, err, len(x.sent()))
	}
}

// The writer had read a table before somebody made a view of it. OVERLOADED, clean for a plain table, was then reported
// as not applied, although the server had made a logged batch of the statement.
func TestOverloadedAfterANewView(t *testing.T) {
	t.Parallel()
	open, paid := move()
	var viewed atomic.Bool
	read := func(context.Context, string, string) (liveTable, error) {
		return liveTable{gcGrace: tenDays, derived: viewed.Load()}, nil
	}
	x := &fakeExecutor{}
	w := newWriter(x, "shop", read, once())
	if _, err := w.With(Logged()).Write(t.Context(), "payOrder", orderSet(t).Update(open, paid)); err != nil {
		t.Fatal(err)
	}
	x.answer = func(context.Context, fanout.Attempt) error { return overloaded{} }
	if e := failed(t, w, orderSet(t).Insert(open)); !e.NotApplied() {
		t.Errorf("no view: %v, want not applied", e)
	}
	viewed.Store(true)
	if e := failed(t, w, orderSet(t).Insert(open)); e.NotApplied() || !errors.Is(e, ErrUnknown) {
		t.Errorf("a new view: %v, want unknown", e)
	}
}

type overloaded struct{}

func (overloaded) Code() int       { return gocql.ErrCodeOverloaded }
func (overloaded) Message() string { return "overloaded" }
func (overloaded) Error() string   { return "overloaded" }

// What is known of a table is good for a while. Somebody set gc_grace_seconds to 0, and logged batches went on.
func TestGuardReadsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open, paid := move()
		var seconds atomic.Int64
		seconds.Store(int64(tenDays))
		var broken atomic.Bool
		w := newWriter(nopExecutor{}, "shop", func(context.Context, string, string) (liveTable, error) {
			if broken.Load() {
				return liveTable{}, io.EOF
			}
			return liveTable{gcGrace: time.Duration(seconds.Load())}, nil
		}, once())
		write := func() error {
			_, err := w.Write(t.Context(), "payOrder", orderSet(t).Update(open, paid))
			return err
		}
		if err := write(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(liveAge)
		broken.Store(true) // what was known has to do
		if err := write(); err != nil {
			t.Errorf("schema out of reach: %v", err)
		}
		broken.Store(false)
		seconds.Store(0)
		if err := write(); !errors.Is(err, ErrInvalid) {
			t.Errorf("gc_grace_seconds is 0: %v, want ErrInvalid", err)
		}
	})
}

// The schema of a table is read once, with retries, and not at all where no logged batch is sent.
func TestGuardReadsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open, paid := move()
		var reads atomic.Int32
		read := func(ctx context.Context, keyspace, table string) (liveTable, error) {
			if reads.Add(1) == 1 {
				return liveTable{}, io.EOF
			}
			return grace(tenDays)(ctx, keyspace, table)
		}
		w := newWriter(nopExecutor{}, "shop", read)
		if _, err := w.Write(t.Context(), "createOrder", orderSet(t).Insert(open)); err != nil || reads.Load() != 0 {
			t.Errorf("%d reads, %v", reads.Load(), err)
		}
		for range 3 {
			if _, err := w.With(once()).With(Retry(w.policy)).Write(t.Context(), "payOrder",
				orderSet(t).Update(open, paid)); err != nil {
				t.Fatal(err)
			}
		}
		if reads.Load() != 4 {
			t.Errorf("%d reads, want one that failed and one for each table", reads.Load())
		}
	})
}

// Three nodes of which one has died answer logged batches with BATCH_LOG timeouts for some 11 s. Auto then sends the
// same statements, at the same timestamp, as a fan-out, and leaves the batchlog out for 15 s.
func TestFallback(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{"timeout": errBatchLog, "no batchlog node": errNoBatchlog} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				x := &fakeExecutor{answer: fail("", cause)}
				w := fakeWriter(x, WithClock(NewClock(time.Now)))
				open, paid := move()
				write := func(w *Writer, want Mode, attempts int) Result {
					t.Helper()
					res, err := w.Write(t.Context(), "payOrder", orderSet(t).Update(open, paid))
					if err != nil || res.Mode != want || res.Attempts != attempts {
						t.Fatalf("%+v, %v; want %v in %d requests", res, err, want, attempts)
					}
					return res
				}
				res := write(w, Fallback, 7)
				sent := x.sent()
				if sent[0].Kind != retry.LoggedBatch {
					t.Fatal("the first request is not the batch")
				}
				wantSameBytes(t, sent[0].Mutations, sent[1:], res.Timestamp)

				write(w.With(Logged()), LoggedBatch, 1) // strict ones do not heed the pause
				time.Sleep(planned.BatchlogPause - time.Millisecond)
				write(w.With(Timeout(time.Second)), Fallback, 6) // derived writers share what they know
				time.Sleep(time.Millisecond)
				write(w, LoggedBatch, 1)
			})
		})
	}
}

// wantSameBytes says that the requests, of which each is for one partition, carry want and nothing else.
func wantSameBytes(t *testing.T, want []*statement.Mutation, requests []fanout.Attempt, timestamp int64) {
	t.Helper()
	left := make(map[*statement.Mutation]bool)
	for _, m := range want {
		left[m] = true
	}
	for _, r := range requests {
		if r.Kind != retry.Partition || len(fanout.Requests(r.Mutations)) != 1 {
			t.Errorf("a %v for %d partitions", r.Kind, len(fanout.Requests(r.Mutations)))
		}
		for _, m := range r.Mutations {
			if !left[m] {
				t.Errorf("%v was sent twice or was not in the batch", m)
			}
			delete(left, m)
			if m.Timestamp != timestamp && m.Timestamp != timestamp-1 {
				t.Errorf("%v is at %d, the write at %d", m, m.Timestamp, timestamp)
			}
		}
	}
	if len(left) > 0 {
		t.Errorf("not sent: %v", left)
	}
}

// A batch that failed at the batchlog may still be replayed by one of its nodes, so a fan-out that then fails cleanly
// does not make it "not applied"; an UNAVAILABLE for want of batchlog nodes has left nothing behind.
func TestFallbackOutcomes(t *testing.T) {
	t.Parallel()
	open, paid := move()
	for name, test := range map[string]struct {
		batch []error
		then  error
		want  Outcome // of orders_by_user
	}{
		"timeout, then clean":     {[]error{errBatchLog}, errUnavailable, Unknown},
		"timeout, then unknown":   {[]error{errBatchLog}, errSimple, Unknown},
		"no nodes, then clean":    {[]error{errNoBatchlog}, errUnavailable, NotApplied},
		"no nodes, then unknown":  {[]error{errNoBatchlog}, errSimple, Unknown},
		"stored, then no nodes":   {[]error{errBatch, errNoBatchlog}, errUnavailable, Pending},
		"unknown, then no nodes":  {[]error{errSimple, errNoBatchlog}, errUnavailable, Unknown},
		"overloaded, then no log": {[]error{errOverloaded, errNoBatchlog}, errUnavailable, Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				batch, request := fail("", test.batch...), fail("orders_by_user", test.then)
				x := &fakeExecutor{answer: func(ctx context.Context, r fanout.Attempt) error {
					if r.Kind == retry.LoggedBatch {
						return batch(ctx, r)
					}
					return request(ctx, r)
				}}
				w := fakeWriter(x, Retry(retry.Policy{MaxAttempts: len(test.batch)}))
				if len(test.batch) > 1 { // so that the fan-out has one attempt
					request = fail("orders_by_user", test.then, test.then)
				}
				e := failed(t, w, orderSet(t).Update(open, paid))
				got := outcomes(e)
				if e.Mode != Fallback || got["orders_by_user"] != test.want || got["orders_by_id"] != Applied {
					t.Errorf("%v: %v, want orders_by_user %v", e.Mode, got, test.want)
				}
				for _, r := range e.Tables {
					if r.Attempts < len(test.batch)+1 {
						t.Errorf("%s: %d attempts: the batch carried it too", r.Table, r.Attempts)
					}
				}
				wantConsistent(t, e)
				if res, err := w.Resume(t.Context(), e); err != nil || res.Mode != Fallback || res.Attempts != 1 {
					t.Errorf("resumed: %+v, %v", res, err)
				}
			})
		})
	}
}

// Logged() and Atomic ask for the batchlog's promise, and a fan-out does not keep it.
func TestStrictNeverFallsBack(t *testing.T) {
	t.Parallel()
	open, paid := move()
	for name, test := range map[string]struct {
		with []Option
		set  *tables.Set[Order]
	}{
		"Logged": {[]Option{Logged()}, orderSet(t)},
		"Atomic": {nil, orderSet(t, tables.Atomic())},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				x := &fakeExecutor{answer: func(context.Context, fanout.Attempt) error { return errBatchLog }}
				w := fakeWriter(x, WithClock(NewClock(time.Now))).With(test.with...)
				res, err := w.Write(t.Context(), "payOrder", test.set.Update(open, paid))
				if res.Mode != LoggedBatch || res.Attempts != 4 || !errors.Is(err, ErrUnknown) {
					t.Errorf("%+v, %v", res, err)
				}
				_, err = w.Resume(t.Context(), asError(t, err))
				if e := asError(t, err); e.Mode != LoggedBatch || !errors.Is(e, ErrUnknown) {
					t.Errorf("resumed: %v", e)
				}
				for _, r := range x.sent() {
					if r.Kind != retry.LoggedBatch {
						t.Fatal("a fan-out was sent")
					}
				}
			})
		})
	}
}

// An error is resumed by a writer which knows that the batchlog is down, and then by one which does not.
func TestResumeHeedsBatchlogPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open, paid := move()
		x := &fakeExecutor{answer: fail("", errBatch)}
		w := fakeWriter(x, WithClock(NewClock(time.Now)), once())
		e := failed(t, w, orderSet(t).Update(open, paid))
		w.batchlog.failed(time.Now())
		if res, err := w.Resume(t.Context(), e); err != nil || res.Mode != Fallback || res.Attempts != 6 {
			t.Errorf("%+v, %v", res, err)
		}
		time.Sleep(planned.BatchlogPause)
		if res, err := w.Resume(t.Context(), e); err != nil || res.Mode != LoggedBatch || res.Attempts != 1 {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// With the call's time over nothing more can be sent, and the error says what the batch met.
func TestNoFallbackWithoutTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open, paid := move()
		ctx, cancel := context.WithCancel(t.Context())
		x := &fakeExecutor{answer: func(context.Context, fanout.Attempt) error { cancel(); return errBatchLog }}
		_, err := fakeWriter(x).Write(ctx, "payOrder", orderSet(t).Update(open, paid))
		if e := asError(t, err); !errors.Is(e, errBatchLog) || !errors.Is(e, ErrUnknown) || len(x.sent()) != 1 {
			t.Errorf("%v, %d sent", e, len(x.sent()))
		}
	})
}

// A statement on a table with a materialized view is answered with BATCH_LOG timeouts too. The request took the error
// for that of its logged batch and was given up for a fan-out that never came.
func TestBatchLogTimeoutOfOnePartitionIsRetried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var failed atomic.Int32
		x := &fakeExecutor{answer: func(_ context.Context, r fanout.Attempt) error {
			if r.Mutations[0].Table == "orders_by_status" && failed.Add(1) == 1 {
				return &gocql.RequestErrWriteTimeout{WriteType: "BATCH_LOG"}
			}
			return nil
		}}
		res, err := fakeWriter(x).Write(t.Context(), "createOrder", orderSet(t).Insert(newOrder(Open)))
		if err != nil || res.Mode != FanOut || res.Attempts != 4 {
			t.Errorf("%+v, %v, want a fan-out of 4 attempts", res, err)
		}
	})
}

// After the pause one write tries the batchlog, and the others go on without it until it has shown that it works: they
// would all wait for the server's timeout otherwise.
func TestOneWriteTriesTheBatchlog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open, paid := move()
		var down atomic.Bool
		down.Store(true)
		x := &fakeExecutor{answer: func(_ context.Context, r fanout.Attempt) error {
			if r.Kind == retry.LoggedBatch {
				time.Sleep(2 * time.Second) // the server's timeout
				if down.Load() {
					return errBatchLog
				}
			}
			return nil
		}}
		w := fakeWriter(x, WithClock(NewClock(time.Now)))
		batches := func() int {
			n := 0
			for _, r := range x.sent() {
				if r.Kind == retry.LoggedBatch {
					n++
				}
			}
			return n
		}
		write := func(writers int) {
			var all sync.WaitGroup
			for range writers {
				all.Go(func() {
					if _, err := w.Write(t.Context(), "payOrder", orderSet(t).Update(open, paid)); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		}
		for n, step := range []struct {
			wait    time.Duration
			down    bool
			writers int
			want    int // batches so far
		}{
			{0, true, 1, 1},
			{time.Second, true, 8, 1},
			{planned.BatchlogPause, true, 8, 2},
			{time.Second, true, 8, 2},
			{planned.BatchlogPause, false, 8, 3},
			{0, false, 8, 4},
			{0, true, 8, 5},
			{planned.BatchlogPause, false, 1, 6},
			{0, false, 1, 7},
			{0, false, 1, 8},
			{0, false, 1, 9},
			{0, false, 1, 10},
			{0, false, 1, 11},
			{0, false, 1, 12},
			{0, false, 1, 13},
			{0, false, 1, 14},
			{0, false, 1, 15},
			{0, false, 8, 23},
		} {
			time.Sleep(step.wait)
			down.Store(step.down)
			if write(step.writers); batches() != step.want {
				t.Errorf("step %d: %d logged batches, want %d", n+1, batches(), step.want)
			}
		}
	})
}

// Explain sends nothing, so it is not the one that tries the batchlog again: a service that calls it before each write
// would never send another batch.
func TestExplainLeavesTheTrial(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open, paid := move()
		w := fakeWriter(&fakeExecutor{}, WithClock(NewClock(time.Now)))
		w.batchlog.failed(time.Now())
		for _, want := range []Mode{Fallback, LoggedBatch} {
			for range 2 {
				if plan, err := explained.Of(w.explain("payOrder", orderSet(t).Update(open, paid))); err != nil || Mode(plan.Mode) != want {
					t.Errorf("Explain: %v, %v, want %v", Mode(plan.Mode), err, want)
				}
			}
			if res, err := w.Write(t.Context(), "payOrder", orderSet(t).Update(open, paid)); err != nil || res.Mode != want {
				t.Errorf("Write: %v, %v, want %v", res.Mode, err, want)
			}
			time.Sleep(planned.BatchlogPause)
		}
	})
}

// A writer forgets tables that rotate away, and names of which the cluster has no table, and keeps what is in use.
func TestLiveForgets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const days = 100
		var down atomic.Bool // tables are also read by goroutines that nothing waits for
		l := live{read: func(_ context.Context, _, table string) (liveTable, error) {
			if table == "never" {
				return liveTable{}, errNoTable
			}
			if down.Load() {
				return liveTable{}, errors.New("unavailable")
			}
			return liveTable{gcGrace: time.Hour}, nil
		}}
		for day := range days {
			for range 24 {
				for _, table := range []string{"orders", fmt.Sprint("orders_", day)} {
					if _, err := l.table(t.Context(), &single, "shop", table); err != nil {
						t.Fatal(err)
					}
				}
				l.groupable("shop", "notes")
				l.groupable("shop", fmt.Sprint("notes_", day))
				l.groupable("shop", "never")
				l.ungroup("shop", fmt.Sprint("rejected_", day))
				<-time.After(time.Hour)
			}
			if day > 0 && !l.groupable("shop", "notes") {
				t.Fatalf("day %d: a table in use is forgotten", day)
			}
		}
		if known := len(*l.known.Load()); known > 10 {
			t.Errorf("%d tables are known", known)
		}
		down.Store(true)
		<-time.After(liveKept - 2*time.Hour)
		l.ungroup("shop", "other")
		if known, err := l.table(t.Context(), &single, "shop", "orders"); err != nil || known.gcGrace != time.Hour {
			t.Errorf("a table of yesterday, whose schema cannot be read now: %v, %v", known, err)
		}
	})
}
