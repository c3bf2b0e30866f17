package tracing

import (
	"context"

	"github.com/denorm-go/denorm/writer"
)

// Multi makes one tracer of several. Each is told what it wants to know: a tracer that implements neither
// [writer.RequestTracer] nor [writer.RetryTracer] is not told of requests and retries, and if none does the writer does
// not even gather it. They start in the order given, each in the context that the one before has made, and end in the
// reverse order: spans of the second are children of those of the first. Tracers that are nil are left out. Without
// any, Multi is nil, which turns tracing off.
func Multi(tracers ...writer.Tracer) writer.Tracer {
	var m multi
	var requests multiRequest
	var retries multiRetry
	for _, t := range tracers {
		if t == nil {
			continue
		}
		m = append(m, t)
		if p, ok := t.(writer.RequestTracer); ok {
			requests = append(requests, p)
		}
		if r, ok := t.(writer.RetryTracer); ok {
			retries = append(retries, r)
		}
	}
	switch {
	case len(m) == 0:
		return nil
	case len(m) == 1:
		return m[0]
	case len(requests) > 0 && len(retries) > 0:
		return struct {
			multi
			multiRequest
			multiRetry
		}{m, requests, retries}
	case len(requests) > 0:
		return struct {
			multi
			multiRequest
		}{m, requests}
	case len(retries) > 0:
		return struct {
			multi
			multiRetry
		}{m, retries}
	}
	return m
}

type (
	multi        []writer.Tracer
	multiRequest []writer.RequestTracer
	multiRetry   []writer.RetryTracer
)

var (
	_ writer.Tracer        = multi(nil)
	_ writer.ModifyTracer  = multi(nil)
	_ writer.RequestTracer = multiRequest(nil)
	_ writer.RetryTracer   = multiRetry(nil)
)

// orOuter is the context that a tracer has made of outer, or outer if the tracer has made none.
func orOuter(outer, inner context.Context) context.Context {
	if inner == nil {
		return outer
	}
	return inner
}

func (m multi) TraceWriteStart(ctx context.Context, data writer.WriteStart) context.Context {
	for _, t := range m {
		ctx = orOuter(ctx, t.TraceWriteStart(ctx, data)) //nolint:fatcontext // one within the other is meant
	}
	return ctx
}

func (m multi) TraceWriteEnd(ctx context.Context, data writer.WriteEnd) {
	for i := len(m) - 1; i >= 0; i-- {
		m[i].TraceWriteEnd(ctx, data)
	}
}

// TraceModifyStart tells those that want to know. A writer has nothing to gather for it, so every multi has it.
func (m multi) TraceModifyStart(ctx context.Context, data writer.ModifyStart) context.Context {
	for _, t := range m {
		if t, ok := t.(writer.ModifyTracer); ok {
			ctx = orOuter(ctx, t.TraceModifyStart(ctx, data)) //nolint:fatcontext // one within the other is meant
		}
	}
	return ctx
}

func (m multi) TraceModifyEnd(ctx context.Context, data writer.ModifyEnd) {
	for i := len(m) - 1; i >= 0; i-- {
		if t, ok := m[i].(writer.ModifyTracer); ok {
			t.TraceModifyEnd(ctx, data)
		}
	}
}

func (m multiRequest) TraceRequestStart(ctx context.Context, data writer.RequestStart) context.Context {
	for _, t := range m {
		ctx = orOuter(ctx, t.TraceRequestStart(ctx, data)) //nolint:fatcontext // one within the other is meant
	}
	return ctx
}

func (m multiRequest) TraceRequestEnd(ctx context.Context, data writer.RequestEnd) {
	for i := len(m) - 1; i >= 0; i-- {
		m[i].TraceRequestEnd(ctx, data)
	}
}

func (m multiRetry) TraceRetry(ctx context.Context, data writer.RetryData) {
	for _, t := range m {
		t.TraceRetry(ctx, data)
	}
}
