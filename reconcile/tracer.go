package reconcile

import (
	"cmp"
	"context"
	"slices"

	"github.com/denorm-go/denorm/session"
)

// tracers are told of runs, as [request.Tracers] are of operations.
type tracers []session.RunTracer

// TraceRunStart implements [session.RunTracer].
func (t tracers) TraceRunStart(ctx context.Context, data session.RunStart) context.Context {
	for _, one := range t {
		ctx = cmp.Or(one.TraceRunStart(ctx, data), ctx) //nolint:fatcontext // one within the other is meant
	}
	return ctx
}

// TraceRunEnd implements [session.RunTracer].
func (t tracers) TraceRunEnd(ctx context.Context, data session.RunEnd) {
	for _, one := range slices.Backward(t) {
		one.TraceRunEnd(ctx, data)
	}
}

// TraceRun implements [session.RunTracer].
func (t tracers) TraceRun(ctx context.Context, data session.RunState) {
	for _, one := range t {
		one.TraceRun(ctx, data)
	}
}

// TraceUnitStart implements [session.RunTracer].
func (t tracers) TraceUnitStart(ctx context.Context, data session.UnitStart) context.Context {
	for _, one := range t {
		ctx = cmp.Or(one.TraceUnitStart(ctx, data), ctx) //nolint:fatcontext // as above
	}
	return ctx
}

// TraceUnitEnd implements [session.RunTracer].
func (t tracers) TraceUnitEnd(ctx context.Context, data session.UnitEnd) {
	for _, one := range slices.Backward(t) {
		one.TraceUnitEnd(ctx, data)
	}
}

// TraceFinding implements [session.RunTracer].
func (t tracers) TraceFinding(ctx context.Context, data session.RunFinding) {
	for _, one := range t {
		one.TraceFinding(ctx, data)
	}
}
