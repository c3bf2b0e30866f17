package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/denorm-go/denorm/session"
)

// recorder is a tracer that keeps how long writes took, alongside the slowest request of each, and what was sent again.
type recorder struct {
	mu       sync.Mutex
	whole    []time.Duration // of each write
	slowest  []time.Duration // request of each write
	requests int
	retries  []session.Retry
}

var (
	_ session.Tracer        = (*recorder)(nil)
	_ session.RequestTracer = (*recorder)(nil)
	_ session.RetryTracer   = (*recorder)(nil)
)

// span is a write under way. It is in the context.
type span struct {
	begun   time.Time
	slowest time.Duration
}

type (
	spanKey    struct{}
	requestKey struct{}
)

// TraceStart implements session.Tracer.
func (r *recorder) TraceStart(ctx context.Context, _ session.OperationStart) context.Context {
	return context.WithValue(ctx, spanKey{}, &span{begun: time.Now()})
}

// TraceRequestStart implements session.RequestTracer. The requests of a fan-out start on goroutines of their own.
func (r *recorder) TraceRequestStart(ctx context.Context, _ session.RequestStart) context.Context {
	return context.WithValue(ctx, requestKey{}, time.Now())
}

// TraceRequestEnd implements session.RequestTracer.
func (r *recorder) TraceRequestEnd(ctx context.Context, _ session.RequestEnd) {
	s, inWrite := ctx.Value(spanKey{}).(*span)
	begun, inRequest := ctx.Value(requestKey{}).(time.Time)
	if !inWrite || !inRequest {
		return
	}
	took := time.Since(begun)
	r.mu.Lock()
	defer r.mu.Unlock()
	s.slowest = max(s.slowest, took)
}

// TraceEnd implements session.Tracer.
func (r *recorder) TraceEnd(ctx context.Context, end session.OperationEnd) {
	s, ok := ctx.Value(spanKey{}).(*span)
	if !ok {
		return
	}
	took := time.Since(s.begun)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.whole = append(r.whole, took)
	r.slowest = append(r.slowest, s.slowest)
	r.requests += end.Attempts
}

// TraceRetry implements session.RetryTracer.
func (r *recorder) TraceRetry(_ context.Context, data session.Retry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retries = append(r.retries, data)
}

// reasons are those of the retries, each once.
func (r *recorder) reasons() string {
	var reasons []string
	for _, data := range r.retries {
		if reason := data.Verdict.Reason; !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return strings.Join(reasons, ", ")
}

// percentile is the smallest of the values that is not exceeded by p percent of them; 0 if there are none.
func percentile(values []time.Duration, p int) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := (len(sorted)*p + 99) / 100
	return sorted[max(rank, 1)-1]
}
