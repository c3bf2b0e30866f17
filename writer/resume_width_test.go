package writer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
)

// manyRequests is a stored error of n rows, each in a partition of its own, that expire in an hour.
func manyRequests(t *testing.T, n int) *Error {
	t.Helper()
	set := taskSet(t, tables.ExpiresAt("ends"))
	w := wireError{Op: "op", Timestamp: time.Now().UnixMicro(), Mode: FanOut, Paths: make([]wirePath, n)}
	for i := range w.Paths {
		task := newTask(fmt.Sprintf("worker%d", i))
		task.Ends = ptr(time.Now().Add(time.Hour))
		r, err := set.Insert(task).Internal().Render(w.Timestamp, func(string) string { return "shop" })
		if err != nil {
			t.Fatal(err)
		}
		data, err := r.Mutations[len(r.Mutations)-1].MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		w.Paths[i] = wirePath{Outcome: Unknown, Mutations: [][]byte{data}}
	}
	e := new(Error)
	if err := e.UnmarshalBinary(sealed(w)); err != nil {
		t.Fatal(err)
	}
	return e
}

// Of a Resume of many requests a bounded number is under way at any time, and each is sent as if it were alone: with an attempt of
// full length and the TTL of its moment, whatever became of the others.
func TestResumeOfManyRequestsIsBounded(t *testing.T) {
	t.Parallel()
	const n = 1000
	synctest.Test(t, func(t *testing.T) {
		e := manyRequests(t, n)
		var under, most, failed atomic.Int32
		x := &fakeExecutor{answer: func(ctx context.Context, r fanout.Attempt) error {
			if now := under.Add(1); now > most.Load() {
				most.Store(now)
			}
			defer under.Add(-1)
			if end, ok := ctx.Deadline(); !ok || time.Until(end) != time.Second {
				t.Errorf("an attempt of %v", time.Until(end))
			}
			if r.Now != time.Now().UnixMilli() {
				t.Errorf("a TTL as of %v", time.Until(time.UnixMilli(r.Now)))
			}
			time.Sleep(10 * time.Millisecond)
			if failed.Add(1)%10 == 0 {
				return errUnavailable
			}
			return nil
		}}
		w := fakeWriter(x, Retry(retry.Policy{MaxAttempts: 1, AttemptTimeout: time.Second}))
		result, err := w.Resume(t.Context(), e)
		if most.Load() != resumeWidth || len(x.sent()) != n || result.Attempts != n {
			t.Errorf("%d requests, %d by the result, up to %d under way", len(x.sent()), result.Attempts, most.Load())
		}
		open := 0
		for _, p := range asError(t, err).requests {
			if p.Outcome != Applied {
				open++
			}
			if p.Attempts != 1 || (p.Outcome == Applied) != (p.Err == nil) {
				t.Errorf("%v after %d attempts: %v", p.Outcome, p.Attempts, p.Err)
			}
		}
		if open != n/10 {
			t.Errorf("%d of %d are open", open, n)
		}
		x.answer = nil
		if result, err := w.Resume(t.Context(), asError(t, err)); err != nil || result.Attempts != n/10 {
			t.Errorf("resumed again: %d requests, %v", result.Attempts, err)
		}
	})
}

// What has not begun when the call ends is not sent any more, and stays as it was.
func TestResumeOfManyRequestsEndsInTime(t *testing.T) {
	t.Parallel()
	const n = 3 * resumeWidth
	synctest.Test(t, func(t *testing.T) {
		e := manyRequests(t, n)
		x := &fakeExecutor{answer: func(ctx context.Context, _ fanout.Attempt) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		start := time.Now()
		w := fakeWriter(x, Retry(retry.Policy{MaxAttempts: 1, AttemptTimeout: time.Second}), Timeout(1500*time.Millisecond))
		_, err := w.Resume(t.Context(), e)
		if took := time.Since(start); took > 2*time.Second || !errors.Is(err, ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %v: %v", took, err)
		}
		sent := 0
		for _, p := range asError(t, err).requests {
			if sent += p.Attempts; p.Outcome != Unknown || p.Err == nil {
				t.Errorf("%v after %d attempts: %v", p.Outcome, p.Attempts, p.Err)
			}
		}
		time.Sleep(time.Minute)
		if sent != 2*resumeWidth || len(x.sent()) != sent {
			t.Errorf("%d requests, %d by the error", len(x.sent()), sent)
		}
	})
}
