package tracing

import (
	"errors"
	"runtime/debug"

	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/session"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Scope is the name of the instrumentation scope of all spans and metrics.
const Scope = "github.com/denorm-go/denorm/tracing"

// otelTracer reports writes and reads to OpenTelemetry. It is made by [New] and safe for concurrent use, also by
// several writers.
type otelTracer struct {
	spans      trace.Tracer // nil if there are to be none
	metrics    *metrics     // nil if there are to be none
	attributes []attribute.KeyValue
	statements bool // db.query.text is recorded
	operations *cache[session.OperationStart, operationShape]
	requests   *cache[requestKey, *requestShape]
	runs       *runMetrics // nil if there are to be no metrics
}

var (
	_ session.Tracer        = (*otelTracer)(nil)
	_ session.RequestTracer = (*otelTracer)(nil)
	_ session.RetryTracer   = (*otelTracer)(nil)
	_ session.LinkTracer    = (*otelTracer)(nil)
)

// New makes a tracer for [session.Trace]. It records nothing without the providers of [WithTracerProvider] and
// [WithMeterProvider]; it does not use the global providers of OpenTelemetry. New does not fail: an instrument that its
// provider rejects records nothing, and OpenTelemetry's error handler is told why (see otel.SetErrorHandler). Options
// that are nil are ignored.
//
// The op of a call becomes denorm.op of spans and metrics unchanged. It must not contain an id or any other value of a
// row. Everybody who reads traces would see it, and each value would be a separate time series ([WithMaxSeries]).
//
// Do not embed the tracer in a type of your own, which would hide its other methods: combine tracers with [Multi].
func New(options ...Option) session.Tracer {
	c := config{maxSeries: defaultMaxSeries}
	for _, o := range options {
		if o != nil {
			o(&c)
		}
	}
	t := &otelTracer{
		attributes: c.attributes, statements: !c.noStatements,
		operations: newCache[session.OperationStart, operationShape](maxShapes),
		requests:   newCache[requestKey, *requestShape](maxShapes),
	}
	version := version()
	if c.traces != nil {
		t.spans = c.traces.Tracer(Scope, trace.WithInstrumentationVersion(version), trace.WithSchemaURL(schemaURL))
	}
	if c.meters != nil {
		m := maker{
			Meter:  c.meters.Meter(Scope, metric.WithInstrumentationVersion(version), metric.WithSchemaURL(schemaURL)),
			config: c,
		}
		t.metrics, t.runs = m.metrics(), m.runs()
		if err := errors.Join(m.errs...); err != nil {
			otel.Handle(err)
		}
	}
	return t
}

// off says whether nothing is recorded.
func (t *otelTracer) off() bool { return t.spans == nil && t.metrics == nil }

// Multi combines several tracers into one, for [session.Trace]. Each is told only what it implements. A tracer without
// [session.RequestTracer] and [session.RetryTracer] is not told of requests and retries, and if none has them, the
// writer does not gather that data. The tracers start in the order given, each with the context that the previous one
// returned, and end in reverse order. So spans of the second are children of the first one's spans. A nil context
// counts as none returned. Nil tracers, and nil pointers as tracers, are left out. If no tracer is left, Multi returns
// nil, which turns tracing off.
func Multi(tracers ...session.Tracer) session.Tracer {
	if all := req.NewTracers(tracers...); all.Any() {
		return &all
	}
	return nil
}

// version of this module in the running program; empty if it is not known, as in its own tests.
func version() string {
	const module = "github.com/denorm-go/denorm"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == module {
			return m.Version
		}
	}
	return ""
}
