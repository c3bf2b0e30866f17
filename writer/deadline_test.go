package writer

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/explained"
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

// One unresponsive node must not take the call's whole time: the attempt has a limit of its own, and the next one may
// meet another node.
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

// A policy that the Timeout of calls leaves one attempt is an error of New. One of a single attempt is not, nor are
// defaults, nor a shorter Timeout for some calls.
func TestAttemptsAreShorterThanCalls(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options []NewOption
		fits    bool
	}{
		"as long as the call": {[]NewOption{Timeout(time.Second), Retry(retry.Policy{AttemptTimeout: time.Second})}, false},
		"longer, Retry first": {
			[]NewOption{Retry(retry.Policy{AttemptTimeout: 2 * time.Second}), Timeout(time.Second)},
			false,
		},
		"than the default": {[]NewOption{
			Retry(retry.Policy{AttemptTimeout: 20 * time.Second, MaxElapsedTime: time.Minute}),
		}, false},
		"one attempt": {[]NewOption{
			Timeout(time.Second),
			Retry(retry.Policy{AttemptTimeout: time.Second, MaxAttempts: 1}),
		}, true},
		"shorter": {
			[]NewOption{Timeout(time.Second), Retry(retry.Policy{AttemptTimeout: time.Second - 1})},
			true,
		},
		"the default attempt":   {[]NewOption{Timeout(time.Second), Retry(retry.Policy{MaxAttempts: 3})}, true},
		"the default policy":    {[]NewOption{Timeout(time.Second)}, true},
		"nothing but a default": {nil, true},
	} {
		w := fakeWriter(&fakeExecutor{}, test.options...)
		if (w.err == nil) != test.fits || !test.fits && !strings.Contains(w.err.Error(), "make it less, or MaxAttempts 1") {
			t.Errorf("%s: %v", name, w.err)
		}
	}
	for name, policy := range map[string]retry.Policy{
		"AttemptTimeout 10s leaves no second attempt within Timeout 5s": {AttemptTimeout: 10 * time.Second},
		"MaxElapsedTime 30s is longer than Timeout":                     {MaxAttempts: 30, MaxElapsedTime: 30 * time.Second},
	} {
		for how, w := range map[string]*Writer{
			"New": fakeWriter(&fakeExecutor{}, Retry(policy)), "With": fakeWriter(&fakeExecutor{}).With(Retry(policy)),
		} {
			if w.err == nil || !strings.Contains(w.err.Error(), name) {
				t.Errorf("%s: %s: %v", how, name, w.err)
			}
		}
		if w := fakeWriter(&fakeExecutor{}).With(Retry(policy), Timeout(time.Minute)); w.err != nil {
			t.Error(w.err)
		}
	}
	w := fakeWriter(&fakeExecutor{}, Retry(retry.Policy{AttemptTimeout: time.Second})).
		With(Timeout(300 * time.Millisecond))
	if w.err != nil {
		t.Error(w.err)
	}
}

// A short Timeout leaves time for a second attempt; what the caller has chosen, a hedge too, stays, and so do the reads
// of Warm.
func TestAttemptsOfShortCalls(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options []NewOption
		want    time.Duration
	}{
		"default":                {nil, 2500 * time.Millisecond},
		"above that of attempts": {[]NewOption{Timeout(2501 * time.Millisecond)}, 2500 * time.Millisecond},
		"as that of attempts":    {[]NewOption{Timeout(2500 * time.Millisecond)}, 1250 * time.Millisecond},
		"short":                  {[]NewOption{Timeout(time.Second)}, 500 * time.Millisecond},
		"short, of some attempts": {
			[]NewOption{Timeout(time.Second), Retry(retry.Policy{MaxAttempts: 3})},
			500 * time.Millisecond,
		},
		"of one attempt": {
			[]NewOption{Timeout(time.Second), Retry(retry.Policy{MaxAttempts: 1})},
			2500 * time.Millisecond,
		},
		"of a chosen limit": {[]NewOption{
			Timeout(time.Second),
			Retry(retry.Policy{AttemptTimeout: 900 * time.Millisecond}),
		}, 900 * time.Millisecond},
		"hedged":       {[]NewOption{Timeout(time.Second), Hedge(time.Millisecond)}, 2500 * time.Millisecond},
		"the shortest": {[]NewOption{Timeout(time.Millisecond)}, time.Millisecond},
	} {
		w := fakeWriter(&fakeExecutor{}, test.options...)
		if got := w.sender.Retrier.AttemptTimeout(); w.err != nil || got != test.want {
			t.Errorf("%s: %v, %v", name, got, w.err)
		}
		plan, err := explained.Of(w.explain("writeNote", noteSet(t).Insert(newNote())))
		if err != nil || plan.Policy.AttemptTimeout != test.want {
			t.Errorf("%s: Explain says %v, %v", name, plan.Policy, err)
		}
		patient := w.patient()
		if got, want := patient.AttemptTimeout(), w.policy.WithDefaults().AttemptTimeout; got != want {
			t.Errorf("%s: Warm reads for %v", name, got)
		}
	}
	if got := fakeWriter(&fakeExecutor{}, Timeout(time.Second)).With(Timeout(5 * time.Second)).
		sender.Retrier.AttemptTimeout(); got != 2500*time.Millisecond {
		t.Errorf("a longer Timeout again: %v", got)
	}
}

// A hedge that would never be sent is an error.
func TestHedgeIsShorterThanAttempts(t *testing.T) {
	t.Parallel()
	short := Retry(retry.Policy{AttemptTimeout: 300 * time.Millisecond})
	for name, test := range map[string]struct {
		w    *Writer
		want string
	}{
		"as the default": {
			fakeWriter(&fakeExecutor{}, Hedge(2500*time.Millisecond)),
			"Hedge is 2.5s, but an attempt ends after 2.5s",
		},
		"as the chosen": {
			fakeWriter(&fakeExecutor{}, Hedge(300*time.Millisecond), short),
			"Hedge is 300ms, but an attempt ends after 300ms",
		},
		"as the chosen, by With": {
			fakeWriter(&fakeExecutor{}, short).With(Hedge(time.Second)),
			"Hedge is 1s, but an attempt ends after 300ms",
		},
		"as the call": {
			fakeWriter(&fakeExecutor{}, Timeout(time.Second), Hedge(time.Second)),
			"Hedge is 1s, but a call ends after 1s",
		},
		"shorter": {fakeWriter(&fakeExecutor{}, Hedge(299*time.Millisecond), short), ""},
		"none":    {fakeWriter(&fakeExecutor{}, Hedge(0)), ""},
		"a shorter Timeout, later": {
			fakeWriter(&fakeExecutor{}, Hedge(time.Second)).With(Timeout(300 * time.Millisecond)),
			"",
		},
	} {
		_, err := test.w.Write(t.Context(), "writeNote", noteSet(t).Insert(newNote()))
		if test.want == "" && err != nil || test.want != "" &&
			(!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The error says whose limit has ended a write: that of an attempt, that of the writer, or that of the caller.
func TestErrorSaysWhoseLimit(t *testing.T) {
	t.Parallel()
	once := retry.Policy{MaxAttempts: 1}
	for name, test := range map[string]struct {
		caller time.Duration // 0: no deadline
		writer time.Duration
		policy retry.Policy
		stuck  bool // the driver does not look at the context
		want   string
	}{
		"attempt": {0, time.Minute, retry.Policy{MaxAttempts: 2}, false, "unknown after 2 attempts: no answer within 2.5s"},
		"time of the attempts": {
			0, time.Minute,
			retry.Policy{MaxAttempts: 100},
			false,
			"unknown after 2 attempts: no answer within 2.5s; " +
				"MaxElapsedTime 5s of the retry policy allows no further attempt",
		},
		"writer, short": {
			0, time.Second,
			retry.Policy{MaxAttempts: 2},
			false,
			"unknown after 2 attempts: the writer's Timeout of 1s is over",
		},
		"writer": {0, time.Second, once, false, "unknown: the writer's Timeout of 1s is over"},
		"writer, later": {
			0, 3 * time.Second,
			retry.Policy{},
			false,
			"unknown after 2 attempts: the writer's Timeout of 3s is over",
		},
		"writer, stuck": {
			0, time.Second, once, true,
			"unknown: the driver has not returned: the writer's Timeout of 1s is over",
		},
		"caller": {time.Second, time.Minute, retry.Policy{}, false, "unknown: context deadline exceeded"},
		"caller, stuck": {
			time.Second, time.Minute,
			retry.Policy{},
			true,
			"unknown: the driver has not returned: context deadline exceeded",
		},
		"caller, then writer": {time.Minute, time.Second, once, false, "unknown: the writer's Timeout of 1s is over"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				if test.caller > 0 {
					ctx, cancel = context.WithTimeout(ctx, test.caller)
				}
				defer cancel()
				x := &fakeExecutor{answer: func(ctx context.Context, _ fanout.Attempt) error {
					if test.stuck {
						<-time.After(time.Minute)
					}
					<-ctx.Done()
					return ctx.Err()
				}}
				_, err := fakeWriter(x, Timeout(test.writer), Retry(test.policy)).Write(ctx, "createOrder",
					orderSet(t).Insert(newOrder(Open)))
				if want := "orders_by_id " + test.want + "; orders_by_user"; !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %s", err, want)
				}
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v is no context.DeadlineExceeded", err)
				}
				time.Sleep(2 * time.Minute)
			})
		})
	}
}

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
