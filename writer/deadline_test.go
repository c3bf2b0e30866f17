package writer

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/retry"
)

// silent never answers, as a stopped node.
func silent(ctx context.Context, _ fanout.Attempt) error {
	<-ctx.Done()
	return ctx.Err()
}

// A call ends with its context or after the writer's Timeout, whichever is earlier, and never lacks a deadline.
func TestDeadline(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		caller  time.Duration // 0 is none
		timeout time.Duration
		want    time.Duration
	}{
		"default":       {timeout: defaultTimeout, want: 5 * time.Second},
		"writer's":      {timeout: time.Second, want: time.Second},
		"caller first":  {caller: time.Second, timeout: 3 * time.Second, want: time.Second},
		"writer first":  {caller: time.Minute, timeout: 3 * time.Second, want: 3 * time.Second},
		"both the same": {caller: time.Second, timeout: time.Second, want: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.caller > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.caller)
					defer cancel()
				}
				w := fakeWriter(&fakeExecutor{answer: silent}, Timeout(test.timeout))
				start := time.Now()
				_, err := w.Write(ctx, "createOrder", orderSet(t).Insert(newOrder(Open)))
				if took := time.Since(start); took > test.want || took < test.want-2*time.Second {
					t.Errorf("took %v, want %v", took, test.want)
				}
				if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrUnknown) || errors.Is(err, ErrPartial) {
					t.Error(err)
				}
				_, err = w.Resume(ctx, asError(t, err))
				if took := time.Since(start); took > 2*test.want {
					t.Errorf("with Resume %v, want at most %v", took, 2*test.want)
				}
				if !errors.Is(err, ErrUnknown) {
					t.Errorf("resumed: %v", err)
				}
			})
		})
	}
}

// A context that has ended before anything was sent leaves nothing behind; one that ends later may have.
func TestCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		open, paid := move()
		x := &fakeExecutor{answer: func(ctx context.Context, r fanout.Attempt) error {
			cancel()
			return silent(ctx, r)
		}}
		w := fakeWriter(x)
		_, err := w.Write(ctx, "createOrder", orderSet(t).Insert(open))
		e := asError(t, err)
		if !errors.Is(err, context.Canceled) || !errors.Is(err, ErrUnknown) || e.NotApplied() {
			t.Errorf("cancelled after sending: %v", err)
		}
		n := len(x.sent())
		for _, change := range []struct {
			mode  Mode
			write func() (Result, error)
		}{
			{FanOut, func() (Result, error) { return w.Write(ctx, "createOrder", orderSet(t).Insert(open)) }},
			{LoggedBatch, func() (Result, error) { return w.Write(ctx, "payOrder", orderSet(t).Update(open, paid)) }},
			{SamePartition, func() (Result, error) { return w.Write(ctx, "writeNote", noteSet(t).Insert(newNote())) }},
		} {
			res, err := change.write()
			e := asError(t, err)
			if res.Mode != change.mode || res.Attempts != 0 || !errors.Is(err, context.Canceled) || !e.NotApplied() {
				t.Errorf("cancelled before: %+v, %v", res, err)
			}
			wantConsistent(t, e)
			if _, err := fakeWriter(nopExecutor{}).Resume(t.Context(), e); err != nil {
				t.Errorf("cannot be resumed: %v", err)
			}
		}
		if len(x.sent()) != n {
			t.Error("something was sent for a context that had ended")
		}
		_, err = w.Resume(ctx, e)
		if !errors.Is(err, ErrUnknown) || len(x.sent()) != n {
			t.Errorf("what may have happened is forgotten: %v", err)
		}
	})
}

// One unresponsive node must not take the call's whole time: the attempt has a limit of its own, and the next one may meet
// another node.
func TestSilentAttemptIsRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first := true
		x := &fakeExecutor{}
		x.answer = func(ctx context.Context, r fanout.Attempt) error {
			if carries(r, "orders_by_status") && first {
				first = false
				return silent(ctx, r)
			}
			return nil
		}
		start := time.Now()
		res, err := fakeWriter(x).Write(t.Context(), "createOrder", orderSet(t).Insert(newOrder(Open)))
		took := time.Since(start)
		if err != nil || res.Attempts != 4 || took < 2500*time.Millisecond || took > 2600*time.Millisecond {
			t.Errorf("%+v, %v after %v", res, err, took)
		}
	})
}

// To cancel the siblings of a request that failed would turn one failed table into three.
func TestFailureDoesNotCancelSiblings(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"orders_by_id", "orders_by_user", "orders_by_status"} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				x := &fakeExecutor{answer: func(ctx context.Context, r fanout.Attempt) error {
					if carries(r, table) {
						return errSyntax
					}
					select {
					case <-time.After(2 * time.Second):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				}}
				start := time.Now()
				e := failed(t, fakeWriter(x, Retry(retry.Policy{})), orderSet(t).Insert(newOrder(Open)))
				for name, outcome := range outcomes(e) {
					if want := map[bool]Outcome{true: NotApplied, false: Applied}[name == table]; outcome != want {
						t.Errorf("%s: %v, want %v", name, outcome, want)
					}
				}
				if took := time.Since(start); took != 2*time.Second {
					t.Errorf("took %v: the call must wait for all", took)
				}
			})
		})
	}
}
