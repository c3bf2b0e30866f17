package tracing

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// instrument is a histogram, a counter or a gauge, with the sets of attributes it was used with, which are limited in
// number. One that its provider rejected has no record.
type instrument struct {
	record func(ctx context.Context, value float64, s series)
	series *cache[labels, series]
	config config
}

// series is a set of attributes as instruments take it.
type series struct {
	record []metric.RecordOption
	add    []metric.AddOption
}

// labels are the attributes of a metric. Those that are empty are absent.
type labels struct {
	op, namespace, table, operation, summary string
	mode, outcome, class, errorType, status  string
	address                                  string
	port                                     int

	// Of a run of package reconcile, whose table has its keyspace:
	run                              bool
	kind, set, difference, certainty string
}

// maker makes instruments, and notes which of them are rejected.
type maker struct {
	metric.Meter
	config config
	errs   []error
}

func (m *maker) rejected(name string, err error) {
	m.errs = append(m.errs, fmt.Errorf("denorm: instrument %s: %w", name, err))
}

func (m *maker) made(name string, err error, record func(context.Context, float64, series)) instrument {
	if err != nil {
		m.rejected(name, err)
		return instrument{}
	}
	return instrument{record, newCache[labels, series](m.config.maxSeries), m.config}
}

func (m *maker) histogram(name, unit, description string) instrument {
	h, err := m.Float64Histogram(name, buckets, metric.WithUnit(unit), metric.WithDescription(description))
	return m.made(name, err, func(ctx context.Context, value float64, s series) { h.Record(ctx, value, s.record...) })
}

func (m *maker) counter(name, unit, description string) instrument {
	c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	return m.made(name, err, func(ctx context.Context, value float64, s series) { c.Add(ctx, int64(value), s.add...) })
}

func (m *maker) gauge(name, unit, description string) instrument {
	g, err := m.Float64Gauge(name, metric.WithUnit(unit), metric.WithDescription(description))
	return m.made(name, err, func(ctx context.Context, value float64, s series) { g.Record(ctx, value, s.record...) })
}

// since records how long it is since start.
func (i *instrument) since(ctx context.Context, start time.Time, l labels) {
	i.put(ctx, time.Since(start).Seconds(), l)
}

// put records a value, or adds it to a counter.
func (i *instrument) put(ctx context.Context, value float64, l labels) {
	if i.record != nil {
		i.record(ctx, value, i.of(l))
	}
}

func (i *instrument) of(l labels) series {
	l = l.by(i.config)
	if known, ok := i.series.get(l); ok {
		return known
	}
	if known, ok := i.series.add(l, l.series(i.config), l.op, l.namespace, l.table, l.summary, l.set); ok {
		return known
	}
	return l.other().series(i.config)
}

// by leaves out what the options of the tracer leave out.
func (l labels) by(c config) labels {
	if c.noNamespace {
		l.namespace = ""
	}
	if _, name, ok := strings.Cut(l.table, "."); ok && l.run && c.noNamespace {
		l.table = name
	}
	return l
}

func (l labels) series(c config) series {
	set := l.build(c)
	return series{record: []metric.RecordOption{set}, add: []metric.AddOption{set}}
}

func (l labels) build(c config) metric.MeasurementOption {
	var attributes []attribute.KeyValue
	if !l.run {
		attributes = append(attributes, semconv.DBSystemNameCassandra)
	}
	attributes = appendGiven(attributes,
		opKey.String(l.op), semconv.DBNamespace(l.namespace), semconv.DBCollectionName(l.table),
		semconv.DBOperationName(l.operation), semconv.DBQuerySummary(l.summary), modeKey.String(l.mode),
		outcomeKey.String(l.outcome), retryClassKey.String(l.class),
		kindKey.String(l.kind), setKey.String(l.set), classKey.String(l.difference), certaintyKey.String(l.certainty))
	attributes = appendError(attributes, l.errorType, l.status)
	if l.address != "" {
		attributes = appendGiven(attributes, semconv.ServerAddress(l.address), semconv.ServerPort(l.port))
	}
	return metric.WithAttributeSet(attribute.NewSet(append(attributes, c.attributes...)...))
}

// other is what is left when all that is not an enumeration is taken away.
func (l labels) other() labels {
	for _, name := range []*string{&l.op, &l.namespace, &l.table, &l.summary, &l.set} {
		if *name != "" {
			*name = other
		}
	}
	l.status, l.address, l.port = "", "", 0
	return l
}
