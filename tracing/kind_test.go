package tracing_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/runtrace"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	"go.opentelemetry.io/otel/trace"
)

// Backends count spans of kind CLIENT as calls, and spans with attributes of a database too: requests are such, and
// nothing else is.
func TestOnlyRequestsAreCalls(t *testing.T) {
	t.Parallel()
	provider, exporter := recorder(t)
	tracer := tracing.New(tracing.WithTracerProvider(provider))
	for _, w := range []told{
		fanOut(t), failing(t), grouped(t), groupSplit(t), resumed(t), moved(t), fallenBack(t), spent(t), rejected(t),
		counted(t),
	} {
		w.to(t.Context(), tracer)
	}
	tracer.TraceEnd(tracer.TraceStart(t.Context(), session.OperationStart{Operation: session.OperationModify, Op: "pay"}),
		session.OperationEnd{Operation: session.OperationModify, Op: "pay", Rounds: 1})
	readTo(t.Context(), tracer)
	runs := tracer.(runtrace.RunTracer)
	run := runs.TraceRunStart(t.Context(), runtrace.RunStart{Kind: "verify", Entity: "order"})
	runs.TraceUnitEnd(runs.TraceUnitStart(run, runtrace.UnitStart{Kind: "verify", Table: "shop.orders_by_user"}),
		runtrace.UnitEnd{Rows: 1})
	runs.TraceRunEnd(run, runtrace.RunEnd{Kind: "verify", Entity: "order"})

	calls, others := make(map[string]int), make(map[string]int)
	for _, s := range exporter.GetSpans() {
		request := slices.Contains([]string{"INSERT", "BATCH", "UPDATE", "SELECT"}, strings.Fields(s.Name)[0])
		if want := map[bool]trace.SpanKind{
			true:  trace.SpanKindClient,
			false: trace.SpanKindInternal,
		}[request]; s.SpanKind != want {
			t.Errorf("%s is of kind %v, want %v", s.Name, s.SpanKind, want)
		}
		if s.SpanKind == trace.SpanKindClient {
			calls[s.Name]++
			continue
		}
		others[s.Name]++
		for _, a := range s.Attributes {
			for _, prefix := range []string{"db.", "cassandra.", "server.", "network."} {
				if strings.HasPrefix(string(a.Key), prefix) {
					t.Errorf("%s has %s, by which it would count as a call", s.Name, a.Key)
				}
			}
		}
	}
	if len(calls) < 5 || len(others) < 6 {
		t.Errorf("calls %v, others %v", calls, others)
	}
}
