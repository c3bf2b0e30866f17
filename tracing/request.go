package tracing

import (
	"cmp"
	"context"
	"time"

	"github.com/denorm-go/denorm/writer"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// request is a request under way, and its own context, as write is.
type request struct {
	context.Context

	tracer *Tracer
	span   trace.Span // nil if it does not record
	start  time.Time
	shape  *requestShape
	write  *write // nil if it is not followed
}

type requestContext struct{ *Tracer }

func (p *request) Value(key any) any {
	if key == any(requestContext{p.tracer}) {
		return p
	}
	return p.Context.Value(key)
}

// request is the request that ctx belongs to; nil if it is not followed.
func (t *Tracer) request(ctx context.Context) *request {
	p, _ := ctx.Value(requestContext{t}).(*request)
	return p
}

// TraceRequestStart implements [writer.RequestTracer].
func (t *Tracer) TraceRequestStart(ctx context.Context, data writer.RequestStart) context.Context {
	if t.off() {
		return ctx
	}
	shape, w := t.requestShape(data), t.write(ctx)
	ctx, span := t.startSpan(ctx, shape.summary, shape.start)
	if w != nil {
		w.requestStart(shape, data.Mode)
	}
	if span == nil && t.metrics == nil {
		return ctx
	}
	return &request{Context: ctx, tracer: t, span: span, start: time.Now(), shape: shape, write: w}
}

// TraceRequestEnd implements [writer.RequestTracer].
func (t *Tracer) TraceRequestEnd(ctx context.Context, data writer.RequestEnd) {
	if t.off() {
		return
	}
	p := t.request(ctx)
	if p == nil {
		return
	}
	outcome, errorType, status := requestOutcome(data), requestErrorType(data.Err, data.Reason), statusCode(data.Err)
	if expected(outcome) {
		errorType, status = "", ""
	}
	if errorType != "" && p.write != nil {
		p.write.reasons.failed(errorType)
	}
	if t.metrics != nil {
		t.metrics.requestEnd(ctx, p, errorType, status)
		if data.Refused {
			t.metrics.refusal(ctx, p, errorType)
		}
	}
	if p.span == nil {
		return
	}
	attributes := appendCoordinator(append(make([]attribute.KeyValue, 0, 11),
		outcomeKey.String(outcome), attemptsKey.Int(data.Attempts)), data.Host)
	if data.Refused {
		attributes = append(attributes, retryRefusedKey.Bool(true))
	}
	if errorType != "" {
		attributes = appendError(attributes, errorType, status)
		p.span.SetStatus(codes.Error, outcome+": "+errorType)
	}
	p.span.SetAttributes(attributes...)
	p.span.End()
}

func appendError(to []attribute.KeyValue, errorType, status string) []attribute.KeyValue {
	to = append(to, semconv.ErrorTypeKey.String(errorType))
	if status != "" {
		to = append(to, semconv.DBResponseStatusCode(status))
	}
	return to
}

// unnamed is the name of a span without another, as the conventions ask for.
var unnamed = semconv.DBSystemNameCassandra.Value.AsString()

// startSpan starts a span, if there are to be any. It gives nil for one that does not record.
func (t *Tracer) startSpan(
	ctx context.Context, name string, options []trace.SpanStartOption,
) (context.Context, trace.Span) {
	if t.spans == nil {
		return ctx, nil
	}
	ctx, span := t.spans.Start(ctx, cmp.Or(name, unnamed), options...)
	if !span.IsRecording() {
		return ctx, nil
	}
	return ctx, span
}
