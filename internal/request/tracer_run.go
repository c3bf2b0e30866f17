package request

import (
	"context"
	"slices"

	"github.com/denorm-go/denorm/session"
)

// Runs reports whether any tracer is told of runs.
func (t *Tracers) Runs() bool { return len(t.runs) > 0 }

// TraceRunStart implements [session.RunTracer].
func (t *Tracers) TraceRunStart(ctx context.Context, data session.RunStart) context.Context {
	for _, one := range t.runs {
		ctx = orOuter(ctx, one.TraceRunStart(ctx, data)) //nolint:fatcontext // one within the other is meant
	}
	return ctx
}

// TraceRunEnd implements [session.RunTracer].
func (t *Tracers) TraceRunEnd(ctx context.Context, data session.RunEnd) {
	for _, one := range slices.Backward(t.runs) {
		one.TraceRunEnd(ctx, data)
	}
}

// TraceRun implements [session.RunTracer].
func (t *Tracers) TraceRun(ctx context.Context, data session.RunState) {
	for _, one := range t.runs {
		one.TraceRun(ctx, data)
	}
}

// TraceUnitStart implements [session.RunTracer].
func (t *Tracers) TraceUnitStart(ctx context.Context, data session.UnitStart) context.Context {
	for _, one := range t.runs {
		ctx = orOuter(ctx, one.TraceUnitStart(ctx, data)) //nolint:fatcontext // as above
	}
	return ctx
}

// TraceUnitEnd implements [session.RunTracer].
func (t *Tracers) TraceUnitEnd(ctx context.Context, data session.UnitEnd) {
	for _, one := range slices.Backward(t.runs) {
		one.TraceUnitEnd(ctx, data)
	}
}

// TraceFinding implements [session.RunTracer].
func (t *Tracers) TraceFinding(ctx context.Context, data session.RunFinding) {
	for _, one := range t.runs {
		one.TraceFinding(ctx, data)
	}
}
