package tracing_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/tracing"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// Servers and drivers quote bound values in their errors; nothing that is exported may show one. A timestamp is bound
// to every statement, too; its digits are none that the sum of two measured durations ends in, as
// 0.00028251700000000003 does.
func TestNoValues(t *testing.T) {
	t.Parallel()
	provider, exporter := recorder(t)
	meters, reader := meter(t)
	var log bytes.Buffer
	tracer := tracing.Multi(
		tracing.New(tracing.WithTracerProvider(provider), tracing.WithMeterProvider(meters)),
		tracing.Slog(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))),
	)
	fed := ""
	for _, w := range []func(testing.TB) told{
		fanOut, failing, stillFailing, resumed, moved, fallenBack, spent, left, rejected,
	} {
		w := w(t)
		fed += fmt.Sprint(w.end.Err, w.end.Timestamp)
		w.to(t.Context(), tracer)
	}
	if !strings.Contains(fed, secret) || !strings.Contains(fed, "17345678987") {
		t.Fatal("the secrets were not fed: the test tests nothing")
	}
	spans, err := json.Marshal(exporter.GetSpans())
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := json.Marshal(collect(t, reader))
	if err != nil {
		t.Fatal(err)
	}
	for name, exported := range map[string]string{
		"spans": string(spans) + tree(exporter.GetSpans()), "metrics": string(metrics), "log": log.String(),
	} {
		if !strings.Contains(exported, "orders_by_user") {
			t.Errorf("%s say nothing: %s", name, exported)
		}
		for _, value := range []string{secret, "17345678987"} {
			if strings.Contains(exported, value) {
				t.Errorf("%s show %s: %s", name, value, exported)
			}
		}
	}
	for _, s := range exporter.GetSpans() {
		wantNoExceptions(t, s)
	}
}

func wantNoExceptions(t *testing.T, s tracetest.SpanStub) {
	t.Helper()
	for _, e := range s.Events {
		if e.Name != "retry" {
			t.Errorf("%s has an event %s", s.Name, e.Name)
		}
	}
}
