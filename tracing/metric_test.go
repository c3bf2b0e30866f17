package tracing_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"
)

const instruments = 6

func meter(tb testing.TB) (*sdkmetric.MeterProvider, *sdkmetric.ManualReader) {
	tb.Helper()
	reader := sdkmetric.NewManualReader()
	return sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithCardinalityLimit(0)), reader
}

func collect(tb testing.TB, reader *sdkmetric.ManualReader) []metricdata.ScopeMetrics {
	tb.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		tb.Fatal(err)
	}
	return all.ScopeMetrics
}

// The golden file holds names, kinds, units, buckets, attributes and counts of all metrics.
func TestMetrics(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]tracing.Option{
		"metrics": nil,
		"metrics_without_namespace": {
			tracing.WithoutMetricNamespace(), tracing.WithAttributes(attribute.String("cluster", "eu")),
		},
		"metrics_with_address": {tracing.WithMetricServerAddress()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			meters, reader := meter(t)
			tracer := tracing.New(append(options, tracing.WithMeterProvider(meters))...)
			for _, w := range []func(testing.TB) told{
				fanOut, fanOut, failing, stillFailing, resumed, moved, fallenBack, spent, left, rejected, grouped, groupSplit,
			} {
				w(t).to(t.Context(), tracer)
			}
			golden.Check(t, name+".golden", table(collect(t, reader)))
		})
	}
}

// A service that puts ids into the op must not fill the memory of its metrics.
func TestCardinality(t *testing.T) {
	t.Parallel()
	const most = 50
	meters, reader := meter(t)
	tracer := tracing.New(tracing.WithMeterProvider(meters), tracing.WithMaxSeries(most),
		tracing.WithMetricServerAddress())
	for i := range 300 {
		for _, w := range []told{fanOut(t), failing(t), fallenBack(t), spent(t), left(t)} {
			w.start.Op += fmt.Sprint(i)
			w.end.Op = w.start.Op
			for p := range w.requests {
				w.requests[p].start.Op = w.start.Op
				w.requests[p].start.Keyspace += fmt.Sprint(i)
			}
			w.to(t.Context(), tracer)
		}
	}
	for _, scope := range collect(t, reader) {
		if len(scope.Metrics) != instruments {
			t.Errorf("%d of %d instruments have series", len(scope.Metrics), instruments)
		}
		for _, m := range scope.Metrics {
			_, series := points(m.Data)
			// Of the 1500 writes, those beyond the limit differ in enumerations alone: 5 combinations of mode, outcome and
			// error, and of requests one more.
			if len(series) <= most || len(series) > most+6 {
				t.Errorf("%s has %d series", m.Name, len(series))
			}
			if !strings.Contains(strings.Join(series, ""), `denorm.op="_OTHER"`) {
				t.Errorf("%s has no series for the others", m.Name)
			}
		}
	}
}

func TestDefaultCardinality(t *testing.T) {
	t.Parallel()
	meters, reader := meter(t)
	tracer := tracing.New(tracing.WithMeterProvider(meters), tracing.WithMaxSeries(0))
	for i := range 3000 {
		tracer.TraceEnd(tracer.TraceStart(t.Context(), session.OperationStart{}), session.OperationEnd{Op: fmt.Sprint(i)})
	}
	_, series := points(collect(t, reader)[0].Metrics[0].Data)
	if len(series) != 1001 {
		t.Errorf("%d series", len(series))
	}
}

// What a provider rejects is reported and does no harm.
func TestRefusedInstruments(t *testing.T) { //nolint:paralleltest // the handler of errors is that of the process
	var err error
	before := otel.GetErrorHandler()
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(e error) { err = errors.Join(err, e) }))
	defer otel.SetErrorHandler(before)
	tracer := tracing.New(tracing.WithMeterProvider(refusing{}))
	spent(t).to(t.Context(), tracer)
	left(t).to(t.Context(), tracer)
	if !errors.Is(err, errRefused) {
		t.Fatal(err)
	}
	for _, name := range []string{
		"db.client.operation.duration", "denorm.write.duration", "denorm.retries", "denorm.retry.rejections",
		"denorm.stragglers",
		"denorm.outcomes",
	} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not name %s", err, name)
		}
	}
}

var errRefused = errors.New("rejected")

type refusing struct{ noop.MeterProvider }

func (refusing) Meter(string, ...metric.MeterOption) metric.Meter { return refusingMeter{} }

type refusingMeter struct{ noop.Meter }

func (refusingMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return nil, errRefused
}

func (refusingMeter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return nil, errRefused
}

// Exemplars lead from a slow request in a histogram to its span.
func TestExemplars(t *testing.T) {
	t.Parallel()
	provider, exporter := recorder(t)
	meters, reader := meter(t)
	fanOut(t).to(t.Context(), tracing.New(tracing.WithTracerProvider(provider), tracing.WithMeterProvider(meters)))
	spans := make(map[trace.SpanID]string)
	for _, s := range exporter.GetSpans() {
		spans[s.SpanContext.SpanID()] = s.Name
	}
	got := make(map[string]int)
	for _, m := range collect(t, reader)[0].Metrics {
		if data, ok := m.Data.(metricdata.Histogram[float64]); ok {
			for _, p := range data.DataPoints {
				for _, e := range p.Exemplars {
					got[m.Name+": "+spans[trace.SpanID(e.SpanID)]]++
				}
			}
		}
	}
	want := map[string]int{
		"denorm.write.duration: createOrder":                    1,
		"db.client.operation.duration: INSERT orders_by_id":     1,
		"db.client.operation.duration: INSERT orders_by_user":   1,
		"db.client.operation.duration: INSERT orders_by_status": 1,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("exemplars of %v", got)
	}
}
