package writer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
)

// ending is a context of a caller's own, of which the end is seen in two steps, as it is of any while it ends.
type ending struct {
	context.Context
	done chan struct{}
	err  error
}

func (e *ending) Done() <-chan struct{} { return e.done }
func (e *ending) Err() error            { return e.err }

// First attempts end with an error, even if the caller's context says Done before it says why.
func TestFirstAttemptsEndWithAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		parent := &ending{Context: context.Background(), done: make(chan struct{})}
		time.AfterFunc(time.Second, func() { close(parent.done) })
		x := &fakeExecutor{answer: func(ctx context.Context, _ fanout.Attempt) error {
			<-ctx.Done()
			if ctx.Err() == nil {
				t.Error("the context has ended, and has no error")
			}
			return context.Canceled
		}}
		if _, err := fakeWriter(x).Write(parent, "op", orderSet(t).Insert(newOrder(Open))); err == nil {
			t.Error("the write succeeded")
		}
	})
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
		_, err := fakeWriter(x, Timeout(time.Second)).Write(context.Background(), "op", viewSet(t).Add(newView()), orderSet(t).Insert(newOrder(Open)))
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
		if _, err := w.Write(context.Background(), "op", viewSet(t).Add(newView()), orderSet(t).Update(open, paid)); err != nil {
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
