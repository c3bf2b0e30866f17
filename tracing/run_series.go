package tracing

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// runLabels are the attributes of a metric of runs. Those that are empty are absent.
type runLabels struct {
	kind, set                 string
	table                     string // with its keyspace
	class, certainty, outcome string
}

// runInstrument is an instrument of runs, with the sets of attributes it was used with, which are limited in number.
type runInstrument[T any] struct {
	to     T
	series *cache[runLabels, metric.MeasurementOption]
	config config
}

// of is the set of attributes of labels.
func (i *runInstrument[T]) of(l runLabels) metric.MeasurementOption {
	l = l.by(i.config)
	if known, ok := i.series.get(l); ok {
		return known
	}
	if known, ok := i.series.add(l, l.build(i.config), l.set, l.table); ok {
		return known
	}
	return l.other().build(i.config)
}

// by leaves out what the options of the tracer leave out: db.collection.name has the keyspace here.
func (l runLabels) by(c config) runLabels {
	if _, name, ok := strings.Cut(l.table, "."); ok && c.noNamespace {
		l.table = name
	}
	return l
}

func (l runLabels) build(c config) metric.MeasurementOption {
	attributes := appendTexts(nil,
		kindKey.String(l.kind), setKey.String(l.set), semconv.DBCollectionName(l.table),
		classKey.String(l.class), certaintyKey.String(l.certainty), outcomeKey.String(l.outcome))
	return metric.WithAttributeSet(attribute.NewSet(append(attributes, c.attributes...)...))
}

// other is what is left when all that is not an enumeration is taken away.
func (l runLabels) other() runLabels {
	for _, name := range []*string{&l.set, &l.table} {
		if *name != "" {
			*name = other
		}
	}
	return l
}
