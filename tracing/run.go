package tracing

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/denorm-go/denorm/internal/runtrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// The attributes of runs of package reconcile.
const (
	kindKey      = attribute.Key("denorm.reconcile.kind")
	setKey       = attribute.Key("denorm.set")
	classKey     = attribute.Key("denorm.reconcile.class")
	certaintyKey = attribute.Key("denorm.reconcile.certainty")
)

var _ runtrace.RunTracer = (*otelTracer)(nil)

// runMetrics is the instruments of runs.
type runMetrics struct {
	rows, findings, repairs, inFlight, limit, progress, ratio instrument

	config config
	mu     sync.Mutex
	// when a table was read to the end last, or a run of it began first; limited as series are
	covered map[string]time.Time
}

func (m *maker) runs() *runMetrics {
	r := &runMetrics{config: m.config, covered: make(map[string]time.Time)}
	age, err := m.Float64ObservableGauge("denorm.drift.coverage.age", metric.WithUnit("s"),
		metric.WithDescription("Time since all rows of the table were compared last, or since the first run began."))
	if err == nil {
		// registered apart from the gauge: of several tracers that make it, the SDK takes the callback of the first only
		_, err = m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
			r.ages(o, age)
			return nil
		}, age)
	}
	if err != nil {
		m.rejected("denorm.drift.coverage.age", err)
	}
	r.rows = m.counter("denorm.reconcile.rows", "{row}", "Rows that runs of reconcile have read.")
	r.findings = m.counter("denorm.reconcile.findings", "{row}",
		"Rows that disagree with their base row, and were not repaired.")
	r.repairs = m.counter("denorm.reconcile.repairs", "{row}", "Rows that disagreed, by what a repair did about them.")
	r.inFlight = m.gauge("denorm.reconcile.in_flight", "{entity}", "Entities that are to be looked at again.")
	r.limit = m.gauge("denorm.reconcile.limit", "{request}", "Requests that a run may have in flight.")
	r.progress = m.gauge("denorm.reconcile.progress", "1", "How much of a run is done.")
	r.ratio = m.gauge("denorm.drift.ratio", "1",
		"Rows that disagree, of all rows of the table: the upper bound of the interval of 95 %, from the last complete run.")
	return r
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
func (m *runMetrics) complete(tables []runtrace.RunTable) {
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

// ages observes one age of each name: the greatest, where the keyspace is left out and tables of several have the same
// name.
func (m *runMetrics) ages(o metric.Observer, age metric.Float64Observable) {
	m.mu.Lock()
	defer m.mu.Unlock()
	oldest := make(map[labels]time.Time, len(m.covered))
	for table, at := range m.covered {
		l := labels{run: true, table: table}.by(m.config)
		if earlier, ok := oldest[l]; !ok || at.Before(earlier) {
			oldest[l] = at
		}
	}
	for l, at := range oldest {
		o.ObserveFloat64(age, time.Since(at).Seconds(), l.build(m.config))
	}
}

// run is a run, or a part of one, under way. Its span is nil if it does not record.
type run struct{ span trace.Span }

func (t *otelTracer) startRun(ctx context.Context, name string, attributes ...attribute.KeyValue) context.Context {
	ctx, span := t.startSpan(ctx, name,
		[]trace.SpanStartOption{trace.WithAttributes(append(attributes, t.attributes...)...)})
	return &following[otelTracer, run]{ctx, t, run{span}}
}

// endRun ends the span of a run. Its status has no text of the error, which may hold more than a trace should.
func (t *otelTracer) endRun(ctx context.Context, err error, attributes ...attribute.KeyValue) {
	r := find[run](ctx, t)
	if r == nil || r.span == nil {
		return
	}
	r.span.SetAttributes(attributes...)
	if err != nil {
		r.span.SetStatus(codes.Error, "")
	}
	r.span.End()
}

// TraceRunStart implements [runtrace.RunTracer].
func (t *otelTracer) TraceRunStart(ctx context.Context, data runtrace.RunStart) context.Context {
	if t.runs != nil && data.Full {
		t.runs.begin(data.Tables, data.Began)
	}
	return t.startRun(ctx, data.Kind+" "+data.Entity, kindKey.String(data.Kind), setKey.String(data.Entity))
}

// TraceRunEnd implements [runtrace.RunTracer].
func (t *otelTracer) TraceRunEnd(ctx context.Context, data runtrace.RunEnd) {
	if t.runs != nil && data.Complete {
		t.runs.complete(data.Tables)
		for _, table := range data.Tables {
			t.runs.ratio.put(ctx, driftBound(table.Findings, table.Rows), labels{run: true, table: table.Table})
		}
	}
	t.endRun(ctx, data.Err)
}

// driftBound is the upper bound of the share of rows that disagree: three of as many rows where none was found (the
// rule of three), else that of the normal approximation. It is 1 for an empty table.
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

// TraceRun implements [runtrace.RunTracer].
func (t *otelTracer) TraceRun(ctx context.Context, data runtrace.RunState) {
	if t.runs == nil {
		return
	}
	l := labels{run: true, kind: data.Kind, set: data.Entity}
	t.runs.inFlight.put(ctx, float64(data.Waiting), l)
	t.runs.limit.put(ctx, float64(data.Limit), l)
	t.runs.progress.put(ctx, data.Done, l)
}

// TraceUnitStart implements [runtrace.RunTracer].
func (t *otelTracer) TraceUnitStart(ctx context.Context, data runtrace.UnitStart) context.Context {
	name := "scan " + data.Table
	if data.Repair {
		name = "repair " + data.Table
	}
	return t.startRun(ctx, name, kindKey.String(data.Kind), tablesKey.StringSlice([]string{data.Table}))
}

// TraceUnitEnd implements [runtrace.RunTracer].
func (t *otelTracer) TraceUnitEnd(ctx context.Context, data runtrace.UnitEnd) {
	if t.runs != nil && data.Rows > 0 {
		t.runs.rows.put(ctx, float64(data.Rows), labels{run: true, kind: data.Kind, table: data.Table})
	}
	t.endRun(ctx, data.Err, appendGiven(nil, rowsKey.Int(data.Rows), outcomeKey.String(data.Outcome))...)
}

// TraceFinding implements [runtrace.RunTracer].
func (t *otelTracer) TraceFinding(ctx context.Context, data runtrace.RunFinding) {
	if t.runs == nil {
		return
	}
	if data.Outcome != "repaired" {
		t.runs.findings.put(ctx, 1, labels{run: true, table: data.Table, difference: data.Class, certainty: data.Certainty})
	}
	if data.Kind == "repair" {
		t.runs.repairs.put(ctx, 1, labels{run: true, table: data.Table, outcome: data.Outcome})
	}
}
