package tracing

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// labels are the attributes of a metric. Those that are empty are absent.
type labels struct {
	op, namespace, table, operation, summary string
	mode, outcome, class, errorType, status  string
}

// other is what is left when all that is not an enumeration is taken away.
func (l labels) other() labels {
	for _, name := range []*string{&l.op, &l.namespace, &l.table, &l.summary} {
		if *name != "" {
			*name = other
		}
	}
	l.status = ""
	return l
}

func (l labels) attributes() []attribute.KeyValue {
	attributes := []attribute.KeyValue{semconv.DBSystemNameCassandra}
	for _, a := range [...]struct {
		key   attribute.Key
		value string
	}{
		{opKey, l.op},
		{semconv.DBNamespaceKey, l.namespace},
		{semconv.DBCollectionNameKey, l.table},
		{semconv.DBOperationNameKey, l.operation},
		{semconv.DBQuerySummaryKey, l.summary},
		{modeKey, l.mode},
		{outcomeKey, l.outcome},
		{retryClassKey, l.class},
		{semconv.ErrorTypeKey, l.errorType},
		{semconv.DBResponseStatusCodeKey, l.status},
	} {
		if a.value != "" {
			attributes = append(attributes, a.key.String(a.value))
		}
	}
	return attributes
}

// series is a set of attributes as instruments take it.
type series struct {
	record []metric.RecordOption
	add    []metric.AddOption
}

// allSeries is the series of one instrument. They are limited in number.
type allSeries struct {
	kept  cache[labels, series]
	extra []attribute.KeyValue
}

func newSeries(c config) *allSeries {
	s := &allSeries{extra: c.attributes}
	s.kept.limit = c.maxSeries
	return s
}

func (s *allSeries) of(l labels) series {
	if known, ok := s.kept.get(l); ok {
		return known
	}
	if known, ok := s.kept.add(l, s.build(l)); ok {
		return known
	}
	return s.build(l.other())
}

func (s *allSeries) build(l labels) series {
	set := metric.WithAttributeSet(attribute.NewSet(append(l.attributes(), s.extra...)...))
	return series{record: []metric.RecordOption{set}, add: []metric.AddOption{set}}
}
