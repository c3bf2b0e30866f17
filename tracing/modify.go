package tracing

import (
	"context"
	"log/slog"
	"time"

	"github.com/denorm-go/denorm/writer"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

var (
	_ writer.ModifyTracer = (*Tracer)(nil)
	_ writer.ModifyTracer = (*SlogTracer)(nil)
)

// modify is a Modify that is running, and its own context, as write is.
type modify struct {
	context.Context

	tracer *Tracer
	span   trace.Span
}

type modifyContext struct{ *Tracer }

func (m *modify) Value(key any) any {
	if key == any(modifyContext{m.tracer}) {
		return m
	}
	return m.Context.Value(key)
}

// TraceModifyStart implements [writer.ModifyTracer].
func (t *Tracer) TraceModifyStart(ctx context.Context, data writer.ModifyStart) context.Context {
	if t.spans == nil {
		return ctx
	}
	attributes := append([]attribute.KeyValue{semconv.DBSystemNameCassandra}, t.attributes...)
	if data.Op != "" {
		attributes = append(attributes, opKey.String(data.Op))
	}
	ctx, span := t.startSpan(ctx, summary("Modify", data.Op), []trace.SpanStartOption{trace.WithAttributes(attributes...)})
	if span == nil {
		return ctx
	}
	return &modify{Context: ctx, tracer: t, span: span}
}

// TraceModifyEnd implements [writer.ModifyTracer].
func (t *Tracer) TraceModifyEnd(ctx context.Context, data writer.ModifyEnd) {
	m, _ := ctx.Value(modifyContext{t}).(*modify)
	if m == nil {
		return
	}
	outcome := modifyOutcome(data)
	m.span.SetAttributes(roundsKey.Int(data.Rounds), outcomeKey.String(outcome))
	if data.Err != nil && (!expected(outcome) || outcome == outcomeConflict) { // that conflict was not resolved in time
		errorType := writeErrorType(data.Err, "")
		m.span.SetAttributes(semconv.ErrorTypeKey.String(errorType))
		m.span.SetStatus(codes.Error, outcome+": "+errorType)
	}
	m.span.End()
}

// modifyOutcome is what is known of a Modify that has ended.
func modifyOutcome(data writer.ModifyEnd) string {
	if data.Declined {
		return outcomeDeclined
	}
	return writeOutcome(data.Err)
}

// loggedModify is a Modify that is running, and its own context.
type loggedModify struct {
	context.Context

	tracer *SlogTracer
	start  time.Time
}

type loggedModifyContext struct{ *SlogTracer }

func (m *loggedModify) Value(key any) any {
	if key == any(loggedModifyContext{m.tracer}) {
		return m
	}
	return m.Context.Value(key)
}

// TraceModifyStart implements [writer.ModifyTracer].
func (t *SlogTracer) TraceModifyStart(ctx context.Context, _ writer.ModifyStart) context.Context {
	if !t.enabled(ctx) {
		return ctx
	}
	return &loggedModify{Context: ctx, tracer: t, start: time.Now()}
}

// TraceModifyEnd implements [writer.ModifyTracer].
func (t *SlogTracer) TraceModifyEnd(ctx context.Context, data writer.ModifyEnd) {
	outcome := modifyOutcome(data)
	level, message := t.success, "modify applied"
	switch {
	case data.Err == nil:
	case outcome != outcomeConflict && (expected(outcome) || outcome == outcomeRefused):
		level, message = slog.LevelInfo, "modify failed"
	default: // a failed write has been logged at its own level; a conflict was not resolved in time
		level, message = t.retry, "modify failed"
	}
	m, _ := ctx.Value(loggedModifyContext{t}).(*loggedModify)
	if m == nil || !t.logs(ctx, level) {
		return
	}
	attributes := append(make([]slog.Attr, 0, 5), slog.String("op", data.Op), slog.Int("rounds", data.Rounds), duration(m.start))
	if data.Err != nil {
		attributes = append(attributes, slog.String("outcome", outcome))
		if level != slog.LevelInfo {
			attributes = append(attributes, slog.String("reason", writeErrorType(data.Err, "")))
		}
	}
	t.logger.LogAttrs(ctx, level, message, attributes...)
}
