package tracing

import (
	"context"
	"time"

	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/writer"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// retryEvent is the name of the event of an attempt that failed and is followed by another.
const retryEvent = "retry"

// TraceRetry implements [writer.RetryTracer].
func (t *Tracer) TraceRetry(ctx context.Context, data writer.RetryData) {
	if t.off() {
		return
	}
	p := t.request(ctx)
	if p == nil {
		return
	}
	class, errorType := classOf(data.Class), data.Reason
	if errorType == "" {
		errorType = other
	}
	if t.metrics != nil {
		t.metrics.retry(ctx, p, class, errorType)
	}
	if p.span == nil {
		return
	}
	attributes := append(make([]attribute.KeyValue, 0, 11),
		retryAttemptKey.Int(data.Attempt), retryClassKey.String(class), retryWaitKey.Float64(milliseconds(data.Wait)))
	attributes = appendError(attributes, errorType, statusCode(data.Err))
	p.span.AddEvent(retryEvent, trace.WithAttributes(appendCoordinator(attributes, data.Host)...))
}

// classOf is the text of what is known of an attempt that is followed by another.
func classOf(o retry.Outcome) string {
	if o == retry.NotApplied {
		return "safe"
	}
	return o.String()
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
