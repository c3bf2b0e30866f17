//go:build !race

package tracing_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"

	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	noopmetric "go.opentelemetry.io/otel/metric/noop"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	nooptrace "go.opentelemetry.io/otel/trace/noop"
)

// tracer is all that a writer looks for, so that nothing is allocated by asking.
type tracer interface {
	session.Tracer
	session.RequestTracer
	session.RetryTracer
}

// tell tells t of a write without allocating anything.
func (w *told) tell(ctx context.Context, t tracer) {
	ctx = t.TraceStart(ctx, w.start)
	for i := range w.requests {
		p := &w.requests[i]
		within := t.TraceRequestStart(ctx, p.start)
		t.TraceRequestEnd(within, p.end)
	}
	t.TraceEnd(ctx, w.end)
}

// costs are the ways to trace and what a write of three requests that is applied at once may allocate in each, warm.
func costs(tb testing.TB) map[string]struct {
	tracer tracer
	most   float64
} {
	tb.Helper()
	meters, _ := meter(tb)
	never := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))
	always := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(nothing{}))
	return map[string]struct {
		tracer tracer
		most   float64
	}{
		"no provider":   {tracing.New().(tracer), 0},
		"noop tracers":  {tracing.New(tracing.WithTracerProvider(nooptrace.NewTracerProvider())).(tracer), 4},
		"noop meters":   {tracing.New(tracing.WithMeterProvider(noopmetric.NewMeterProvider())).(tracer), 4},
		"meters":        {tracing.New(tracing.WithMeterProvider(meters)).(tracer), 4},
		"sampled never": {tracing.New(tracing.WithTracerProvider(never)).(tracer), 12},
		"sampled":       {tracing.New(tracing.WithTracerProvider(always)).(tracer), 60},
		"sampled and meters": {
			tracing.New(tracing.WithTracerProvider(always), tracing.WithMeterProvider(meters)).(tracer),
			60,
		},
		"slog, off":    {tracing.Slog(nil).(tracer), 0},
		"slog at info": {tracing.Slog(slog.New(slog.NewTextHandler(io.Discard, nil))).(tracer), 4},
	}
}

type nothing struct{}

func (nothing) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (nothing) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (nothing) Shutdown(context.Context) error                  { return nil }
func (nothing) ForceFlush(context.Context) error                { return nil }

func TestAllocations(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process
	w := fanOut(t)
	for name, test := range costs(t) {
		got := testing.AllocsPerRun(200, func() { w.tell(context.Background(), test.tracer) })
		t.Logf("%s: %v allocations", name, got)
		if got > test.most {
			t.Errorf("%s: %v allocations, more than %v", name, got, test.most)
		}
	}
}

// The links of many Resumes do not push out what is kept of operations.
func TestLinksFillNoCache(t *testing.T) { //nolint:paralleltest // as above
	costs := func(links int) float64 {
		never := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))
		tracer := tracing.New(tracing.WithTracerProvider(never))
		for i := range links {
			link := fmt.Sprintf("00-4bf92f3577b34da6a3ce929d0e0e4736-%016x-01", i+1)
			start := session.OperationStart{Op: "createOrder", Resume: true, Link: link}
			tracer.TraceEnd(tracer.TraceStart(t.Context(), start), session.OperationEnd{Op: "createOrder"})
		}
		return testing.AllocsPerRun(200, func() {
			tracer.TraceEnd(tracer.TraceStart(t.Context(), session.OperationStart{Op: "payOrder"}),
				session.OperationEnd{Op: "payOrder"})
		})
	}
	if few, many := costs(1), costs(2000); few != many {
		t.Errorf("%v allocations after one Resume, %v after many", few, many)
	}
}

func BenchmarkWriteOfThreeRequests(b *testing.B) {
	w := fanOut(b)
	for name, test := range costs(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.tell(context.Background(), test.tracer)
			}
		})
	}
}

// Writers share a tracer, so its caches must not be a place to queue.
func BenchmarkParallelWrites(b *testing.B) {
	w := fanOut(b)
	meters, _ := meter(b)
	tracer := tracing.New(tracing.WithMeterProvider(meters)).(tracer)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			w.tell(context.Background(), tracer)
		}
	})
}
