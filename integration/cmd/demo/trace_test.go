package main

import (
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// spanOf makes a span that runs from and to some milliseconds.
func spanOf(name string, id, parent byte, from, to int, tags ...attribute.KeyValue) tracetest.SpanStub {
	context := func(id byte) trace.SpanContext {
		return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{id}})
	}
	return tracetest.SpanStub{
		Name: name, SpanContext: context(id), Parent: context(parent), Attributes: tags,
		StartTime: at(from), EndTime: at(to),
	}
}

func at(milliseconds int) time.Time { return epoch.Add(time.Duration(milliseconds) * time.Millisecond) }

func applied(attempts int) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String("denorm.outcome", "applied"), attribute.Int("denorm.attempts", attempts)}
}

// slowWrite is a write with a retry, its spans in the order of their ends.
func slowWrite() tracetest.SpanStubs {
	user := spanOf("INSERT orders_by_user", 3, 2, 1, 9, applied(2)...)
	user.Events = []sdktrace.Event{{Name: "retry", Time: at(2), Attributes: []attribute.KeyValue{
		attribute.String("denorm.retry.class", "unknown"), attribute.String("error.type", "eof"),
		attribute.Float64("denorm.retry.wait_ms", 6.25),
	}}}
	write := append(applied(4), attribute.String("denorm.mode", "fan-out"), attribute.Int("denorm.requests", 3))
	return tracetest.SpanStubs{
		spanOf("INSERT orders_by_status", 4, 2, 2, 2, applied(1)...),
		spanOf("INSERT orders_by_id", 5, 2, 0, 4, applied(1)...),
		user,
		spanOf("createOrder", 2, 1, 0, 9, write...),
		spanOf("POST /orders", 1, 0, 0, 10),
	}
}

func TestSpanTree(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	tree := newSpanTree(slowWrite().Snapshots())
	(&screen{w: &b}).table(tree.rows(tree.root, 0)...)
	want := strings.TrimPrefix(`
  POST /orders                 0.00 ms  10.00 ms  
    createOrder                0.00 ms  9.00 ms   fan-out, applied, 4 attempts
      INSERT orders_by_id      0.00 ms  4.00 ms   applied
      INSERT orders_by_user    1.00 ms  8.00 ms   applied, 2 attempts
        retry                  2.00 ms            unknown (eof), waits 6.2 ms
      INSERT orders_by_status  2.00 ms  0.00 ms   applied
`, "\n")
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	if err := tree.check(); err != nil {
		t.Error(err)
	}
}

// The demo must not say of a trace that it shows what it does not show.
func TestSpanTreeCheck(t *testing.T) {
	t.Parallel()
	noRetry := slowWrite()
	noRetry[2].Events = nil
	for name, spans := range map[string]tracetest.SpanStubs{
		"no retry": noRetry, "two paths": slowWrite()[1:], "no write": slowWrite()[4:],
	} {
		if err := newSpanTree(spans.Snapshots()).check(); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}
