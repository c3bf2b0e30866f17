package writer

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/gocql/gocql"
)

// script answers the n-th request after a wait.
type step struct {
	after time.Duration
	err   error
}

func script(steps ...step) (func(context.Context, fanout.Attempt) error, *atomic.Int32) {
	var n atomic.Int32
	return func(ctx context.Context, _ fanout.Attempt) error {
		s := steps[int(n.Add(1))-1]
		select {
		case <-time.After(s.after):
			return s.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}, &n
}

// The first success wins; an error waits for the other request.
func TestHedge(t *testing.T) {
	t.Parallel()
	const hedge, never = 50 * time.Millisecond, time.Hour
	for name, test := range map[string]struct {
		steps    []step
		took     time.Duration
		requests int
		want     error // nil for applied
		outcome  Outcome
	}{
		"answered in time":             {[]step{{after: 49 * time.Millisecond}}, 49 * time.Millisecond, 1, nil, Applied},
		"first silent":                 {[]step{{after: never}, {after: 5 * time.Millisecond}}, 55 * time.Millisecond, 2, nil, Applied},
		"first slow, second slower":    {[]step{{after: 60 * time.Millisecond}, {after: never}}, 60 * time.Millisecond, 2, nil, Applied},
		"error in time is no hedge":    {[]step{{10 * time.Millisecond, errSyntax}}, 10 * time.Millisecond, 1, errSyntax, NotApplied},
		"second fails, first succeeds": {[]step{{after: 90 * time.Millisecond}, {10 * time.Millisecond, errUnavailable}}, 90 * time.Millisecond, 2, nil, Applied},
		"first fails late, second succeeds": {
			[]step{{60 * time.Millisecond, errSimple}, {after: 40 * time.Millisecond}}, 90 * time.Millisecond, 2, nil, Applied,
		},
		"both fail cleanly": {
			[]step{{60 * time.Millisecond, errSyntax}, {20 * time.Millisecond, errSyntax}}, 70 * time.Millisecond, 2, errSyntax, NotApplied,
		},
		"one fails cleanly, one not": {
			[]step{{60 * time.Millisecond, errSimple}, {20 * time.Millisecond, errSyntax}}, 70 * time.Millisecond, 2, errSimple, Unknown,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				answer, n := script(test.steps...)
				w := fakeWriter(&fakeExecutor{answer: answer}, Hedge(hedge), once())
				start := time.Now()
				res, err := w.Write(t.Context(), "writeNote", noteSet(t).Insert(newNote()))
				if took := time.Since(start); took != test.took || int(n.Load()) != test.requests || res.Attempts != test.requests {
					t.Errorf("%v, %d requests, %d attempts, want %v and %d", took, n.Load(), res.Attempts, test.took, test.requests)
				}
				if !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
					t.Fatalf("error %v, want %v", err, test.want)
				}
				if err == nil {
					return
				}
				if got := asError(t, err).Tables[0]; got.Outcome != test.outcome || got.Attempts != test.requests {
					t.Errorf("%+v, want %v", got, test.outcome)
				}
			})
		})
	}
}

// A hedge is a request more, so it takes from the budget; without a token there is none. By default there is none at all.
func TestHedgeNeedsBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer, n := script(step{after: time.Second}, step{after: time.Second}, step{after: time.Second}, step{after: time.Second})
		set, ctx := noteSet(t), t.Context()
		w := fakeWriter(&fakeExecutor{answer: answer}, shared(session.Budget(retry.NewBudget(1, 0.001))))
		hedged := w.With(Hedge(100 * time.Millisecond))
		for i, test := range []struct {
			w    *Writer
			want int32
		}{{w, 1}, {hedged, 3}, {hedged, 4}} {
			if _, err := test.w.Write(ctx, "writeNote", set.Insert(newNote())); err != nil || n.Load() != test.want {
				t.Errorf("write %d: %v, %d requests, want %d", i, err, n.Load(), test.want)
			}
		}
	})
}

// When the call's context ends, both requests do, and what is not known stays so.
func TestHedgeEndsWithTheCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		x := &fakeExecutor{answer: silent}
		w := fakeWriter(x, Hedge(100*time.Millisecond), Retry(retry.Policy{AttemptTimeout: 300 * time.Millisecond}))
		start := time.Now()
		_, err := w.Write(ctx, "writeNote", noteSet(t).Insert(newNote()))
		if took := time.Since(start); took > time.Second || !errors.Is(err, ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v after %v", err, took)
		}
		if n := len(x.sent()); n < 4 {
			t.Errorf("%d requests", n)
		}
	})
}

// The error of a failed hedge knows both answers.
func TestHedgeKeepsBothErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer, _ := script(step{60 * time.Millisecond, errOverloaded}, step{20 * time.Millisecond, gocql.ErrConnectionClosed})
		w := fakeWriter(&fakeExecutor{answer: answer}, Hedge(50*time.Millisecond), once())
		_, err := w.Write(t.Context(), "writeNote", noteSet(t).Insert(newNote()))
		if !errors.Is(err, errOverloaded) || !errors.Is(err, gocql.ErrConnectionClosed) {
			t.Error(err)
		}
	})
}
