// Package traces tests package tracing end to end: writes to a real Cassandra, read back from a real Jaeger and from a
// Prometheus scrape.
package traces

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	"gopkg.in/inf.v0"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/harness/jaeger"
	"github.com/denorm-go/denorm/internal/testutil/faulty"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

// patience is how long a slow machine may take for what takes milliseconds on others.
const patience = 2 * time.Minute

// shop is a keyspace with the tables of orders and a writer that is traced.
type shop struct {
	keyspace string
	reads    *gocql.Session
	dialer   *faulty.Dialer // of the writes
	session  *session.Session
	w        *writer.Writer
}

func open(t *testing.T, tracer session.Tracer, options ...session.Option) *shop {
	t.Helper()
	s := &shop{keyspace: cluster.Keyspace(t, 3, orders.Schema.Statements()...), dialer: new(faulty.Dialer)}
	s.reads = cluster.Session(t, s.keyspace, func(c *gocql.ClusterConfig) {
		session.Configure(c, "")
		c.Timeout = patience
	})
	writes := cluster.Session(t, s.keyspace, func(c *gocql.ClusterConfig) {
		session.Configure(c, "")
		c.Timeout = patience
		s.dialer.Configure(c)
	})
	s.session = testsession.New(t, writes, s.reads, append(options, session.Trace(tracer))...)
	var err error
	s.w, err = writer.New(s.session, writer.Timeout(patience),
		writer.Retry(retry.Policy{AttemptTimeout: patience / 2, MaxElapsedTime: patience}))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shop) create(t *testing.T) orders.Order {
	t.Helper()
	o := newOrder()
	res, err := s.w.With(writer.At(past(time.Minute))).Write(t.Context(), "createOrder", orders.Orders.Insert(o))
	if err != nil {
		t.Fatal(err)
	}
	o.UpdatedAt = res.Timestamp
	return o
}

// past is a timestamp that a trace can only hold if it was put there: no span starts at it.
func past(ago time.Duration) int64 { return time.Now().Add(-ago).UnixMicro() }

// newOrder has values that are in no trace by chance.
func newOrder() orders.Order {
	o := orders.New(gocql.MustRandomUUID(), inf.NewDec(481516234299, 2))
	o.Status = orders.Shipped
	return o
}

func withStatus(o orders.Order, status orders.Status) orders.Order {
	o.Status = status
	return o
}

// service is an HTTP service whose requests are spans that go to Jaeger.
type service struct {
	name     string
	jaeger   *jaeger.Server
	provider *sdktrace.TracerProvider
	server   *httptest.Server
	requests chan func(context.Context)
}

func serve(t *testing.T, server *jaeger.Server) *service {
	t.Helper()
	s := &service{name: unique("orders"), jaeger: server, requests: make(chan func(context.Context), 1)}
	s.provider = provide(t, server, s.name)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", s.handle)
	s.server = httptest.NewServer(mux)
	t.Cleanup(s.server.Close)
	return s
}

// unique is a name that no other service has.
func unique(name string) string { return name + "-" + gocql.MustRandomUUID().String() }

// provide makes the tracer provider of a service.
func provide(t *testing.T, server *jaeger.Server, name string) *sdktrace.TracerProvider {
	t.Helper()
	exporter, err := otlptracegrpc.New(t.Context(), otlptracegrpc.WithEndpointURL(server.OTLP),
		otlptracegrpc.WithTimeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(semconv.ServiceName(name))))
	t.Cleanup(func() {
		if err := provider.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return provider
}

// handle runs the request's work within a span, as HTTP instrumentation does.
func (s *service) handle(answer http.ResponseWriter, r *http.Request) {
	ctx, span := s.provider.Tracer("http").Start(r.Context(), r.Pattern, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(semconv.HTTPRequestMethodPost, semconv.HTTPRoute("/orders")))
	defer span.End()
	answer.Header().Set("Trace-Id", span.SpanContext().TraceID().String())
	(<-s.requests)(ctx)
}

// request does work in an HTTP request and returns the request's trace as Jaeger has it, which has this many spans.
func (s *service) request(t *testing.T, spans int, work func(ctx context.Context)) *Trace {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, context.DeadlineExceeded)
	defer cancel()
	s.requests <- work
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.server.URL+"/orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := s.server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if err := s.provider.ForceFlush(ctx); err != nil {
		t.Fatalf("export to %s: %v", s.jaeger.OTLP, err)
	}
	got, err := await(ctx, s.jaeger, response.Header.Get("Trace-Id"), spans)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
