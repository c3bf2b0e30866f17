package tracing

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// operation is a write, Modify or read under way.
type operation struct {
	session.OperationStart

	span     trace.Span // nil if it does not record
	start    time.Time
	requests requests
}

// TraceStart implements [session.Tracer].
func (t *otelTracer) TraceStart(ctx context.Context, data session.OperationStart) context.Context {
	modify := data.Operation == session.OperationModify
	if t.off() || modify && t.spans == nil { // no metric is of a Modify
		return ctx
	}
	name, options := data.Op, t.operationShape(data)
	if modify {
		name = summary("Modify", data.Op)
	}
	if data.Limit > 0 {
		options = append(slices.Clip(options), trace.WithAttributes(limitKey.Int(data.Limit)))
	}
	if t.spans != nil {
		if data.Link != "" {
			options = append(slices.Clip(options), linkTo(data.Link))
		}
		if attributes := attributesOf(ctx); len(attributes) > 0 {
			options = append(slices.Clip(options), trace.WithAttributes(attributes...))
		}
	}
	ctx, span := t.startSpan(ctx, name, options)
	if span == nil && (t.metrics == nil || modify) && find[operation](ctx, t) == nil {
		// or the Modify around it would have what this one ends with
		return ctx
	}
	return &following[otelTracer, operation]{ctx, t, operation{OperationStart: data, span: span, start: time.Now()}}
}

// linkTo makes a link to the span of a traceparent, if it is one.
func linkTo(traceparent string) trace.SpanStartOption {
	of := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(),
		propagation.MapCarrier{traceparentKey: traceparent}))
	if !of.IsValid() {
		return trace.WithLinks()
	}
	return trace.WithLinks(trace.Link{SpanContext: of})
}

// traceparentKey is the name of a traceparent among the headers of a request.
const traceparentKey = "traceparent"

// TraceLink implements [session.LinkTracer]. A span that is not sampled has no link, because backends do not have that
// span.
func (t *otelTracer) TraceLink(ctx context.Context) string {
	o := find[operation](ctx, t)
	if o == nil || o.span == nil || !o.span.SpanContext().IsSampled() {
		return ""
	}
	carrier := make(propagation.MapCarrier, 1)
	propagation.TraceContext{}.Inject(trace.ContextWithSpan(ctx, o.span), carrier)
	return carrier[traceparentKey]
}

// TraceEnd implements [session.Tracer].
func (t *otelTracer) TraceEnd(ctx context.Context, data session.OperationEnd) {
	o := find[operation](ctx, t)
	if o == nil {
		return
	}
	tables, reason := o.requests.end(data)
	outcome, errorType := operationOutcome(o.Operation, data, reason)
	if t.metrics != nil {
		t.metrics.operationEnd(ctx, o, data, tables, outcome, errorType)
	}
	if o.span == nil {
		return
	}
	attributes := make([]attribute.KeyValue, 0, 12)
	switch o.Operation {
	case session.OperationWrite:
		attributes = append(attributes, modeKey.String(data.Mode), attemptsKey.Int(data.Attempts),
			requestsKey.Int(data.Requests))
		if !o.Resume {
			attributes = append(attributes, changesKey.Int(o.Changes))
		}
		attributes = appendGiven(attributes, groupsKey.Int(data.Groups), countersKey.Int(data.Counters),
			stragglersKey.Int(data.Stragglers))
		attributes = appendTables(attributes, tables)
		if errorType != "" {
			if open := openTables(data.Err); len(open) > 0 {
				attributes = append(attributes, openTablesKey.StringSlice(open))
			}
		}
	case session.OperationModify:
		attributes = append(attributes, roundsKey.Int(data.Rounds))
	case session.OperationRead:
		attributes = append(attributes, partitionsKey.Int(data.Partitions), rowsKey.Int(data.Rows))
		attributes = appendGiven(attributes, unconfirmedKey.Int(data.Unconfirmed), keyspaceKey.String(data.Keyspace))
	}
	endSpan(o.span, attributes, outcome, errorType, "") // the code of an answer is on the span of its request
}

// appendTables adds the tables of the requests, and the keyspace if there is only one.
func appendTables(to []attribute.KeyValue, tables []table) []attribute.KeyValue {
	if len(tables) == 0 {
		return to
	}
	names := make([]string, len(tables))
	keyspace := tables[0].keyspace
	for i, t := range tables {
		names[i] = t.name
		if t.keyspace != keyspace {
			keyspace = ""
		}
	}
	slices.Sort(names)
	return appendGiven(append(to, tablesKey.StringSlice(slices.Compact(names))), keyspaceKey.String(keyspace))
}

// request is a request of a write, or a partition of a read, under way.
type request struct {
	span      trace.Span // nil if it does not record
	start     time.Time
	shape     *requestShape
	read      bool
	operation *operation // nil if it is not followed
}

// TraceRequestStart implements [session.RequestTracer].
func (t *otelTracer) TraceRequestStart(ctx context.Context, data session.RequestStart) context.Context {
	if t.off() {
		return ctx
	}
	shape, o := t.requestShape(data), find[operation](ctx, t)
	options, read := shape.start, data.Partition > 0
	if read && t.spans != nil {
		attributes := appendGiven([]attribute.KeyValue{partitionKey.Int(data.Partition)},
			bucketKey.String(bucketText(data.Buckets)))
		options = append(slices.Clip(options), trace.WithAttributes(attributes...))
	}
	ctx, span := t.startSpan(ctx, shape.summary, options)
	if o != nil {
		o.requests.start(data.Mode, data.Keyspace, shape.tables)
	}
	if span == nil && t.metrics == nil {
		return ctx
	}
	return &following[otelTracer, request]{ctx, t, request{
		span: span, start: time.Now(), shape: shape, read: read,
		operation: o,
	}}
}

func bucketText(buckets []session.Bucket) string {
	return strings.Join(each.Of(buckets, func(b session.Bucket) string { return b.Column + " " + b.Value }), ", ")
}

// TraceRequestEnd implements [session.RequestTracer].
func (t *otelTracer) TraceRequestEnd(ctx context.Context, data session.RequestEnd) {
	r := find[request](ctx, t)
	if r == nil {
		return
	}
	outcome := requestOutcome(data, r.read)
	errorType, status := requestErrorType(data.Err, data.Reason), statusCode(data.Err)
	if expected(outcome) {
		errorType, status = "", ""
	}
	if errorType != "" && r.operation != nil {
		r.operation.requests.failed(errorType)
	}
	if t.metrics != nil {
		t.metrics.requestEnd(ctx, r, data, errorType, status)
	}
	if r.span == nil {
		return
	}
	attributes := append(make([]attribute.KeyValue, 0, 16), attemptsKey.Int(data.Attempts))
	if r.read {
		attributes = append(attributes, rowsKey.Int(data.Rows), pagesKey.Int(data.Pages),
			semconv.DBResponseReturnedRows(data.Returned))
		attributes = appendGiven(attributes, semconv.CassandraPageSize(data.PageSize))
	}
	attributes = appendGiven(attributes, semconv.CassandraSpeculativeExecutionCount(data.Hedges),
		budgetSpentKey.Bool(data.BudgetSpent))
	if len(data.Tables) > 0 {
		attributes = append(attributes, tableOutcomeKey.StringSlice(each.Of(data.Tables, writer.Outcome.String)))
	}
	endSpan(r.span, appendCoordinator(attributes, data.Host), outcome, errorType, status)
}

// TraceRetry implements [session.RetryTracer].
func (t *otelTracer) TraceRetry(ctx context.Context, data session.Retry) {
	r := find[request](ctx, t)
	if r == nil {
		return
	}
	class, errorType := classOf(data.Verdict.Outcome), cmp.Or(data.Verdict.Reason, other)
	if t.metrics != nil {
		t.metrics.retries.put(ctx, 1, labels{
			op: r.shape.op, namespace: r.shape.namespace, table: r.shape.table, class: class, errorType: errorType,
		})
	}
	if r.span == nil {
		return
	}
	attributes := append(make([]attribute.KeyValue, 0, 11),
		retryAttemptKey.Int(data.Attempt), retryClassKey.String(class), retryWaitKey.Float64(milliseconds(data.Wait)))
	attributes = appendCoordinator(appendError(attributes, errorType, statusCode(data.Err)), data.Host)
	r.span.AddEvent("retry", trace.WithAttributes(attributes...))
}

// unnamed is the name of a span without another, as the conventions ask for.
var unnamed = semconv.DBSystemNameCassandra.Value.AsString()

// startSpan starts a span, if there are to be any. It gives nil for one that does not record.
func (t *otelTracer) startSpan(
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

// endSpan ends a span. A read has no outcome, and what went as expected no error type.
func endSpan(span trace.Span, attributes []attribute.KeyValue, outcome, errorType, status string) {
	attributes = appendError(appendGiven(attributes, outcomeKey.String(outcome)), errorType, status)
	switch {
	case errorType == "":
	case outcome == "":
		span.SetStatus(codes.Error, errorType)
	default:
		span.SetStatus(codes.Error, outcome+": "+errorType)
	}
	span.SetAttributes(attributes...)
	span.End()
}
