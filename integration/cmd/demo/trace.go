package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/denorm-go/denorm/integration/harness/jaeger"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
)

// showTrace shows the trace of a write that lost a reply, here and in Jaeger if one runs.
func showTrace(ctx context.Context, out *screen, s *shop) error {
	out.heading("The same fault with retries, as a trace", "By default denorm sends the write again by itself. Each write is a span of OpenTelemetry, with a child "+
		"for each request and an event for each retry. Other requests on the broken connection lose their answers too.")
	out.code(`session.Open(cluster, session.Trace(tracing.New(tracing.WithTracerProvider(provider))))`)
	recorder, server := tracetest.NewSpanRecorder(), jaeger.FromEnv()
	options := []sdktrace.TracerProviderOption{
		sdktrace.WithSpanProcessor(recorder), sdktrace.WithResource(resource.NewSchemaless(semconv.ServiceName("denorm-demo"))),
	}
	if server != nil {
		exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(server.OTLP),
			otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{Enabled: false}))
		if err != nil {
			return err
		}
		options = append(options, sdktrace.WithBatcher(exporter))
	}
	provider := sdktrace.NewTracerProvider(options...)
	w := s.w.With(writer.Session(s.own.With(session.Trace(tracing.New(tracing.WithTracerProvider(provider))))))

	request, span := provider.Tracer("demo").Start(ctx, "POST /orders", trace.WithSpanKind(trace.SpanKindServer))
	s.dialer.LoseReplies(1)
	_, err := createOrder(request, w)
	span.End()
	if err != nil {
		return err
	}
	tree := newSpanTree(recorder.Ended())
	out.blank()
	out.table(append([][]string{{"span", "began", "took", "outcome"}}, tree.rows(tree.root, 0)...)...)
	out.blank()
	if err := tree.check(); err != nil {
		return err
	}
	out.ok("The write has one span, each of its 3 requests has one, and each retry is in its request. Spans contain no bound value.")
	if server == nil {
		out.say("make jaeger, in another terminal, starts a Jaeger and says how to see the trace there.")
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	if err := provider.ForceFlush(ctx); err != nil { // no failure of the demo
		out.say("Nobody takes traces at %s: %s", server.OTLP, oneLine(err.Error()))
		return nil
	}
	out.say("In Jaeger: %s/trace/%v", server.URL, span.SpanContext().TraceID())
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
		return fmt.Errorf("the trace has %d requests and %d retries, want 3 and at least 1", len(requests), retries)
	}
	return nil
}

// rows are those of a span and all below it.
func (t spanTree) rows(s sdktrace.ReadOnlySpan, depth int) [][]string {
	indent := strings.Repeat("  ", depth)
	since := func(at time.Time) string { return milliseconds(at.Sub(t.root.StartTime())) }
	rows := [][]string{{indent + s.Name(), since(s.StartTime()), milliseconds(s.EndTime().Sub(s.StartTime())), describe(s)}}
	for _, e := range s.Events() {
		tags := attribute.NewSet(e.Attributes...)
		rows = append(rows, []string{indent + "  " + e.Name, since(e.Time), "", fmt.Sprintf("%s (%s), waits %.1f ms",
			value(tags, "denorm.retry.class").AsString(), value(tags, "error.type").AsString(), value(tags, "denorm.retry.wait_ms").AsFloat64())})
	}
	for _, child := range t.of(s) {
		rows = append(rows, t.rows(child, depth+1)...)
	}
	return rows
}

// describe is what a span of denorm says: the mode of a write, the outcome, and how often it was sent.
func describe(s sdktrace.ReadOnlySpan) string {
	tags := attribute.NewSet(s.Attributes()...)
	text := value(tags, "denorm.outcome").AsString()
	if tags.HasValue("denorm.requests") { // of the write
		text = value(tags, "denorm.mode").AsString() + ", " + text
	}
	if n := value(tags, "denorm.attempts").AsInt64(); n > 1 {
		text += fmt.Sprintf(", %d attempts", n)
	}
	return text
}

func value(tags attribute.Set, key attribute.Key) attribute.Value {
	v, _ := tags.Value(key)
	return v
}
