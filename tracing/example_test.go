package tracing_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// The providers are those of the service, with its exporters and its sampler.
func ExampleNew() {
	service := func(
		cluster *gocql.ClusterConfig, tp *sdktrace.TracerProvider, mp *sdkmetric.MeterProvider,
	) (*session.Session, error) {
		return session.Open(cluster, session.Trace(tracing.New(tracing.WithTracerProvider(tp),
			tracing.WithMeterProvider(mp))))
	}
	_ = service
}

// The spans of a write. Here its calls are made by hand; usually a writer makes them.
func ExampleNew_spans() {
	exporter := tracetest.NewInMemoryExporter()
	tp := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	tracer := tracing.New(tracing.WithTracerProvider(tp))
	requests := tracer.(session.RequestTracer)

	ctx := tracer.TraceStart(context.Background(), session.OperationStart{Op: "createOrder", Changes: 1})
	for _, table := range []string{"orders_by_id", "orders_by_user"} {
		request := requests.TraceRequestStart(ctx, session.RequestStart{
			Op: "createOrder", Mode: writer.FanOut.String(), Keyspace: "shop", Tables: []string{table},
			Statements: []string{"INSERT INTO shop." + table + " (order_id) VALUES (?) USING TIMESTAMP ?"},
		})
		requests.TraceRequestEnd(request, session.RequestEnd{Outcome: writer.Applied, Attempts: 1})
	}
	tracer.TraceEnd(ctx, session.OperationEnd{Op: "createOrder", Mode: writer.FanOut.String(), Requests: 2, Attempts: 2})

	spans := exporter.GetSpans()
	root := spans[len(spans)-1]
	fmt.Println(root.Name)
	for _, s := range spans {
		if s.Parent.SpanID() == root.SpanContext.SpanID() {
			fmt.Println("  ", s.Name)
		}
	}
	// Output:
	// createOrder
	//    INSERT orders_by_id
	//    INSERT orders_by_user
}

// Retries and failures in the log of a service.
func ExampleSlog() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "duration_ms" {
				return slog.Attr{} // they differ from run to run
			}
			return a
		},
	}))
	tracer := tracing.Slog(logger)

	ctx := tracer.TraceStart(context.Background(), session.OperationStart{Op: "createOrder", Changes: 1})
	err := &writer.Error{Op: "createOrder", Mode: writer.FanOut, Tables: []writer.TableResult{
		{Keyspace: "shop", Table: "orders_by_id", Outcome: writer.Applied, Attempts: 1},
		{Keyspace: "shop", Table: "orders_by_user", Attempts: 4, Err: gocql.ErrTimeoutNoResponse},
	}}
	tracer.TraceEnd(ctx, session.OperationEnd{
		Op: "createOrder", Mode: writer.FanOut.String(), Requests: 2, Attempts: 5,
		Err: err,
	})
	// Output:
	// level=ERROR msg="write failed" op=createOrder mode=fan-out attempts=5 requests=2 outcome=unknown reason=no_response open=[orders_by_user]
}

// Spans for those who look into a slow order, and a log of what failed.
func ExampleMulti() {
	service := func(cluster *gocql.ClusterConfig, tp *sdktrace.TracerProvider, logger *slog.Logger) (*session.Session,
		error,
	) {
		return session.Open(cluster, session.Trace(tracing.Multi(
			tracing.New(tracing.WithTracerProvider(tp)),
			tracing.Slog(logger),
		)))
	}
	_ = service
}
