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

// WithTracerProvider makes spans with tracers of provider. By default, or if provider is nil, there are no spans.
func WithTracerProvider(provider trace.TracerProvider) Option {
	return func(c *config) { c.traces = provider }
}

// WithMeterProvider records metrics with instruments of provider. By default, or if provider is nil, there are no
// metrics.
func WithMeterProvider(provider metric.MeterProvider) Option {
	return func(c *config) { c.meters = provider }
}

// WithAttributes adds attributes to every span and to every metric. Use it to tell several writers of one process
// apart, for example by the name of a cluster. Attributes of the process belong in the resource of the providers.
func WithAttributes(attributes ...attribute.KeyValue) Option {
	attributes = slices.Clone(attributes)
	return func(c *config) { c.attributes = append(c.attributes, attributes...) }
}

// ContextWithAttributes adds attributes to the spans of the writes, Modify and reads that get the returned context.
// They come after the attributes that ctx has from an earlier call. Spans of their requests, and metrics, do not have
// them. You are responsible for their contents: everybody who reads traces can see them, so add no values of rows.
func ContextWithAttributes(ctx context.Context, attributes ...attribute.KeyValue) context.Context {
	return context.WithValue(ctx, attributesKey{}, slices.Concat(attributesOf(ctx), attributes))
}

type attributesKey struct{}

func attributesOf(ctx context.Context) []attribute.KeyValue {
	attributes, _ := ctx.Value(attributesKey{}).([]attribute.KeyValue)
	return attributes
}

// WithoutStatementText leaves db.query.text out of the spans of requests. By default it is there, as the conventions
// recommend if values are bound: the CQL texts of the statements, each once, with ? for every value, timestamp and TTL.
// The rest is CQL keywords, the null of a condition, and names of keyspaces, tables and columns. The name of a rotating
// table may reveal a month, and the columns of a Patch what it changes. If a row has expired before it is sent, the
// text is still the one of the INSERT.
func WithoutStatementText() Option { return func(c *config) { c.noStatements = true } }

// WithoutMetricNamespace leaves db.namespace out of the metrics, and the keyspace out of db.collection.name in metrics
// of package reconcile. It is for a service with many keyspaces, such as one for each tenant. Spans keep it.
func WithoutMetricNamespace() Option { return func(c *config) { c.noNamespace = true } }

// WithMetricServerAddress adds server.address and server.port of the last coordinator of a request to
// db.client.operation.duration. By default only spans have them. They multiply the series of the metric by the number
// of nodes, and the series of replaced nodes remain. See [WithMaxSeries].
func WithMetricServerAddress() Option { return func(c *config) { c.serverAddress = true } }

// WithMaxSeries sets how many different attribute sets an instrument may have before names become _OTHER. Default, also
// if n is not positive: 1000.
func WithMaxSeries(n int) Option {
	return func(c *config) {
		if n <= 0 {
			n = defaultMaxSeries
		}
		c.maxSeries = n
	}
}
