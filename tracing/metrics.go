package tracing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/dbconv"
)

// Names of the instruments that the conventions do not have.
const (
	writeDurationName = "denorm.write.duration"
	readDurationName  = "denorm.read.duration"
	unconfirmedName   = "denorm.read.unconfirmed"
	retriesName       = "denorm.retries"
	rejectionsName    = "denorm.retry.rejections"
	stragglersName    = "denorm.stragglers"
	outcomesName      = "denorm.outcomes"
)

// buckets of durations in seconds, as the conventions give them for db.client.operation.duration.
var buckets = metric.WithExplicitBucketBoundaries(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10)

// metrics is the instruments.
type metrics struct {
	requestDuration, writeDuration, readDuration, unconfirmed, retries, rejections, stragglers, outcomes instrument
}

// instrument is a histogram or counter, with the sets of attributes it was used with, which are limited in number. One
// that its provider rejected is neither, and records nothing.
type instrument struct {
	histogram metric.Float64Histogram
	counter   metric.Int64Counter
	series    *cache[labels, series]
	config    config
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
}

// newMetrics makes all instruments, and says which of them are rejected.
func newMetrics(meter metric.Meter, c config) (*metrics, error) {
	var errs []error
	made := func(i instrument, name string, err error) instrument {
		if err != nil {
			errs = append(errs, fmt.Errorf("denorm: instrument %s: %w", name, err))
			return instrument{}
		}
		i.series, i.config = newCache[labels, series](c.maxSeries), c
		return i
	}
	histogram := func(name, unit, description string) instrument {
		h, err := meter.Float64Histogram(name, buckets, metric.WithUnit(unit), metric.WithDescription(description))
		return made(instrument{histogram: h}, name, err)
	}
	counter := func(name, unit, description string) instrument {
		c, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		return made(instrument{counter: c}, name, err)
	}
	var standard dbconv.ClientOperationDuration
	m := &metrics{
		requestDuration: histogram(standard.Name(), standard.Unit(), standard.Description()),
		writeDuration: histogram(writeDurationName, "s",
			"Duration of logical writes, over all their tables and with retries."),
		readDuration: histogram(readDurationName, "s",
			"Duration of reads, over all their partitions, with what the caller does with the rows."),
		unconfirmed: counter(unconfirmedName, "{row}", "Rows that a query with Confirm left out, as their base rows do not confirm them."),
		retries:     counter(retriesName, "{retry}", "Attempts that failed and were followed by another."),
		rejections:  counter(rejectionsName, "{request}", "Requests given up because the budget for retries was spent."),
		stragglers:  counter(stragglersName, "{request}", "Requests that had not ended when the write did."),
		outcomes: counter(outcomesName, "{table}",
			"Tables of logical writes by what is known of them when the write ends."),
	}
	return m, errors.Join(errs...)
}

// since records how long it is since start.
func (i *instrument) since(ctx context.Context, start time.Time, l labels) {
	if i.histogram != nil {
		i.histogram.Record(ctx, time.Since(start).Seconds(), i.of(l).record...)
	}
}

func (i *instrument) add(ctx context.Context, n int, l labels) {
	if i.counter != nil {
		i.counter.Add(ctx, int64(n), i.of(l).add...)
	}
}

func (i *instrument) of(l labels) series {
	if i.config.noNamespace {
		l.namespace = ""
	}
	if known, ok := i.series.get(l); ok {
		return known
	}
	if known, ok := i.series.add(l, i.build(l), l.op, l.namespace, l.table, l.summary); ok {
		return known
	}
	return i.build(l.other())
}

func (i *instrument) build(l labels) series {
	attributes := appendTexts([]attribute.KeyValue{semconv.DBSystemNameCassandra},
		opKey.String(l.op), semconv.DBNamespace(l.namespace), semconv.DBCollectionName(l.table),
		semconv.DBOperationName(l.operation), semconv.DBQuerySummary(l.summary), modeKey.String(l.mode),
		outcomeKey.String(l.outcome), retryClassKey.String(l.class))
	attributes = appendError(attributes, l.errorType, l.status)
	if l.address != "" {
		attributes = appendCounts(append(attributes, semconv.ServerAddress(l.address)), semconv.ServerPort(l.port))
	}
	set := metric.WithAttributeSet(attribute.NewSet(append(attributes, i.config.attributes...)...))
	return series{record: []metric.RecordOption{set}, add: []metric.AddOption{set}}
}

// other is what is left when all that is not an enumeration is taken away.
func (l labels) other() labels {
	for _, name := range []*string{&l.op, &l.namespace, &l.table, &l.summary} {
		if *name != "" {
			*name = other
		}
	}
	l.status, l.address, l.port = "", "", 0
	return l
}

// operationEnd records a write that had requests to these tables, or a read.
func (m *metrics) operationEnd(
	ctx context.Context, o *operation, data session.OperationEnd, tables []table, outcome, errorType string,
) {
	switch o.Operation {
	case session.OperationWrite:
	case session.OperationModify:
		return
	case session.OperationRead:
		l := labels{op: data.Op, namespace: data.Keyspace, table: o.Table, errorType: errorType}
		if len(tablesOf(o.Table)) > 1 {
			l.table = ""
		}
		m.readDuration.since(ctx, o.start, l)
		if data.Unconfirmed > 0 {
			l.errorType = ""
			m.unconfirmed.add(ctx, data.Unconfirmed, l)
		}
		return
	}
	m.writeDuration.since(ctx, o.start, labels{op: data.Op, mode: data.Mode, outcome: outcome, errorType: errorType})
	if data.Stragglers > 0 {
		m.stragglers.add(ctx, data.Stragglers, labels{op: data.Op})
	}
	count := func(t table, outcome writer.Outcome) {
		m.outcomes.add(ctx, 1, labels{op: data.Op, namespace: t.keyspace, table: t.name, outcome: outcome.String()})
	}
	if data.Err == nil {
		for _, t := range tables {
			count(t, writer.Applied)
		}
	} else if failed := asError(data.Err); failed != nil && (!o.Resume || !failed.Is(writer.ErrInvalid)) { // others may have named those tables
		for i := range failed.Tables {
			r := &failed.Tables[i]
			t := table{r.Keyspace, r.Table}
			if o.Resume && r.Outcome == writer.Applied && !slices.Contains(tables, t) {
				continue // an earlier call has counted it
			}
			count(t, r.Outcome)
		}
	}
}

// requestEnd records a request; of a read, only that no other attempt was allowed.
func (m *metrics) requestEnd(ctx context.Context, r *request, data session.RequestEnd, errorType, status string) {
	l := r.shape.labels
	if !r.read {
		l.errorType, l.status = errorType, status
		if m.requestDuration.config.serverAddress {
			l.address, l.port = data.Host.IP(), data.Host.Port()
		}
		if data.Attempts > 0 {
			m.requestDuration.since(ctx, r.start, l)
		}
	}
	if data.BudgetSpent {
		m.rejections.add(ctx, 1, labels{op: l.op, namespace: l.namespace, table: l.table, errorType: errorType})
	}
}
