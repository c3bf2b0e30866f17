package writer

import (
	"context"
	"errors"
	"sync"
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
				time.Sleep(batchlogPause - time.Millisecond)
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
		time.Sleep(batchlogPause)
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

// A statement on a table with a materialized view is answered with BATCH_LOG timeouts too. The request took the error for
// that of its logged batch and was given up for a fan-out that never came.
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

// After the pause one write tries the batchlog, and the others go on without it until it has shown that it works: they would
// all wait for the server's timeout otherwise.
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
			{batchlogPause, true, 8, 2},
			{time.Second, true, 8, 2},
			{batchlogPause, false, 8, 3},
			{0, false, 8, 4},
			{0, true, 8, 5},
			{batchlogPause, false, 1, 6},
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

// Explain sends nothing, so it is not the one that tries the batchlog again: a service that calls it before each write would never send another batch.
func TestExplainLeavesTheTrial(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open, paid := move()
		w := fakeWriter(&fakeExecutor{}, WithClock(NewClock(time.Now)))
		w.batchlog.failed(time.Now())
		for _, want := range []Mode{Fallback, LoggedBatch} {
			for range 2 {
				if plan, err := w.Explain("payOrder", orderSet(t).Update(open, paid)); err != nil || plan.Mode != want {
					t.Errorf("Explain: %v, %v, want %v", plan.Mode, err, want)
				}
			}
			if res, err := w.Write(t.Context(), "payOrder", orderSet(t).Update(open, paid)); err != nil || res.Mode != want {
				t.Errorf("Write: %v, %v, want %v", res.Mode, err, want)
			}
			time.Sleep(batchlogPause)
		}
	})
}
