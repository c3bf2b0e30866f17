package reconcile

import (
	"cmp"
	"context"
	"slices"

	"github.com/denorm-go/denorm/internal/request"
)

// tracers are told of runs, as [request.Tracers] are of operations.
type tracers []request.RunTracer

// TraceRunStart implements [request.RunTracer].
func (t tracers) TraceRunStart(ctx context.Context, data request.RunStart) context.Context {
	for _, one := range t {
		ctx = cmp.Or(one.TraceRunStart(ctx, data), ctx) //nolint:fatcontext // one within the other is meant
	}
	return ctx
}

// TraceRunEnd implements [request.RunTracer].
func (t tracers) TraceRunEnd(ctx context.Context, data request.RunEnd) {
	for _, one := range slices.Backward(t) {
		one.TraceRunEnd(ctx, data)
	}
}

// TraceRun implements [request.RunTracer].
func (t tracers) TraceRun(ctx context.Context, data request.RunState) {
	for _, one := range t {
		one.TraceRun(ctx, data)
	}
}

// TraceUnitStart implements [request.RunTracer].
func (t tracers) TraceUnitStart(ctx context.Context, data request.UnitStart) context.Context {
	for _, one := range t {
		ctx = cmp.Or(one.TraceUnitStart(ctx, data), ctx) //nolint:fatcontext // as above
	}
	return ctx
}

// TraceUnitEnd implements [request.RunTracer].
func (t tracers) TraceUnitEnd(ctx context.Context, data request.UnitEnd) {
	for _, one := range slices.Backward(t) {
		one.TraceUnitEnd(ctx, data)
	}
}

// TraceFinding implements [request.RunTracer].
func (t tracers) TraceFinding(ctx context.Context, data request.RunFinding) {
	for _, one := range t {
		one.TraceFinding(ctx, data)
	}
}
