package tracing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	req "github.com/denorm-go/denorm/internal/request"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
)

// Names of the instruments of runs of package reconcile.
const (
	runRowsName     = "denorm.reconcile.rows"
	runFindingsName = "denorm.reconcile.findings"
	runRepairsName  = "denorm.reconcile.repairs"
	runInFlightName = "denorm.reconcile.in_flight"
	runLimitName    = "denorm.reconcile.limit"
	runProgressName = "denorm.reconcile.progress"
	driftRatioName  = "denorm.drift.ratio"
	coverageAgeName = "denorm.drift.coverage.age"

	kindKey      = attribute.Key("denorm.reconcile.kind")
	setKey       = attribute.Key("denorm.set")
	classKey     = attribute.Key("denorm.reconcile.class")
	certaintyKey = attribute.Key("denorm.reconcile.certainty")
)

var _ req.RunTracer = (*otelTracer)(nil)

// runMetrics is the instruments of runs.
type runMetrics struct {
	rows, findings, repairs runInstrument[metric.Int64Counter]
	inFlight, limit         runInstrument[metric.Int64Gauge]
	progress, ratio         runInstrument[metric.Float64Gauge]

	config  config
	mu      sync.Mutex
	covered map[string]time.Time // when a table was read to the end last, or a run of it began first; limited as series are
}

// newRunMetrics makes all instruments, and says which of them are rejected: those record nothing.
func newRunMetrics(meter metric.Meter, config config) (*runMetrics, error) {
	m := &runMetrics{config: config, covered: make(map[string]time.Time)}
	age, err := meter.Float64ObservableGauge(coverageAgeName, metric.WithUnit("s"),
		metric.WithDescription("Time since all rows of the table were compared last, or since the first run began."))
	if err == nil { // registered apart from the gauge: of several tracers that make it, the SDK takes the callback of the first only
		_, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
			m.ages(o, age)
			return nil
		}, age)
	}
	if err != nil {
		err = fmt.Errorf("denorm: instrument %s: %w", coverageAgeName, err)
	}
	errs := []error{err}
	counter := func(name, unit, description string) runInstrument[metric.Int64Counter] {
		c, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		return made(c, metric.Int64Counter(noop.Int64Counter{}), config, name, err, &errs)
	}
	count := func(name, unit, description string) runInstrument[metric.Int64Gauge] {
		g, err := meter.Int64Gauge(name, metric.WithUnit(unit), metric.WithDescription(description))
		return made(g, metric.Int64Gauge(noop.Int64Gauge{}), config, name, err, &errs)
	}
	share := func(name, description string) runInstrument[metric.Float64Gauge] {
		g, err := meter.Float64Gauge(name, metric.WithUnit("1"), metric.WithDescription(description))
		return made(g, metric.Float64Gauge(noop.Float64Gauge{}), config, name, err, &errs)
	}
	m.rows = counter(runRowsName, "{row}", "Rows that runs of reconcile have read.")
	m.findings = counter(runFindingsName, "{row}", "Rows that disagree with their base row, and were not repaired.")
	m.repairs = counter(runRepairsName, "{row}", "Rows that disagreed, by what a repair did about them.")
	m.inFlight = count(runInFlightName, "{entity}", "Entities that are to be looked at again.")
	m.limit = count(runLimitName, "{request}", "Requests that a run may have in flight.")
	m.progress = share(runProgressName, "How much of a run is done.")
	m.ratio = share(driftRatioName, "Rows that disagree, of all rows of the table: the upper bound of the interval of 95 %, from the last complete run.")
	return m, errors.Join(errs...)
}

func made[T any](instrument, nothing T, config config, name string, err error, errs *[]error) runInstrument[T] {
	if err != nil {
		*errs = append(*errs, fmt.Errorf("denorm: instrument %s: %w", name, err))
		instrument = nothing
	}
	return runInstrument[T]{to: instrument, series: newCache[runLabels, metric.MeasurementOption](config.maxSeries), config: config}
}

// begin notes that a run of all rows of the tables has begun.
func (m *runMetrics) begin(tables []string, began time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, table := range tables {
		if table = m.known(table); m.covered[table].IsZero() {
			m.covered[table] = began
		}
	}
}

// complete notes that all rows of the tables were read.
func (m *runMetrics) complete(tables []req.RunTable) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, table := range tables {
		m.covered[m.known(table.Table)] = time.Now()
	}
}

// known is the name that a table has in covered: tables beyond the limit share one. It is called with the lock held.
func (m *runMetrics) known(table string) string {
	if _, ok := m.covered[table]; ok || len(m.covered) < m.config.maxSeries {
		return table
	}
	return other
}

// ages observes one age of each name: the greatest, where the keyspace is left out and tables of several have the same name.
func (m *runMetrics) ages(o metric.Observer, age metric.Float64Observable) {
	m.mu.Lock()
	defer m.mu.Unlock()
	oldest := make(map[runLabels]time.Time, len(m.covered))
	for table, at := range m.covered {
		l := runLabels{table: table}.by(m.config)
		if earlier, ok := oldest[l]; !ok || at.Before(earlier) {
			oldest[l] = at
		}
	}
	for l, at := range oldest {
		o.ObserveFloat64(age, time.Since(at).Seconds(), l.build(m.config))
	}
}

// run is a run under way, and unit a part of one.
type (
	run  struct{ span trace.Span }
	unit struct{ span trace.Span }
)

// TraceRunStart implements [req.RunTracer].
func (t *otelTracer) TraceRunStart(ctx context.Context, data req.RunStart) context.Context {
	if t.runs != nil && data.Full {
		t.runs.begin(data.Tables, data.Began)
	}
	ctx, span := t.startSpan(ctx, data.Kind+" "+data.Entity, []trace.SpanStartOption{trace.WithAttributes(append(
		[]attribute.KeyValue{kindKey.String(data.Kind), setKey.String(data.Entity)}, t.attributes...)...)})
	return &following[otelTracer, run]{ctx, t, run{span}}
}

// TraceRunEnd implements [req.RunTracer].
func (t *otelTracer) TraceRunEnd(ctx context.Context, data req.RunEnd) {
	if t.runs != nil && data.Complete {
		t.runs.complete(data.Tables)
		for _, table := range data.Tables {
			ratio := &t.runs.ratio
			ratio.to.Record(ctx, driftBound(table.Findings, table.Rows), ratio.of(runLabels{table: table.Table}))
		}
	}
	if r := find[run](ctx, t); r != nil && r.span != nil {
		endRun(r.span, data.Err)
	}
}

// endRun ends a span. Its status has no text of the error, which may hold more than a trace should.
func endRun(span trace.Span, err error, attributes ...attribute.KeyValue) {
	span.SetAttributes(attributes...)
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// driftBound is the upper bound of the share of rows that disagree: three of as many rows where none was found (the rule of three), else
// that of the normal approximation. It is 1 for an empty table.
func driftBound(findings, rows int) float64 {
	if rows == 0 {
		return 1
	}
	n := float64(rows)
	if findings == 0 {
		return min(1, 3/n)
	}
	p := float64(findings) / n
	return min(1, p+1.96*math.Sqrt(p*(1-min(p, 1))/n))
}

// TraceRun implements [req.RunTracer].
func (t *otelTracer) TraceRun(ctx context.Context, data req.RunState) {
	if t.runs == nil {
		return
	}
	m, l := t.runs, runLabels{kind: data.Kind, set: data.Entity}
	m.inFlight.to.Record(ctx, int64(data.Waiting), m.inFlight.of(l))
	m.limit.to.Record(ctx, int64(data.Limit), m.limit.of(l))
	m.progress.to.Record(ctx, data.Done, m.progress.of(l))
}

// TraceUnitStart implements [req.RunTracer].
func (t *otelTracer) TraceUnitStart(ctx context.Context, data req.UnitStart) context.Context {
	name := "scan " + data.Table
	if data.Repair {
		name = "repair " + data.Table
	}
	ctx, span := t.startSpan(ctx, name, []trace.SpanStartOption{trace.WithAttributes(append([]attribute.KeyValue{
		kindKey.String(data.Kind), tablesKey.StringSlice([]string{data.Table}),
	}, t.attributes...)...)})
	return &following[otelTracer, unit]{ctx, t, unit{span}}
}

// TraceUnitEnd implements [req.RunTracer].
func (t *otelTracer) TraceUnitEnd(ctx context.Context, data req.UnitEnd) {
	if t.runs != nil && data.Rows > 0 {
		rows := &t.runs.rows
		rows.to.Add(ctx, int64(data.Rows), rows.of(runLabels{kind: data.Kind, table: data.Table}))
	}
	if u := find[unit](ctx, t); u != nil && u.span != nil {
		attributes := appendCounts(nil, rowsKey.Int(data.Rows))
		endRun(u.span, data.Err, appendTexts(attributes, outcomeKey.String(data.Outcome))...)
	}
}

// TraceFinding implements [req.RunTracer].
func (t *otelTracer) TraceFinding(ctx context.Context, data req.RunFinding) {
	if t.runs == nil {
		return
	}
	m := t.runs
	if data.Outcome != "repaired" {
		m.findings.to.Add(ctx, 1, m.findings.of(runLabels{table: data.Table, class: data.Class, certainty: data.Certainty}))
	}
	if data.Kind == "repair" {
		m.repairs.to.Add(ctx, 1, m.repairs.of(runLabels{table: data.Table, outcome: data.Outcome}))
	}
}
