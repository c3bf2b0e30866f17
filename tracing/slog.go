package tracing

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// slogTracer logs writes and reads. It is made by [Slog] and safe for concurrent use.
type slogTracer struct{ logger *slog.Logger }

var (
	_ session.Tracer        = (*slogTracer)(nil)
	_ session.RequestTracer = (*slogTracer)(nil)
	_ session.RetryTracer   = (*slogTracer)(nil)
)

// Slog makes a tracer for [session.Trace] that logs to logger: writes, requests, attempts that failed, Modify and
// reads, each with a line when it ends. Successes have level debug. Failures have the level of their outcome, as the
// package documentation says. docs/ref/telemetry.md lists all messages with their attributes.
//
// A failed attempt is followed by another one. After a failed request the write may still succeed, if a logged batch is
// replaced by a fan-out. The line of a straggler's request comes when the driver returns, after the line of the write.
// It may say that the request was applied.
//
// No value and no error text is logged. The handler gets the context of the write or request. So a handler that links
// logs to traces finds the span, if [Multi] has the tracer that makes spans before this one. A nil logger logs nothing.
func Slog(logger *slog.Logger) session.Tracer {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &slogTracer{logger}
}

// loggedOperation and loggedRequest are under way.
type loggedOperation struct {
	session.OperationStart

	start    time.Time
	requests requests
}

type loggedRequest struct {
	session.RequestStart

	start     time.Time
	operation *loggedOperation // nil if it is not followed
}

// TraceStart implements [session.Tracer].
func (t *slogTracer) TraceStart(ctx context.Context, data session.OperationStart) context.Context {
	if !t.logs(ctx, slog.LevelError) {
		return ctx
	}
	return &following[slogTracer, loggedOperation]{ctx, t, loggedOperation{OperationStart: data, start: time.Now()}}
}

// lines are the messages of operations.
var lines = [...]struct{ done, failed string }{
	session.OperationWrite:  {"write applied", "write failed"},
	session.OperationModify: {"modify applied", "modify failed"},
	session.OperationRead:   {"read done", "read failed"},
}

// TraceEnd implements [session.Tracer].
func (t *slogTracer) TraceEnd(ctx context.Context, data session.OperationEnd) {
	o := find[loggedOperation](ctx, t)
	if o == nil || o.Operation != data.Operation {
		return
	}
	_, reason := o.requests.end(data)
	outcome, reason := operationOutcome(o.Operation, data, reason)
	level := t.level(o.Operation, outcome, reason)
	if !t.logs(ctx, level) {
		return
	}
	attributes := append(make([]slog.Attr, 0, 12), slog.String("op", data.Op))
	switch o.Operation {
	case session.OperationWrite:
		attributes = append(attributes,
			slog.String("mode", data.Mode), slog.Int("attempts", data.Attempts), slog.Int("requests", data.Requests))
	case session.OperationModify:
		attributes = append(attributes, slog.Int("rounds", data.Rounds))
	case session.OperationRead:
		attributes = append(attributes, slog.String("keyspace", data.Keyspace), slog.String("table", o.Table),
			slog.Int("partitions", data.Partitions), slog.Int("rows", data.Rows))
	}
	attributes = append(appendGivenAttrs(attributes, slog.Int("unconfirmed", data.Unconfirmed)), sinceAttr(o.start))
	attributes = appendGivenAttrs(attributes, slog.Int("counters", data.Counters), slog.Bool("resume", o.Resume),
		slog.Bool("continued", o.Continued))
	message := lines[o.Operation].done
	if data.Err != nil {
		message = lines[o.Operation].failed
		attributes = appendGivenAttrs(attributes, slog.String("outcome", outcome))
	}
	switch {
	case reason == "":
	case o.Operation == session.OperationRead:
		attributes = appendReason(attributes, data.Err, reason)
	case o.Operation == session.OperationWrite:
		attributes = append(attributes, slog.String("reason", reason))
		if open := openTables(data.Err); len(open) > 0 {
			attributes = append(attributes, slog.Any("open", open))
		}
		attributes = appendGivenAttrs(attributes, slog.Int("stragglers", data.Stragglers))
	case outcome != outcomeRejected:
		attributes = append(attributes, slog.String("reason", reason))
	}
	t.logger.LogAttrs(ctx, level, message, attributes...)
}

// TraceRequestStart implements [session.RequestTracer].
func (t *slogTracer) TraceRequestStart(ctx context.Context, data session.RequestStart) context.Context {
	if !t.logs(ctx, slog.LevelError) {
		return ctx
	}
	o := find[loggedOperation](ctx, t)
	if o != nil {
		o.requests.start(data.Mode, "", nil)
	}
	r := loggedRequest{RequestStart: data, start: time.Now(), operation: o}
	return &following[slogTracer, loggedRequest]{ctx, t, r}
}

// TraceRequestEnd implements [session.RequestTracer]. A partition of a read has a line only if it failed.
func (t *slogTracer) TraceRequestEnd(ctx context.Context, data session.RequestEnd) {
	r := find[loggedRequest](ctx, t)
	if r == nil {
		return
	}
	if data.Err != nil && r.operation != nil {
		r.operation.requests.failed(requestErrorType(data.Err, data.Reason))
	}
	read, level := r.Partition > 0, slog.LevelDebug
	outcome := requestOutcome(data, read)
	if data.Err != nil && !expected(outcome) {
		level = slog.LevelWarn
	}
	if read && data.Err == nil || !t.logs(ctx, level) {
		return
	}
	attributes, message := append(r.attributes(), slog.Int("attempts", data.Attempts)), "request applied"
	if !read {
		attributes = append(attributes, sinceAttr(r.start))
	}
	if data.Err != nil {
		message = "request failed"
		if read {
			message = "partition failed"
		}
		attributes = appendReason(appendGivenAttrs(attributes, slog.String("outcome", outcome)), data.Err, data.Reason)
		attributes = appendGivenAttrs(attributes, slog.Bool("budget_spent", data.BudgetSpent))
	}
	t.logger.LogAttrs(ctx, level, message, appendHost(attributes, data.Host)...)
}

// TraceRetry implements [session.RetryTracer].
func (t *slogTracer) TraceRetry(ctx context.Context, data session.Retry) {
	r := find[loggedRequest](ctx, t)
	if r == nil || !t.logs(ctx, slog.LevelWarn) {
		return
	}
	class := classOf(data.Verdict.Outcome)
	attributes := append(r.attributes(), slog.Int("attempt", data.Attempt), slog.String("class", class))
	attributes = appendReason(attributes, data.Err, data.Verdict.Reason)
	attributes = append(attributes, slog.Float64("wait_ms", milliseconds(data.Wait)))
	t.logger.LogAttrs(ctx, slog.LevelWarn, "attempt failed", appendHost(attributes, data.Host)...)
}

// logs says whether lines of the level are logged. Without lines of errors there are none.
func (t *slogTracer) logs(ctx context.Context, level slog.Level) bool {
	return t.logger.Enabled(ctx, level)
}

// level is that of the line of an operation. A read has no outcome, and what went as expected no reason.
func (t *slogTracer) level(of session.Operation, outcome, reason string) slog.Level {
	switch {
	case reason == "" && (outcome == "" || outcome == writer.Applied.String()):
		return slog.LevelDebug
	case reason == "", outcome == outcomeRejected, outcome == "" && reason == typeInvalid:
		return slog.LevelInfo
	case outcome == writer.NotApplied.String(), of == session.OperationModify: // its write has a line of its own
		return slog.LevelWarn
	}
	return slog.LevelError
}

// attributes are those that all messages of a request begin with. The buckets of a read are values of a row.
func (r *loggedRequest) attributes() []slog.Attr {
	to := append(make([]slog.Attr, 0, 13), slog.String("op", r.Op))
	switch {
	case r.Partition > 0 && len(r.Tables) > 1:
		return append(to, slog.String("keyspace", r.Keyspace), slog.Any("tables", r.Tables))
	case r.Partition > 0:
		return append(to, slog.String("keyspace", r.Keyspace), slog.String("table", r.Tables[0]),
			slog.Int("partition", r.Partition))
	}
	return append(to, slog.String("mode", r.Mode), slog.String("keyspace", r.Keyspace), slog.Any("tables", r.Tables))
}

// appendGivenAttrs adds the texts that are not empty, the numbers that are not 0, and what is true.
func appendGivenAttrs(to []slog.Attr, attributes ...slog.Attr) []slog.Attr {
	for _, a := range attributes {
		if !slices.Contains([]any{"", int64(0), false}, a.Value.Any()) {
			to = append(to, a)
		}
	}
	return to
}

func appendReason(to []slog.Attr, err error, reason string) []slog.Attr {
	return appendGivenAttrs(to, slog.String("reason", cmp.Or(reason, other)), slog.String("status_code", statusCode(err)))
}

func appendHost(to []slog.Attr, host session.Host) []slog.Attr {
	if ip := host.IP(); ip != "" {
		to = append(to, slog.String("address", ip), slog.Int("port", host.Port()))
	}
	return appendGivenAttrs(to, slog.String("dc", host.Datacentre()))
}

func sinceAttr(start time.Time) slog.Attr {
	return slog.Float64("duration_ms", milliseconds(time.Since(start)))
}
