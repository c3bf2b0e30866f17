package request

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"github.com/denorm-go/denorm/internal/settings"
	"github.com/denorm-go/denorm/session"
)

// Tracers combines tracers, and the further interfaces that they implement, into one tracer. They start in the order
// given, each with the context that the previous one returned, and end in reverse order. Without any, Tracers does
// nothing and allocates nothing.
type Tracers struct {
	operations []session.Tracer
	requests   []session.RequestTracer
	retries    []session.RetryTracer
	links      []session.LinkTracer
}

// NewTracers leaves out nil tracers, and nil pointers as tracers.
func NewTracers(tracers ...session.Tracer) Tracers {
	var all Tracers
	for _, t := range tracers {
		all.add(t)
	}
	return all
}

// TracersOf gives the tracers of a session.
func TracersOf(s settings.Shared) Tracers {
	if s.Tracer == nil {
		return Tracers{}
	}
	t, _ := s.Tracer.Given.(session.Tracer)
	return NewTracers(t)
}

func (t *Tracers) add(tracer session.Tracer) {
	if v := reflect.ValueOf(tracer); tracer == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return
	}
	if several, ok := tracer.(*Tracers); ok { // not all of them need be told of requests and retries
		for _, one := range several.operations {
			t.add(one)
		}
		return
	}
	t.operations = append(t.operations, tracer)
	if r, ok := tracer.(session.RequestTracer); ok {
		t.requests = append(t.requests, r)
	}
	if r, ok := tracer.(session.RetryTracer); ok {
		t.retries = append(t.retries, r)
	}
	if l, ok := tracer.(session.LinkTracer); ok {
		t.links = append(t.links, l)
	}
}

// All are the tracers.
func (t *Tracers) All() []session.Tracer { return t.operations }

// Any reports whether there are any tracers.
func (t *Tracers) Any() bool { return len(t.operations) > 0 }

// Requests reports whether any tracer is told of requests, so that no data is gathered in vain.
func (t *Tracers) Requests() bool { return len(t.requests) > 0 }

// TraceStart implements [session.Tracer].
func (t *Tracers) TraceStart(ctx context.Context, data session.OperationStart) context.Context {
	for _, one := range t.operations {
		ctx = cmp.Or(one.TraceStart(ctx, data), ctx) //nolint:fatcontext // one within the other is meant
	}
	return ctx
}

// TraceEnd implements [session.Tracer].
func (t *Tracers) TraceEnd(ctx context.Context, data session.OperationEnd) {
	for _, one := range slices.Backward(t.operations) {
		one.TraceEnd(ctx, data)
	}
}

// TraceRequestStart implements [session.RequestTracer].
func (t *Tracers) TraceRequestStart(ctx context.Context, data session.RequestStart) context.Context {
	for _, one := range t.requests {
		ctx = cmp.Or(one.TraceRequestStart(ctx, data), ctx) //nolint:fatcontext // as above
	}
	return ctx
}

// TraceRequestEnd implements [session.RequestTracer].
func (t *Tracers) TraceRequestEnd(ctx context.Context, data session.RequestEnd) {
	for _, one := range slices.Backward(t.requests) {
		one.TraceRequestEnd(ctx, data)
	}
}

// TraceRetry implements [session.RetryTracer].
func (t *Tracers) TraceRetry(ctx context.Context, data session.Retry) {
	for _, one := range t.retries {
		one.TraceRetry(ctx, data)
	}
}

// TraceLink implements [session.LinkTracer]: it returns the link of the first tracer that has one.
func (t *Tracers) TraceLink(ctx context.Context) string {
	for _, one := range t.links {
		if link := one.TraceLink(ctx); link != "" {
			return link
		}
	}
	return ""
}

// Observer returns a function that reports retries, in the context of a request, with the host of its last attempt. It
// is nil if no tracer is told of retries.
func (t *Tracers) Observer(ctx context.Context, host *session.Host) func(Event) {
	if len(t.retries) == 0 {
		return nil
	}
	return func(e Event) {
		e.Host = *host
		t.TraceRetry(ctx, e)
	}
}
