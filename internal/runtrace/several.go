package runtrace

import (
	"cmp"
	"context"
	"slices"

	"github.com/denorm-go/denorm/session"
)

// Several tracers are told of runs, as request.Tracers are of operations.
type Several []RunTracer

// Of are those of the tracers that are told of runs.
func Of(tracers []session.Tracer) (out Several) {
	for _, one := range tracers {
		if t, ok := one.(RunTracer); ok {
			out = append(out, t)
		}
	}
	return out
}

// TraceRunStart implements [RunTracer].
func (s Several) TraceRunStart(ctx context.Context, data RunStart) context.Context {
	for _, one := range s {
		ctx = cmp.Or(one.TraceRunStart(ctx, data), ctx) //nolint:fatcontext // one within the other is meant
	}
	return ctx
}

// TraceRunEnd implements [RunTracer].
func (s Several) TraceRunEnd(ctx context.Context, data RunEnd) {
	for _, one := range slices.Backward(s) {
		one.TraceRunEnd(ctx, data)
	}
}

// TraceRun implements [RunTracer].
func (s Several) TraceRun(ctx context.Context, data RunState) {
	for _, one := range s {
		one.TraceRun(ctx, data)
	}
}

// TraceUnitStart implements [RunTracer].
func (s Several) TraceUnitStart(ctx context.Context, data UnitStart) context.Context {
	for _, one := range s {
		ctx = cmp.Or(one.TraceUnitStart(ctx, data), ctx) //nolint:fatcontext // as above
	}
	return ctx
}

// TraceUnitEnd implements [RunTracer].
func (s Several) TraceUnitEnd(ctx context.Context, data UnitEnd) {
	for _, one := range slices.Backward(s) {
		one.TraceUnitEnd(ctx, data)
	}
}

// TraceFinding implements [RunTracer].
func (s Several) TraceFinding(ctx context.Context, data RunFinding) {
	for _, one := range s {
		one.TraceFinding(ctx, data)
	}
}
