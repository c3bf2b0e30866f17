package tracing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/denorm-go/denorm/writer"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/semconv/v1.43.0/dbconv"
)

// Names of the instruments that the conventions do not have.
const (
	writeDurationName = "denorm.write.duration"
	readDurationName  = "denorm.read.duration"
	retriesName       = "denorm.retries"
	refusalsName      = "denorm.retry.refusals"
	stragglersName    = "denorm.stragglers"
	outcomesName      = "denorm.outcomes"
)

// buckets of durations in seconds, as the conventions give them for db.client.operation.duration.
var buckets = metric.WithExplicitBucketBoundaries(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10)

// metrics is the instruments, each with the sets of attributes it was used with.
type metrics struct {
	requestDuration metric.Float64Histogram
	writeDuration   metric.Float64Histogram
	readDuration    metric.Float64Histogram
	retries         metric.Int64Counter
	refusals        metric.Int64Counter
	stragglers      metric.Int64Counter
	outcomes        metric.Int64Counter

	ofRequests, ofWrites, ofReads, ofRetries, ofRefusals, ofStragglers, ofOutcomes *allSeries

	noNamespace bool
}

// newMetrics makes all instruments; one that is rejected records nothing.
func newMetrics(meter metric.Meter, c config) (*metrics, error) {
	m := &metrics{
		ofRequests: newSeries(c), ofWrites: newSeries(c), ofReads: newSeries(c), ofRetries: newSeries(c), ofRefusals: newSeries(c),
		ofStragglers: newSeries(c), ofOutcomes: newSeries(c),
		noNamespace: c.noNamespace,
	}
	var errs []error
	refused := func(name string, err error) bool {
		if err != nil {
			errs = append(errs, fmt.Errorf("denorm: instrument %s: %w", name, err))
		}
		return err != nil
	}
	counter := func(name, unit, description string) metric.Int64Counter {
		c, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		if refused(name, err) {
			return noop.Int64Counter{}
		}
		return c
	}
	requestDuration, err := dbconv.NewClientOperationDuration(meter, buckets)
	refused(requestDuration.Name(), err)
	m.requestDuration = requestDuration.Inst() // records nothing if it was rejected
	m.writeDuration, err = meter.Float64Histogram(writeDurationName, buckets, metric.WithUnit("s"),
		metric.WithDescription("Duration of logical writes, over all their tables and with retries."))
	if refused(writeDurationName, err) {
		m.writeDuration = noop.Float64Histogram{}
	}
	m.readDuration, err = meter.Float64Histogram(readDurationName, buckets, metric.WithUnit("s"),
		metric.WithDescription("Duration of reads, over all their partitions, with what the caller does with the rows."))
	if refused(readDurationName, err) {
		m.readDuration = noop.Float64Histogram{}
	}
	m.retries = counter(retriesName, "{retry}", "Attempts that failed and were followed by another.")
	m.refusals = counter(refusalsName, "{path}", "Requests given up because the budget for retries was spent.")
	m.stragglers = counter(stragglersName, "{path}", "Requests that had not ended when the write did.")
	m.outcomes = counter(outcomesName, "{table}", "Tables of logical writes by what is known of them when the write ends.")
	return m, errors.Join(errs...)
}

func (m *metrics) namespace(keyspace string) string {
	if m.noNamespace {
		return ""
	}
	return keyspace
}

func (m *metrics) requestEnd(ctx context.Context, p *request, errorType, status string) {
	s := m.ofRequests.of(labels{
		op: p.shape.op, namespace: m.namespace(p.shape.namespace), table: p.shape.table, operation: p.shape.operation,
		summary: p.shape.summary, errorType: errorType, status: status,
	})
	m.requestDuration.Record(ctx, time.Since(p.start).Seconds(), s.record...)
}

func (m *metrics) retry(ctx context.Context, p *request, class, errorType string) {
	s := m.ofRetries.of(labels{
		op: p.shape.op, namespace: m.namespace(p.shape.namespace), table: p.shape.table, class: class, errorType: errorType,
	})
	m.retries.Add(ctx, 1, s.add...)
}

func (m *metrics) refusal(ctx context.Context, p *request, errorType string) {
	s := m.ofRefusals.of(labels{
		op: p.shape.op, namespace: m.namespace(p.shape.namespace), table: p.shape.table, errorType: errorType,
	})
	m.refusals.Add(ctx, 1, s.add...)
}

// writeEnd records a write that is locked.
func (m *metrics) writeEnd(ctx context.Context, w *write, data writer.WriteEnd, outcome, errorType string) {
	s := m.ofWrites.of(labels{op: data.Op, mode: data.Mode.String(), outcome: outcome, errorType: errorType})
	m.writeDuration.Record(ctx, time.Since(w.start).Seconds(), s.record...)
	if data.Stragglers > 0 {
		m.stragglers.Add(ctx, int64(data.Stragglers), m.ofStragglers.of(labels{op: data.Op}).add...)
	}
	if data.Err == nil {
		for _, t := range w.tables {
			m.outcome(ctx, data.Op, t, writer.Applied)
		}
		return
	}
	failed := asError(data.Err)
	if failed == nil {
		return
	}
	for i := range failed.Tables {
		r := &failed.Tables[i]
		t := table{keyspace: r.Keyspace, name: r.Table}
		if w.resume && r.Outcome == writer.Applied && !slices.Contains(w.tables, t) {
			continue // an earlier call has counted it
		}
		m.outcome(ctx, data.Op, t, r.Outcome)
	}
}

func (m *metrics) outcome(ctx context.Context, op string, t table, outcome writer.Outcome) {
	s := m.ofOutcomes.of(labels{op: op, namespace: m.namespace(t.keyspace), table: t.name, outcome: outcome.String()})
	m.outcomes.Add(ctx, 1, s.add...)
}
