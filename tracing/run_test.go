package tracing_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/runtrace"
	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/tracing"
)

// The golden files hold the spans and metrics of runs: of one that has read everything, and of one that has failed.
func TestRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testRuns)
}

func testRuns(t *testing.T) {
	t.Helper()
	provider, exporter := recorder(t)
	meters, reader := meter(t)
	tracer := tracing.New(tracing.WithTracerProvider(provider), tracing.WithMeterProvider(meters)).(runtrace.RunTracer)
	one := tracer.TraceRunStart(t.Context(), runtrace.RunStart{
		Kind: "repair", Entity: "order", Tables: []string{"shop.c"},
		Began: time.Now(),
	})
	tracer.TraceRunEnd(one, runtrace.RunEnd{
		Kind: "repair", Entity: "order",
		Tables: []runtrace.RunTable{{Table: "shop.c"}},
	})
	for _, failure := range []error{nil, errors.New("user 'ada' was not read")} {
		ctx := tracer.TraceRunStart(t.Context(), runtrace.RunStart{
			Kind: "repair", Entity: "order", Tables: []string{"shop.a", "shop.b"}, Began: time.Now().Add(-time.Hour), Full: true,
		})
		unit := tracer.TraceUnitStart(ctx, runtrace.UnitStart{Kind: "repair", Table: "shop.a"})
		tracer.TraceUnitEnd(unit, runtrace.UnitEnd{Kind: "repair", Table: "shop.a", Rows: 300, Err: failure})
		unit = tracer.TraceUnitStart(ctx, runtrace.UnitStart{Kind: "repair", Table: "shop.a", Repair: true})
		tracer.TraceUnitEnd(unit, runtrace.UnitEnd{Kind: "repair", Table: "shop.a", Outcome: "repaired"})
		tracer.TraceFinding(ctx, runtrace.RunFinding{
			Kind: "repair", Table: "shop.b", Class: "missing", Certainty: "settled", Outcome: "repaired", FirstSeen: time.Now(),
		})
		tracer.TraceFinding(ctx, runtrace.RunFinding{
			Kind: "verify", Table: "shop.b", Class: "orphan", Certainty: "settled", Outcome: "found", FirstSeen: time.Now(),
		})
		tracer.TraceRun(ctx, runtrace.RunState{Kind: "repair", Entity: "order", Done: 0.5, Waiting: 2, Limit: 40})
		tracer.TraceRunEnd(ctx, runtrace.RunEnd{
			Kind: "repair", Entity: "order", Complete: failure == nil, Err: failure,
			Tables: []runtrace.RunTable{{Table: "shop.a", Rows: 300}, {Table: "shop.b", Rows: 300, Findings: 3}},
		})
	}
	<-time.After(time.Minute)
	golden.Check(t, "run.golden", tree(exporter.GetSpans()))
	golden.Check(t, "run_metrics.golden", table(collect(t, reader)))
}
