package writer

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/retry"
)

// A policy that the Timeout of calls leaves one attempt is an error of New. One of a single attempt is not, nor are defaults, nor a shorter
// Timeout for some calls.
func TestAttemptsAreShorterThanCalls(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options []NewOption
		fits    bool
	}{
		"as long as the call":   {[]NewOption{Timeout(time.Second), Retry(retry.Policy{AttemptTimeout: time.Second})}, false},
		"longer, Retry first":   {[]NewOption{Retry(retry.Policy{AttemptTimeout: 2 * time.Second}), Timeout(time.Second)}, false},
		"than the default":      {[]NewOption{Retry(retry.Policy{AttemptTimeout: 20 * time.Second, MaxElapsedTime: time.Minute})}, false},
		"one attempt":           {[]NewOption{Timeout(time.Second), Retry(retry.Policy{AttemptTimeout: time.Second, MaxAttempts: 1})}, true},
		"shorter":               {[]NewOption{Timeout(time.Second), Retry(retry.Policy{AttemptTimeout: time.Second - 1})}, true},
		"the default attempt":   {[]NewOption{Timeout(time.Second), Retry(retry.Policy{MaxAttempts: 3})}, true},
		"the default policy":    {[]NewOption{Timeout(time.Second)}, true},
		"nothing but a default": {nil, true},
	} {
		w := fakeWriter(&fakeExecutor{}, test.options...)
		if (w.err == nil) != test.fits || !test.fits && !strings.Contains(w.err.Error(), "make AttemptTimeout less, Timeout more, or MaxAttempts 1") {
			t.Errorf("%s: %v", name, w.err)
		}
	}
	w := fakeWriter(&fakeExecutor{}, Retry(retry.Policy{AttemptTimeout: time.Second})).With(Timeout(300 * time.Millisecond))
	if w.err != nil {
		t.Error(w.err)
	}
}

// The error says whose limit has ended a write: that of an attempt, that of the writer, or that of the caller.
func TestErrorSaysWhoseLimit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		caller time.Duration // 0: no deadline
		writer time.Duration
		policy retry.Policy
		stuck  bool // the driver does not look at the context
		want   string
	}{
		"attempt":             {0, time.Minute, retry.Policy{MaxAttempts: 2}, false, "unknown after 2 attempts: no answer within 2.5s"},
		"writer":              {0, time.Second, retry.Policy{}, false, "unknown: the writer's Timeout of 1s is over"},
		"writer, later":       {0, 3 * time.Second, retry.Policy{}, false, "unknown after 2 attempts: the writer's Timeout of 3s is over"},
		"writer, stuck":       {0, time.Second, retry.Policy{}, true, "unknown: the driver has not returned: the writer's Timeout of 1s is over"},
		"caller":              {time.Second, time.Minute, retry.Policy{}, false, "unknown: context deadline exceeded"},
		"caller, stuck":       {time.Second, time.Minute, retry.Policy{}, true, "unknown: the driver has not returned: context deadline exceeded"},
		"caller, then writer": {time.Minute, time.Second, retry.Policy{}, false, "unknown: the writer's Timeout of 1s is over"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				if test.caller > 0 {
					ctx, cancel = context.WithTimeout(ctx, test.caller)
				}
				defer cancel()
				x := &fakeExecutor{answer: func(ctx context.Context, _ request) error {
					if test.stuck {
						<-time.After(time.Minute)
					}
					<-ctx.Done()
					return ctx.Err()
				}}
				_, err := fakeWriter(x, Timeout(test.writer), Retry(test.policy)).Write(ctx, "createOrder", orderSet(t).Insert(newOrder(Open)))
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
