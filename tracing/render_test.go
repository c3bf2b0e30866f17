package tracing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// recorder gives a tracer provider and what it has exported.
func recorder(tb testing.TB, options ...sdktrace.TracerProviderOption) (*sdktrace.TracerProvider,
	*tracetest.InMemoryExporter,
) {
	tb.Helper()
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(append(options, sdktrace.WithSyncer(exporter))...)
	tb.Cleanup(func() {
		if err := provider.Shutdown(tb.Context()); err != nil && tb.Context().Err() == nil {
			tb.Error(err)
		}
	})
	return provider, exporter
}

// tree shows spans below each other, with all that they hold but ids and times.
func tree(spans tracetest.SpanStubs) string {
	var b strings.Builder
	known := make(map[any]bool)
	for _, s := range spans {
		known[s.SpanContext.SpanID()] = true
	}
	var show func(parent any, depth string)
	show = func(parent any, depth string) {
		for _, s := range spans {
			if id := s.Parent.SpanID(); any(id) != parent && (parent != nil || known[id]) {
				continue
			}
			fmt.Fprintf(&b, "%s%s %v, status %v %q\n", depth, s.Name, s.SpanKind, s.Status.Code, s.Status.Description)
			attributes(&b, depth+"  ", s.Attributes)
			for _, e := range s.Events {
				fmt.Fprintf(&b, "%s  event %s\n", depth, e.Name)
				attributes(&b, depth+"    ", e.Attributes)
			}
			show(s.SpanContext.SpanID(), depth+"    ")
		}
	}
	show(nil, "")
	return b.String()
}

func attributes(b *strings.Builder, depth string, all []attribute.KeyValue) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(x, y attribute.KeyValue) int { return strings.Compare(string(x.Key), string(y.Key)) })
	for _, a := range all {
		fmt.Fprintf(b, "%s%s=%s\n", depth, a.Key, a.Value.String())
	}
}

// table shows metrics with all that they hold but times and durations.
func table(scopes []metricdata.ScopeMetrics) string {
	var b strings.Builder
	for _, scope := range scopes {
		fmt.Fprintf(&b, "%s %s\n", scope.Scope.Name, scope.Scope.SchemaURL)
		for _, m := range scope.Metrics {
			kind, series := points(m.Data)
			fmt.Fprintf(&b, "\n%s, %s in %s: %s\n", m.Name, kind, m.Unit, m.Description)
			slices.Sort(series)
			b.WriteString(strings.Join(series, ""))
		}
	}
	return b.String()
}

func points(data metricdata.Aggregation) (kind string, series []string) {
	switch data := data.(type) {
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			kind = fmt.Sprintf("histogram of buckets %v", p.Bounds)
			series = append(series, fmt.Sprintf("  %d%s\n", p.Count, labelled(p.Attributes)))
		}
	case metricdata.Sum[int64]:
		kind = fmt.Sprintf("counter, monotonic %v", data.IsMonotonic)
		for _, p := range data.DataPoints {
			series = append(series, fmt.Sprintf("  %d%s\n", p.Value, labelled(p.Attributes)))
		}
	case metricdata.Gauge[int64]:
		return "gauge", values(data.DataPoints)
	case metricdata.Gauge[float64]:
		return "gauge", values(data.DataPoints)
	default:
		kind = fmt.Sprintf("%T", data)
	}
	return kind, series
}

func values[N int64 | float64](points []metricdata.DataPoint[N]) (series []string) {
	for _, p := range points {
		series = append(series, fmt.Sprintf("  %v%s\n", p.Value, labelled(p.Attributes)))
	}
	return series
}

func labelled(set attribute.Set) string {
	var b strings.Builder
	for _, a := range set.ToSlice() {
		fmt.Fprintf(&b, " %s=%q", a.Key, a.Value.String())
	}
	return b.String()
}

func names(spans tracetest.SpanStubs) []string {
	var all []string
	for _, s := range spans {
		all = append(all, s.Name)
	}
	return all
}
