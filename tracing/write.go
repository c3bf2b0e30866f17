package tracing

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/denorm-go/denorm/writer"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// write is a logical write under way. It is its own context, which costs one allocation less than a context that holds
// it, and is found by its tracer, so that several tracers in a Multi do not take each other's.
type write struct {
	context.Context

	tracer  *Tracer
	span    trace.Span // nil if it does not record
	start   time.Time
	changes int
	resume  bool

	reasons reasons
	mu      sync.Mutex // requests run at the same time, and stragglers when the write has ended
	tables  []table
	first   [4]table // where tables begin, so that most writes need no more
}

// table is a table and its keyspace.
type table struct{ keyspace, name string }

type writeContext struct{ *Tracer }

func (w *write) Value(key any) any {
	if key == any(writeContext{w.tracer}) {
		return w
	}
	return w.Context.Value(key)
}

// write is the write that ctx belongs to; nil if it is not followed.
func (t *Tracer) write(ctx context.Context) *write {
	w, _ := ctx.Value(writeContext{t}).(*write)
	return w
}

// TraceWriteStart implements [writer.Tracer].
func (t *Tracer) TraceWriteStart(ctx context.Context, data writer.WriteStart) context.Context {
	if t.off() {
		return ctx
	}
	ctx, span := t.startSpan(ctx, data.Op, t.writeShape(data))
	if span == nil && t.metrics == nil {
		return ctx
	}
	w := &write{Context: ctx, tracer: t, span: span, start: time.Now(), changes: data.Changes, resume: data.Resume}
	w.tables = w.first[:0]
	return w
}

// TraceWriteEnd implements [writer.Tracer].
func (t *Tracer) TraceWriteEnd(ctx context.Context, data writer.WriteEnd) {
	if t.off() {
		return
	}
	w := t.write(ctx)
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	outcome, errorType := writeOutcome(data.Err), ""
	if !expected(outcome) {
		errorType = writeErrorType(data.Err, w.reasons.why(data))
	}
	if t.metrics != nil {
		t.metrics.writeEnd(ctx, w, data, outcome, errorType)
	}
	if w.span == nil {
		return
	}
	attributes := append(make([]attribute.KeyValue, 0, 12),
		modeKey.String(data.Mode.String()), outcomeKey.String(outcome),
		attemptsKey.Int(data.Attempts), requestsKey.Int(data.Requests))
	if !w.resume {
		attributes = append(attributes, changesKey.Int(w.changes))
	}
	if data.Counters > 0 {
		attributes = append(attributes, countersKey.Int(data.Counters))
	}
	if data.Stragglers > 0 {
		attributes = append(attributes, stragglersKey.Int(data.Stragglers))
	}
	attributes = w.appendTables(attributes)
	if errorType != "" {
		attributes = append(attributes, semconv.ErrorTypeKey.String(errorType))
		if open := openTables(data.Err); len(open) > 0 {
			attributes = append(attributes, openTablesKey.StringSlice(open))
		}
		w.span.SetStatus(codes.Error, outcome+": "+errorType)
	}
	w.span.SetAttributes(attributes...)
	w.span.End()
}

// appendTables adds the tables of the requests, and keyspace and table if there is only one.
func (w *write) appendTables(to []attribute.KeyValue) []attribute.KeyValue {
	if len(w.tables) == 0 {
		return to
	}
	names := make([]string, len(w.tables))
	oneKeyspace := true
	for i := range w.tables {
		names[i] = w.tables[i].name
		oneKeyspace = oneKeyspace && w.tables[i].keyspace == w.tables[0].keyspace
	}
	slices.Sort(names)
	to = append(to, tablesKey.StringSlice(slices.Compact(names)))
	if oneKeyspace && w.tables[0].keyspace != "" {
		to = append(to, semconv.DBNamespace(w.tables[0].keyspace))
	}
	if len(w.tables) == 1 {
		to = append(to, semconv.DBCollectionName(w.tables[0].name))
	}
	return to
}

// requestStart notes the tables of a request.
func (w *write) requestStart(s *requestShape, mode writer.Mode) {
	w.reasons.start(mode)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range s.tables {
		if t := (table{keyspace: s.namespace, name: name}); !slices.Contains(w.tables, t) {
			w.tables = append(w.tables, t)
		}
	}
}
