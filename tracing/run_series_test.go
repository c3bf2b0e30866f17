package tracing_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/runtrace"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	"go.opentelemetry.io/otel/attribute"
)

// The instruments of runs, all of which runTo records with.
const runInstruments = 8

// runTo tells a tracer of a run that reads all of a table, which it began some time ago.
func runTo(ctx context.Context, t session.Tracer, kind, set, table string, ago time.Duration) {
	runs := t.(runtrace.RunTracer)
	ctx = runs.TraceRunStart(ctx, runtrace.RunStart{
		Kind: kind, Entity: set, Tables: []string{table}, Full: true,
		Began: time.Now().Add(-ago),
	})
	unit := runs.TraceUnitStart(ctx, runtrace.UnitStart{Kind: kind, Table: table})
	runs.TraceUnitEnd(unit, runtrace.UnitEnd{Kind: kind, Table: table, Rows: 3})
	runs.TraceFinding(ctx, runtrace.RunFinding{
		Kind: kind, Table: table, Class: "orphan", Certainty: "settled",
		Outcome: "failed",
	})
	runs.TraceRun(ctx, runtrace.RunState{Kind: kind, Entity: set, Done: 0.5, Waiting: 1, Limit: 40})
	runs.TraceRunEnd(ctx, runtrace.RunEnd{
		Kind: kind, Entity: set, Complete: true,
		Tables: []runtrace.RunTable{{Table: table, Rows: 3, Findings: 1}},
	})
}

// Tracers of one process that WithAttributes tells apart have series of their own, also of runs of the same set.
func TestRunAttributes(t *testing.T) {
	t.Parallel()
	meters, reader := meter(t)
	clusters := []string{"eu", "us"}
	for _, cluster := range clusters {
		runTo(t.Context(), tracing.New(tracing.WithMeterProvider(meters),
			tracing.WithAttributes(attribute.String("cluster", cluster))),
			"repair", "order", "shop.a", 0)
	}
	all := collect(t, reader)[0].Metrics
	if len(all) != runInstruments {
		t.Errorf("%d of %d instruments have series", len(all), runInstruments)
	}
	for _, m := range all {
		_, series := points(m.Data)
		for _, cluster := range clusters {
			if text := strings.Join(series, ""); strings.Count(text, fmt.Sprintf("cluster=%q", cluster)) != 1 ||
				len(series) != len(clusters) {
				t.Errorf("%s of the cluster %s has\n%s", m.Name, cluster, text)
			}
		}
	}
}

// A service with a keyspace for each tenant must not fill the memory of its metrics.
func TestRunCardinality(t *testing.T) {
	t.Parallel()
	const most = 5
	meters, reader := meter(t)
	tracer := tracing.New(tracing.WithMeterProvider(meters), tracing.WithMaxSeries(most))
	for i := range 3 * most {
		runTo(t.Context(), tracer, "repair", fmt.Sprint("set", i), fmt.Sprintf("tenant%d.orders", i), 0)
	}
	for _, m := range collect(t, reader)[0].Metrics {
		_, series := points(m.Data)
		if text := strings.Join(series, ""); len(series) != most+1 || !strings.Contains(text, `="_OTHER"`) {
			t.Errorf("%s has\n%s", m.Name, text)
		}
	}
}

// Without the namespace, tables of all keyspaces with the same name share a series. Its age is that of the one that was
// compared least recently.
func TestRunsWithoutNamespace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		meters, reader := meter(t)
		tracer := tracing.New(tracing.WithMeterProvider(meters), tracing.WithoutMetricNamespace())
		for i := range 3 {
			runTo(t.Context(), tracer, "repair", "order", fmt.Sprintf("tenant%d.orders", i), time.Hour)
			<-time.After(time.Minute)
		}
		for _, m := range collect(t, reader)[0].Metrics {
			_, series := points(m.Data)
			text := strings.Join(series, "")
			if len(series) != 1 || strings.Contains(text, "tenant") {
				t.Errorf("%s has\n%s", m.Name, text)
			}
			if m.Name == "denorm.drift.coverage.age" && text != "  180 db.collection.name=\"orders\"\n" {
				t.Errorf("the greatest age is\n%s", text)
			}
		}
	})
}
