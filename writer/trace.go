package writer

import (
	"context"

	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/session"
)

// orOuter is the context that a tracer has made of outer, or outer if the tracer has made none.
func orOuter(outer, inner context.Context) context.Context {
	if inner == nil {
		return outer
	}
	return inner
}

// These do nothing, and allocate nothing, without a tracer.

func (t tracers) writeStart(ctx context.Context, data WriteStart) context.Context {
	if t.write == nil {
		return ctx
	}
	return orOuter(ctx, t.write.TraceWriteStart(ctx, data))
}

func (t tracers) writeEnd(ctx context.Context, data WriteEnd) {
	if t.write != nil {
		t.write.TraceWriteEnd(ctx, data)
	}
}

func (t tracers) modifyStart(ctx context.Context, op string) context.Context {
	if t.modify == nil {
		return ctx
	}
	return orOuter(ctx, t.modify.TraceModifyStart(ctx, ModifyStart{Op: op}))
}

func (t tracers) modifyEnd(ctx context.Context, data ModifyEnd) {
	if t.modify != nil {
		t.modify.TraceModifyEnd(ctx, data)
	}
}

func (t tracers) requestStart(ctx context.Context, op string, mode Mode, request *request, level session.Consistency) context.Context {
	if t.request == nil {
		return ctx
	}
	return orOuter(ctx, t.request.TraceRequestStart(ctx, RequestStart{
		Op: op, Mode: request.travels(mode), Keyspace: request.mutations[0].Keyspace, Tables: request.tables(), Statements: request.statements(),
		Consistency: level,
	}))
}

// observer is nil without a tracer of retries. ctx is that of the request.
func (t tracers) observer(ctx context.Context, request *request) func(req.Event) {
	if t.retry == nil {
		return nil
	}
	return func(e req.Event) {
		t.retry.TraceRetry(ctx, RetryData{
			Attempt: e.Attempt, Class: e.Verdict.Outcome, Reason: e.Verdict.Reason, Wait: e.Wait, Host: session.HostOf(request.host), Err: e.Err,
		})
	}
}

func (t tracers) requestEnd(ctx context.Context, data RequestEnd) {
	if t.request != nil {
		t.request.TraceRequestEnd(ctx, data)
	}
}
