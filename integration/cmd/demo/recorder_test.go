package main

import (
	"context"
	"testing"
	"time"

	"github.com/denorm-go/denorm/session"
)

func TestPercentile(t *testing.T) {
	t.Parallel()
	var hundred []time.Duration
	for i := 100; i > 0; i-- {
		hundred = append(hundred, time.Duration(i))
	}
	for _, test := range []struct {
		values []time.Duration
		p      int
		want   time.Duration
	}{
		{nil, 50, 0}, {hundred[:1], 99, 100}, {hundred, 50, 50}, {hundred, 99, 99}, {hundred, 100, 100}, {hundred[98:], 50, 1},
	} {
		if got := percentile(test.values, test.p); got != test.want {
			t.Errorf("p%d of %d values is %d, want %d", test.p, len(test.values), got, test.want)
		}
	}
	if hundred[0] != 100 {
		t.Error("the values were sorted in place")
	}
}

// The slowest of the requests counts, and each write has its own.
func TestRecorder(t *testing.T) {
	t.Parallel()
	r := new(recorder)
	for range 2 {
		ctx := r.TraceStart(t.Context(), session.OperationStart{})
		var requests []context.Context
		for range 3 {
			requests = append(requests, r.TraceRequestStart(ctx, session.RequestStart{}))
		}
		for _, p := range requests {
			r.TraceRequestEnd(p, session.RequestEnd{})
		}
		r.TraceEnd(ctx, session.OperationEnd{Attempts: 3})
	}
	if len(r.whole) != 2 || len(r.slowest) != 2 || r.requests != 6 {
		t.Fatalf("%d writes, %d paths, %d requests, want 2, 2, 6", len(r.whole), len(r.slowest), r.requests)
	}
	for i := range r.whole {
		if r.slowest[i] <= 0 || r.slowest[i] > r.whole[i] {
			t.Errorf("write %d took %v, its slowest path %v", i, r.whole[i], r.slowest[i])
		}
	}
}
