package tracing

import (
	"context"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Option is an argument of [New].
type Option func(*config)

type config struct {
	traces        trace.TracerProvider
	meters        metric.MeterProvider
	attributes    []attribute.KeyValue
	noStatements  bool
	noNamespace   bool
	serverAddress bool
	maxSeries     int
}

const defaultMaxSeries = 1000

// WithTracerProvider makes spans with tracers of provider. Default, and if it is nil: no spans.
func WithTracerProvider(provider trace.TracerProvider) Option {
	return func(c *config) { c.traces = provider }
}

// WithMeterProvider records metrics with instruments of provider. Default, and if it is nil: no metrics.
func WithMeterProvider(provider metric.MeterProvider) Option {
	return func(c *config) { c.meters = provider }
}

// WithAttributes adds attributes to every span and to every metric. They are for what tells two writers of one process
// apart, such as the name of a cluster; what holds for the process belongs into the resource of the providers.
func WithAttributes(attributes ...attribute.KeyValue) Option {
	attributes = slices.Clone(attributes)
	return func(c *config) { c.attributes = append(c.attributes, attributes...) }
}

// ContextWithAttributes adds attributes to the spans of the writes, Modify and reads that are given the context, after those that ctx has by an
// earlier call. Their requests and the metrics do not have them. What is in them is the caller's responsibility: it is shown to all who read
// traces, so no value of a row belongs there that they must not see.
func ContextWithAttributes(ctx context.Context, attributes ...attribute.KeyValue) context.Context {
	return context.WithValue(ctx, attributesKey{}, slices.Concat(attributesOf(ctx), attributes))
}

type attributesKey struct{}

func attributesOf(ctx context.Context) []attribute.KeyValue {
	attributes, _ := ctx.Value(attributesKey{}).([]attribute.KeyValue)
	return attributes
}

// WithoutStatementText leaves db.query.text out of the spans of requests. Default: it is there, as the conventions ask for where values are
// bound. It has the CQL texts of the statements, each once, with ? for every value, timestamps and times to live included. All else in them is
// words of CQL, the null of a condition, and names: of keyspaces, tables, which may tell a month where they rotate, and columns, of which those
// of a Patch tell what it changes. If a row has expired before it is sent, the text is still that of the INSERT.
func WithoutStatementText() Option { return func(c *config) { c.noStatements = true } }

// WithoutMetricNamespace leaves db.namespace out of the metrics, for a service with many keyspaces, such as one for
// each tenant. Spans keep it.
func WithoutMetricNamespace() Option { return func(c *config) { c.noNamespace = true } }

// WithMetricServerAddress adds server.address and server.port, those of the last coordinator of a request, to db.client.operation.duration.
// Default: they are on spans alone, as they multiply the series of the metric by the number of nodes, and nodes that are replaced leave theirs
// behind. See [WithMaxSeries].
func WithMetricServerAddress() Option { return func(c *config) { c.serverAddress = true } }

// WithMaxSeries sets how many different sets of attributes an instrument may have, before names become _OTHER. Default,
// and if n is not positive: 1000.
func WithMaxSeries(n int) Option {
	return func(c *config) {
		if n <= 0 {
			n = defaultMaxSeries
		}
		c.maxSeries = n
	}
}
