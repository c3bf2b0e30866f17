package main

import (
	"context"
	"fmt"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
)

// showTrace shows the trace of a write that lost a reply, here and, where one runs, in Jaeger.
func showTrace(ctx context.Context, out *screen, s *shop) error {
	out.heading("The trace of a slow write", "With OpenTelemetry each write is a span, with a child for each of its requests "+
		"with all attempts, and an event for each retry. It joins the span of the HTTP request that it "+
		"belongs to. Here a reply is lost too: its connection is cut, and that may take the replies of several requests, each of which "+
		"is sent again.")
	out.code(`w.With(writer.Trace(tracing.New(tracing.WithTracerProvider(provider))))`)
	out.blank()
	w, dialer, err := s.lossy(ctx)
	if err != nil {
		return err
	}
	recorder := tracetest.NewSpanRecorder()
	options := []sdktrace.TracerProviderOption{
		sdktrace.WithSpanProcessor(recorder), sdktrace.WithResource(resource.NewSchemaless(semconv.ServiceName("denorm-demo"))),
	}
	jaeger := findJaeger()
	if jaeger != nil {
		exporter, err := jaeger.exporter(ctx)
		if err != nil {
			return err
		}
		options = append(options, sdktrace.WithBatcher(exporter))
	}
	provider := sdktrace.NewTracerProvider(options...)
	traced := w.With(writer.Trace(tracing.New(tracing.WithTracerProvider(provider))))

	request, span := provider.Tracer("demo").Start(ctx, "POST /orders", trace.WithSpanKind(trace.SpanKindServer))
	dialer.LoseReplies(1)
	_, err = createOrder(request, traced)
	span.End()
	if err != nil {
		return err
	}
	tree := newSpanTree(recorder.Ended())
	tree.show(out)
	if err := tree.check(); err != nil {
		return err
	}
	out.blank()
	jaeger.show(ctx, out, provider, span.SpanContext().TraceID().String())
	out.ok("One span for the write, one for each of its 3 requests, and each retry in its place. No bound value is in them.")
	return nil
}

// spanTree is the spans of one trace.
type spanTree struct {
	root     sdktrace.ReadOnlySpan
	children map[trace.SpanID][]sdktrace.ReadOnlySpan // in the order of their starts
}

func newSpanTree(spans []sdktrace.ReadOnlySpan) spanTree {
	t := spanTree{children: make(map[trace.SpanID][]sdktrace.ReadOnlySpan)}
	spans = slices.SortedFunc(slices.Values(spans), func(a, b sdktrace.ReadOnlySpan) int {
		return a.StartTime().Compare(b.StartTime())
	})
	for _, s := range spans {
		if parent := s.Parent(); parent.IsValid() {
			t.children[parent.SpanID()] = append(t.children[parent.SpanID()], s)
		} else {
			t.root = s
		}
	}
	return t
}

func (t spanTree) of(s sdktrace.ReadOnlySpan) []sdktrace.ReadOnlySpan {
	return t.children[s.SpanContext().SpanID()]
}

// check fails unless the trace is one write of three requests with a retry.
func (t spanTree) check() error {
	writes := t.of(t.root)
	if len(writes) != 1 {
		return fmt.Errorf("the trace has %d writes, want 1", len(writes))
	}
	requests, retries := t.of(writes[0]), 0
	for _, p := range requests {
		retries += len(p.Events())
	}
	if len(requests) != 3 || retries == 0 {
		return fmt.Errorf("the trace has %d paths and %d retries, want 3 and at least 1", len(requests), retries)
	}
	return nil
}

// show prints the tree with a time line.
func (t spanTree) show(out *screen) {
	const beside = 80 // columns of the other cells
	line := timeline{begin: t.root.StartTime(), end: t.root.EndTime(), width: max(8, min(out.width-beside, 28))}
	out.table(nil, []bool{2: true}, t.rows(t.root, line, "", ""))
}

// rows are those of a span and all below it. first begins the line of the span itself, rest the lines below it.
func (t spanTree) rows(s sdktrace.ReadOnlySpan, line timeline, first, rest string) [][]cell {
	rows := [][]cell{{
		{first + s.Name(), bold},
		{line.bar(s.StartTime(), s.EndTime()), cyan},
		{milliseconds(s.EndTime().Sub(s.StartTime())), plain},
		{describe(s), plain},
	}}
	children := t.of(s)
	stem := rest + "    "
	if len(children) > 0 {
		stem = rest + "│   "
	}
	for _, e := range s.Events() {
		tags := attributes(e.Attributes)
		rows = append(rows, []cell{
			{stem + e.Name, yellow},
			{line.mark(e.Time), yellow},
			{"", plain},
			{fmt.Sprintf("%s (%s), waits %.1f ms", tags["denorm.retry.class"].AsString(), tags["error.type"].AsString(),
				tags["denorm.retry.wait_ms"].AsFloat64()), yellow},
		})
	}
	for i, child := range children {
		if i == len(children)-1 {
			rows = append(rows, t.rows(child, line, rest+"└── ", rest+"    ")...)
		} else {
			rows = append(rows, t.rows(child, line, rest+"├── ", rest+"│   ")...)
		}
	}
	return rows
}

// describe is what a span of the library says: mode of a write, outcome, and how often it was sent.
func describe(s sdktrace.ReadOnlySpan) string {
	tags := attributes(s.Attributes())
	outcome, ok := tags["denorm.outcome"]
	if !ok {
		return ""
	}
	text := outcome.AsString()
	if _, isWrite := tags["denorm.requests"]; isWrite {
		text = tags["denorm.mode"].AsString() + ", " + text
	}
	if n := tags["denorm.attempts"].AsInt64(); n > 1 {
		text += fmt.Sprintf(", %d requests", n)
	}
	return text
}

func attributes(pairs []attribute.KeyValue) map[attribute.Key]attribute.Value {
	m := make(map[attribute.Key]attribute.Value, len(pairs))
	for _, p := range pairs {
		m[p.Key] = p.Value
	}
	return m
}
