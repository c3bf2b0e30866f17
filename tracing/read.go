package tracing

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/retry"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// What a read has alongside a write's attributes.
const (
	rowsKey       = attribute.Key("denorm.rows")
	pagesKey      = attribute.Key("denorm.pages")
	limitKey      = attribute.Key("denorm.limit")
	continuedKey  = attribute.Key("denorm.continued")
	partitionKey  = attribute.Key("denorm.partition")
	partitionsKey = attribute.Key("denorm.partitions")
	bucketKey     = attribute.Key("denorm.bucket")
)

var (
	_ reader.Tracer          = (*Tracer)(nil)
	_ reader.PartitionTracer = (*Tracer)(nil)
	_ reader.RetryTracer     = (*Tracer)(nil)
)

// read is a read under way, and its own context, as write is.
type read struct {
	context.Context

	tracer *Tracer
	span   trace.Span // nil if it does not record
	start  time.Time
	table  string
}

type readContext struct{ *Tracer }

func (r *read) Value(key any) any {
	if key == any(readContext{r.tracer}) {
		return r
	}
	return r.Context.Value(key)
}

// partition is a partition under way, and its own context.
type partition struct {
	context.Context

	tracer *Tracer
	span   trace.Span // nil if it does not record
	data   reader.PartitionStart
}

type partitionContext struct{ *Tracer }

func (p *partition) Value(key any) any {
	if key == any(partitionContext{p.tracer}) {
		return p
	}
	return p.Context.Value(key)
}

// TraceReadStart implements [reader.Tracer].
func (t *Tracer) TraceReadStart(ctx context.Context, data reader.ReadStart) context.Context {
	if t.off() {
		return ctx
	}
	attributes := append([]attribute.KeyValue{semconv.DBSystemNameCassandra}, t.attributes...)
	if data.Op != "" {
		attributes = append(attributes, semconv.DBOperationName(data.Op), semconv.DBQuerySummary(data.Op), opKey.String(data.Op))
	}
	if data.Table != "" {
		attributes = append(attributes, semconv.DBCollectionName(data.Table))
	}
	if data.Limit > 0 {
		attributes = append(attributes, limitKey.Int(data.Limit))
	}
	if data.Continued {
		attributes = append(attributes, continuedKey.Bool(true))
	}
	ctx, span := t.startSpan(ctx, data.Op, clientSpan(attributes))
	if span == nil && t.metrics == nil {
		return ctx
	}
	return &read{Context: ctx, tracer: t, span: span, start: time.Now(), table: data.Table}
}

// TraceReadEnd implements [reader.Tracer].
func (t *Tracer) TraceReadEnd(ctx context.Context, data reader.ReadEnd) {
	r, _ := ctx.Value(readContext{t}).(*read)
	if r == nil {
		return
	}
	errorType := readErrorType(data.Err)
	if t.metrics != nil {
		t.metrics.readEnd(ctx, r, data, errorType)
	}
	if r.span == nil {
		return
	}
	attributes := append(make([]attribute.KeyValue, 0, 5), partitionsKey.Int(data.Partitions), rowsKey.Int(data.Rows))
	if data.Keyspace != "" {
		attributes = append(attributes, semconv.DBNamespace(data.Keyspace))
	}
	if data.Err != nil {
		attributes = appendError(attributes, errorType, statusCode(data.Err))
		r.span.SetStatus(codes.Error, errorType)
	}
	r.span.SetAttributes(attributes...)
	r.span.End()
}

// readErrorType is the error.type of a read.
func readErrorType(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, reader.ErrInvalid):
		return typeInvalid
	}
	return requestErrorType(err, retry.Classify(err, retry.Partition).Reason)
}

// TracePartitionStart implements [reader.PartitionTracer].
func (t *Tracer) TracePartitionStart(ctx context.Context, data reader.PartitionStart) context.Context {
	if t.off() {
		return ctx
	}
	if t.spans == nil { // the partition's own attributes are for spans alone
		return &partition{Context: ctx, tracer: t, data: data}
	}
	const verb = "SELECT"
	attributes := append([]attribute.KeyValue{
		semconv.DBSystemNameCassandra, consistency(data.Consistency), semconv.DBOperationName(verb),
		semconv.DBQuerySummary(summary(verb, data.Table)), semconv.DBCollectionName(data.Table), partitionKey.Int(data.Partition),
	}, t.attributes...)
	if data.Op != "" {
		attributes = append(attributes, opKey.String(data.Op))
	}
	if data.Keyspace != "" {
		attributes = append(attributes, semconv.DBNamespace(data.Keyspace))
	}
	if len(data.Buckets) > 0 {
		attributes = append(attributes, bucketKey.String(bucketText(data.Buckets)))
	}
	if t.statements {
		attributes = append(attributes, semconv.DBQueryText(data.Statement))
	}
	ctx, span := t.startSpan(ctx, summary(verb, data.Table), clientSpan(attributes))
	if span == nil && t.metrics == nil {
		return ctx
	}
	return &partition{Context: ctx, tracer: t, span: span, data: data}
}

func bucketText(buckets []reader.Bucket) string {
	var b strings.Builder
	for i, bucket := range buckets {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(bucket.Column + " " + bucket.Value)
	}
	return b.String()
}

// partition is the partition that ctx belongs to; nil if it is not followed.
func (t *Tracer) partition(ctx context.Context) *partition {
	p, _ := ctx.Value(partitionContext{t}).(*partition)
	return p
}

// TracePartitionEnd implements [reader.PartitionTracer].
func (t *Tracer) TracePartitionEnd(ctx context.Context, data reader.PartitionEnd) {
	p := t.partition(ctx)
	if p == nil {
		return
	}
	errorType := requestErrorType(data.Err, data.Reason)
	if t.metrics != nil && data.Refused {
		t.metrics.readRefusal(ctx, p, errorType)
	}
	if p.span == nil {
		return
	}
	attributes := appendCoordinator(append(make([]attribute.KeyValue, 0, 10),
		rowsKey.Int(data.Rows), pagesKey.Int(data.Pages), attemptsKey.Int(data.Attempts)), data.Host)
	if data.Refused {
		attributes = append(attributes, retryRefusedKey.Bool(true))
	}
	if data.Err != nil {
		attributes = appendError(attributes, errorType, statusCode(data.Err))
		p.span.SetStatus(codes.Error, errorType)
	}
	p.span.SetAttributes(attributes...)
	p.span.End()
}

// TraceReadRetry implements [reader.RetryTracer].
func (t *Tracer) TraceReadRetry(ctx context.Context, data reader.RetryData) {
	p := t.partition(ctx)
	if p == nil {
		return
	}
	class, errorType := classOf(data.Class), requestErrorType(data.Err, data.Reason)
	if t.metrics != nil {
		t.metrics.readRetry(ctx, p, class, errorType)
	}
	if p.span == nil {
		return
	}
	attributes := append(make([]attribute.KeyValue, 0, 11),
		retryAttemptKey.Int(data.Attempt), retryClassKey.String(class), retryWaitKey.Float64(milliseconds(data.Wait)))
	attributes = appendError(attributes, errorType, statusCode(data.Err))
	p.span.AddEvent(retryEvent, trace.WithAttributes(appendCoordinator(attributes, data.Host)...))
}

func (m *metrics) readEnd(ctx context.Context, r *read, data reader.ReadEnd, errorType string) {
	s := m.ofReads.of(labels{op: data.Op, namespace: m.namespace(data.Keyspace), table: r.table, errorType: errorType})
	m.readDuration.Record(ctx, time.Since(r.start).Seconds(), s.record...)
}

func (m *metrics) readRetry(ctx context.Context, p *partition, class, errorType string) {
	s := m.ofRetries.of(labels{
		op: p.data.Op, namespace: m.namespace(p.data.Keyspace), table: p.data.Table, class: class, errorType: errorType,
	})
	m.retries.Add(ctx, 1, s.add...)
}

func (m *metrics) readRefusal(ctx context.Context, p *partition, errorType string) {
	s := m.ofRefusals.of(labels{op: p.data.Op, namespace: m.namespace(p.data.Keyspace), table: p.data.Table, errorType: errorType})
	m.refusals.Add(ctx, 1, s.add...)
}
