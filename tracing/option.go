package tracing

import (
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Option is an argument of [New].
type Option func(*config)

type config struct {
	traces      trace.TracerProvider
	meters      metric.MeterProvider
	attributes  []attribute.KeyValue
	statements  bool
	noNamespace bool
	maxSeries   int
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

// WithStatementText adds db.query.text to the spans of requests: the CQL texts of their statements, with ? for every
// value. Default: off, because a logged batch repeats many, and the summary tells them apart.
func WithStatementText() Option { return func(c *config) { c.statements = true } }

// WithoutMetricNamespace leaves db.namespace out of the metrics, for a service with many keyspaces, such as one for
// each tenant. Spans keep it.
func WithoutMetricNamespace() Option { return func(c *config) { c.noNamespace = true } }

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
