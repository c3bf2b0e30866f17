package tracing

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/denorm-go/denorm/reader"
)

var (
	_ reader.Tracer          = (*SlogTracer)(nil)
	_ reader.PartitionTracer = (*SlogTracer)(nil)
	_ reader.RetryTracer     = (*SlogTracer)(nil)
)

// loggedRead is a read under way, and its own context.
type loggedRead struct {
	context.Context

	tracer *SlogTracer
	start  time.Time
	data   reader.ReadStart
}

type loggedReadContext struct{ *SlogTracer }

func (r *loggedRead) Value(key any) any {
	if key == any(loggedReadContext{r.tracer}) {
		return r
	}
	return r.Context.Value(key)
}

// loggedPartition is a partition under way, and its own context.
type loggedPartition struct {
	context.Context

	tracer *SlogTracer
	data   reader.PartitionStart
}

type loggedPartitionContext struct{ *SlogTracer }

func (p *loggedPartition) Value(key any) any {
	if key == any(loggedPartitionContext{p.tracer}) {
		return p
	}
	return p.Context.Value(key)
}

// TraceReadStart implements [reader.Tracer].
func (t *SlogTracer) TraceReadStart(ctx context.Context, data reader.ReadStart) context.Context {
	if !t.enabled(ctx) {
		return ctx
	}
	return &loggedRead{Context: ctx, tracer: t, start: time.Now(), data: data}
}

// TraceReadEnd implements [reader.Tracer].
func (t *SlogTracer) TraceReadEnd(ctx context.Context, data reader.ReadEnd) {
	level, message := t.success, "read done"
	if data.Err != nil {
		level, message = t.failure, "read failed"
	}
	if errors.Is(data.Err, reader.ErrInvalid) {
		level = slog.LevelInfo
	}
	r, _ := ctx.Value(loggedReadContext{t}).(*loggedRead)
	if r == nil || !t.logs(ctx, level) {
		return
	}
	attributes := append(make([]slog.Attr, 0, 9),
		slog.String("op", data.Op), slog.String("keyspace", data.Keyspace), slog.String("table", r.data.Table),
		slog.Int("partitions", data.Partitions), slog.Int("rows", data.Rows), duration(r.start))
	if r.data.Continued {
		attributes = append(attributes, slog.Bool("continued", true))
	}
	if data.Err != nil {
		attributes = appendReason(attributes, data.Err, readErrorType(data.Err))
	}
	t.logger.LogAttrs(ctx, level, message, attributes...)
}

// TracePartitionStart implements [reader.PartitionTracer].
func (t *SlogTracer) TracePartitionStart(ctx context.Context, data reader.PartitionStart) context.Context {
	if !t.enabled(ctx) {
		return ctx
	}
	return &loggedPartition{Context: ctx, tracer: t, data: data}
}

// TracePartitionEnd implements [reader.PartitionTracer].
func (t *SlogTracer) TracePartitionEnd(ctx context.Context, data reader.PartitionEnd) {
	p, _ := ctx.Value(loggedPartitionContext{t}).(*loggedPartition)
	if data.Err == nil || p == nil || !t.logs(ctx, t.retry) {
		return
	}
	attributes := append(p.attributes(), slog.Int("attempts", data.Attempts))
	attributes = appendReason(attributes, data.Err, data.Reason)
	if data.Refused {
		attributes = append(attributes, slog.Bool("refused", true))
	}
	t.logger.LogAttrs(ctx, t.retry, "partition failed", appendHost(attributes, data.Host)...)
}

// TraceReadRetry implements [reader.RetryTracer].
func (t *SlogTracer) TraceReadRetry(ctx context.Context, data reader.RetryData) {
	p, _ := ctx.Value(loggedPartitionContext{t}).(*loggedPartition)
	if p == nil || !t.logs(ctx, t.retry) {
		return
	}
	attributes := append(p.attributes(), slog.Int("attempt", data.Attempt), slog.String("class", classOf(data.Class)))
	attributes = appendReason(attributes, data.Err, data.Reason)
	attributes = append(attributes, slog.Float64("wait_ms", milliseconds(data.Wait)))
	t.logger.LogAttrs(ctx, t.retry, "request failed", appendHost(attributes, data.Host)...)
}

// attributes are those that all messages of a partition begin with. Its buckets are values of a row.
func (p *loggedPartition) attributes() []slog.Attr {
	return append(make([]slog.Attr, 0, 11),
		slog.String("op", p.data.Op), slog.String("keyspace", p.data.Keyspace), slog.String("table", p.data.Table),
		slog.Int("partition", p.data.Partition))
}
