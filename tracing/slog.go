package tracing

import (
	"context"
	"log/slog"
	"time"

	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// SlogTracer logs writes and reads. It is made by [Slog] and safe for concurrent use. The zero value logs nothing.
type SlogTracer struct {
	logger                  *slog.Logger
	success, retry, failure slog.Level
}

var (
	_ writer.Tracer        = (*SlogTracer)(nil)
	_ writer.RequestTracer = (*SlogTracer)(nil)
	_ writer.RetryTracer   = (*SlogTracer)(nil)
)

// Slog makes a tracer for [writer.Trace] and [reader.Trace] that logs to logger:
//
//	message                   level  attributes
//	"write applied"           debug  op, mode, attempts, paths, duration_ms, resume if it is one
//	"path applied"            debug  op, mode, keyspace, tables, attempts, duration_ms, address, port, dc
//	"attempt failed"          warn   op, mode, keyspace, tables, attempt, class, reason, status_code, wait_ms, address, port,
//	                                 dc
//	"path failed"             warn   those of "path applied", outcome, reason, status_code, refused if the retry budget
//	                                 was spent; debug if it met a conflict
//	"write failed"            info,  those of "write applied", outcome, reason, open: the tables not known to have it,
//	                          warn,  stragglers if there were any; the level is that of the outcome, see the package
//	                          error  documentation
//	"modify applied"          debug  op, rounds, duration_ms
//	"modify failed"           info,  those of "modify applied", outcome, reason; never error, as a write that failed has a line
//	                          warn   of its own
//	"read done"               debug  op, keyspace, table, partitions, rows, duration_ms, continued if it is by a token
//	"request failed"          warn   op, keyspace, table, partition (its number), attempt, class, reason, status_code, wait_ms,
//	                                 address, port, dc
//	"partition failed"        warn   op, keyspace, table, partition, attempts, reason, status_code, refused, address, port,
//	                                 dc
//	"read failed"             error  those of "read done", reason, status_code; info if the query was rejected
//
// After an attempt that failed another follows, and after a request that failed the write may still succeed, where a
// logged batch is replaced by a fan-out. The request of a straggler has its message when the driver returns, which is after
// that of the write and may say that it was applied. duration_ms and wait_ms are milliseconds, as floating-point
// numbers. In messages and attributes, path is a request of a write. Outcomes and reasons are the denorm.outcome and error.type of the package
// documentation. address, port and dc are those of the coordinator, where known.
//
// No value and no text of an error is logged. The handler gets the context of write or request, so a handler that joins
// logs to traces finds the span, if [Multi] has the tracer that makes it before this one. A nil logger logs nothing.
func Slog(logger *slog.Logger, options ...SlogOption) *SlogTracer {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	t := &SlogTracer{logger: logger, success: slog.LevelDebug, retry: slog.LevelWarn, failure: slog.LevelError}
	for _, o := range options {
		if o != nil {
			o.applySlog(t)
		}
	}
	return t
}

// SlogOption is an argument of [Slog].
type SlogOption interface{ applySlog(*SlogTracer) }

type slogOption func(*SlogTracer)

func (f slogOption) applySlog(t *SlogTracer) { f(t) }

// WithSuccessLevel sets the level of writes and requests that were applied, and of requests that met a conflict. Default: debug.
func WithSuccessLevel(level slog.Level) SlogOption {
	return slogOption(func(t *SlogTracer) { t.success = level })
}

// WithRetryLevel sets the level of attempts and requests that failed, and of writes that were not applied. Default: warn.
func WithRetryLevel(level slog.Level) SlogOption {
	return slogOption(func(t *SlogTracer) { t.retry = level })
}

// WithFailureLevel sets the level of writes of which it is not known whether all tables have them, of those that are too old to
// be resumed, and of reads that failed. Default: error.
func WithFailureLevel(level slog.Level) SlogOption {
	return slogOption(func(t *SlogTracer) { t.failure = level })
}

// loggedWrite and loggedRequest are under way. They are their own contexts, as those of a Tracer.
type loggedWrite struct {
	context.Context

	tracer *SlogTracer
	start  time.Time
	resume bool

	reasons reasons
}

type loggedRequest struct {
	context.Context

	tracer *SlogTracer
	start  time.Time
	data   writer.RequestStart
	write  *loggedWrite // nil if it is not followed
}

type (
	loggedWriteContext   struct{ *SlogTracer }
	loggedRequestContext struct{ *SlogTracer }
)

func (w *loggedWrite) Value(key any) any {
	if key == any(loggedWriteContext{w.tracer}) {
		return w
	}
	return w.Context.Value(key)
}

func (p *loggedRequest) Value(key any) any {
	if key == any(loggedRequestContext{p.tracer}) {
		return p
	}
	return p.Context.Value(key)
}

// TraceWriteStart implements [writer.Tracer].
func (t *SlogTracer) TraceWriteStart(ctx context.Context, data writer.WriteStart) context.Context {
	if !t.enabled(ctx) {
		return ctx
	}
	return &loggedWrite{Context: ctx, tracer: t, start: time.Now(), resume: data.Resume}
}

// TraceWriteEnd implements [writer.Tracer].
func (t *SlogTracer) TraceWriteEnd(ctx context.Context, data writer.WriteEnd) {
	outcome, message := writeOutcome(data.Err), "write applied"
	if data.Err != nil {
		message = "write failed"
	}
	level := t.level(outcome)
	w := t.write(ctx)
	if w == nil || !t.logs(ctx, level) {
		return
	}
	attributes := append(make([]slog.Attr, 0, 11),
		slog.String("op", data.Op), slog.String("mode", data.Mode.String()),
		slog.Int("attempts", data.Attempts), slog.Int("paths", data.Requests), duration(w.start))
	if data.Counters > 0 {
		attributes = append(attributes, slog.Int("counters", data.Counters))
	}
	if w.resume {
		attributes = append(attributes, slog.Bool("resume", true))
	}
	if data.Err != nil {
		attributes = append(attributes, slog.String("outcome", outcome))
	}
	if data.Err != nil && !expected(outcome) {
		attributes = append(attributes, slog.String("reason", writeErrorType(data.Err, w.reasons.why(data))))
		if open := openTables(data.Err); len(open) > 0 {
			attributes = append(attributes, slog.Any("open", open))
		}
		if data.Stragglers > 0 {
			attributes = append(attributes, slog.Int("stragglers", data.Stragglers))
		}
	}
	t.logger.LogAttrs(ctx, level, message, attributes...)
}

// TraceRequestStart implements [writer.RequestTracer].
func (t *SlogTracer) TraceRequestStart(ctx context.Context, data writer.RequestStart) context.Context {
	if !t.enabled(ctx) {
		return ctx
	}
	w := t.write(ctx)
	if w != nil {
		w.reasons.start(data.Mode)
	}
	return &loggedRequest{Context: ctx, tracer: t, start: time.Now(), data: data, write: w}
}

// TraceRequestEnd implements [writer.RequestTracer].
func (t *SlogTracer) TraceRequestEnd(ctx context.Context, data writer.RequestEnd) {
	outcome, level, message := requestOutcome(data), t.success, "path applied"
	if data.Err != nil {
		message = "path failed"
		if !expected(outcome) {
			level = t.retry
		}
	}
	p := t.request(ctx)
	if p == nil {
		return
	}
	if data.Err != nil && p.write != nil {
		p.write.reasons.failed(requestErrorType(data.Err, data.Reason))
	}
	if !t.logs(ctx, level) {
		return
	}
	attributes := append(p.attributes(), slog.Int("attempts", data.Attempts), duration(p.start))
	if data.Err != nil {
		attributes = append(attributes, slog.String("outcome", outcome))
		attributes = appendReason(attributes, data.Err, data.Reason)
		if data.Refused {
			attributes = append(attributes, slog.Bool("refused", true))
		}
	}
	t.logger.LogAttrs(ctx, level, message, appendHost(attributes, data.Host)...)
}

// TraceRetry implements [writer.RetryTracer].
func (t *SlogTracer) TraceRetry(ctx context.Context, data writer.RetryData) {
	p := t.request(ctx)
	if p == nil || !t.logs(ctx, t.retry) {
		return
	}
	attributes := append(p.attributes(), slog.Int("attempt", data.Attempt), slog.String("class", classOf(data.Class)))
	attributes = appendReason(attributes, data.Err, data.Reason)
	attributes = append(attributes, slog.Float64("wait_ms", milliseconds(data.Wait)))
	t.logger.LogAttrs(ctx, t.retry, "attempt failed", appendHost(attributes, data.Host)...)
}

// enabled says whether anything may have to be logged.
func (t *SlogTracer) enabled(ctx context.Context) bool {
	return t.logs(ctx, max(t.success, t.retry, t.failure, slog.LevelInfo))
}

// logs says whether lines of the level are logged; a zero SlogTracer logs none.
func (t *SlogTracer) logs(ctx context.Context, level slog.Level) bool {
	return t.logger != nil && t.logger.Enabled(ctx, level)
}

// level is that of a write with this outcome.
func (t *SlogTracer) level(outcome string) slog.Level {
	switch {
	case outcome == writer.Applied.String():
		return t.success
	case outcome == writer.NotApplied.String():
		return t.retry
	case expected(outcome), outcome == outcomeRefused:
		return slog.LevelInfo
	}
	return t.failure
}

// write is the write that ctx belongs to; nil if it is not followed.
func (t *SlogTracer) write(ctx context.Context) *loggedWrite {
	w, _ := ctx.Value(loggedWriteContext{t}).(*loggedWrite)
	return w
}

// request is the request that ctx belongs to; nil if it is not followed.
func (t *SlogTracer) request(ctx context.Context) *loggedRequest {
	p, _ := ctx.Value(loggedRequestContext{t}).(*loggedRequest)
	return p
}

// attributes are those that all messages of a request begin with.
func (p *loggedRequest) attributes() []slog.Attr {
	return append(make([]slog.Attr, 0, 13),
		slog.String("op", p.data.Op), slog.String("mode", p.data.Mode.String()),
		slog.String("keyspace", p.data.Keyspace), slog.Any("tables", p.data.Tables))
}

func appendReason(to []slog.Attr, err error, reason string) []slog.Attr {
	if reason == "" {
		reason = other
	}
	to = append(to, slog.String("reason", reason))
	if status := statusCode(err); status != "" {
		to = append(to, slog.String("status_code", status))
	}
	return to
}

func appendHost(to []slog.Attr, host session.Host) []slog.Attr {
	if ip := host.IP(); ip != "" {
		to = append(to, slog.String("address", ip), slog.Int("port", host.Port()))
	}
	if dc := host.Datacentre(); dc != "" {
		to = append(to, slog.String("dc", dc))
	}
	return to
}

func duration(start time.Time) slog.Attr {
	return slog.Float64("duration_ms", milliseconds(time.Since(start)))
}
