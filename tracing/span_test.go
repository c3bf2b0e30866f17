package tracing_test

import (
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// The golden files hold names, kinds, parents, statuses, attributes and events of all spans.
func TestSpans(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		write   func(testing.TB) told
		options []tracing.Option
	}{
		"fan_out":       {write: fanOut},
		"failing":       {write: failing},
		"grouped":       {write: grouped},
		"group_split":   {write: groupSplit},
		"resumed":       {write: resumed},
		"logged_batch":  {write: moved},
		"fallen_back":   {write: fallenBack},
		"spent":         {write: spent},
		"left":          {write: left},
		"rejected":      {write: rejected},
		"counted":       {write: counted},
		"several_kinds": {write: severalKinds},
		"without_statement_text": {
			write: severalKinds,
			options: []tracing.Option{
				tracing.WithoutStatementText(), tracing.WithAttributes(attribute.String("cluster", "eu")), nil,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider, exporter := recorder(t)
			tracer := tracing.New(append(test.options, tracing.WithTracerProvider(provider))...)
			ctx, server := provider.Tracer("test").Start(t.Context(), "POST /orders")
			test.write(t).to(ctx, tracer)
			server.End()
			spans := exporter.GetSpans()
			golden.Check(t, name+".golden", tree(spans))
			for _, s := range spans {
				if scope := s.InstrumentationScope; s.Name != "POST /orders" &&
					(scope.Name != tracing.Scope || scope.SchemaURL != semconv.SchemaURL) {
					t.Errorf("%s has the scope %v", s.Name, scope)
				}
			}
		})
	}
}

// severalKinds has what the conventions name in ways of their own: batches of like statements, and what is missing.
func severalKinds(tb testing.TB) told {
	tb.Helper()
	start := func(tables []string, statements ...string) toldRequest {
		return toldRequest{
			start: session.RequestStart{
				Mode: writer.SamePartition.String(), Keyspace: keyspace, Tables: tables, Statements: statements,
				Consistency: session.One,
			},
			end: session.RequestEnd{Outcome: writer.Applied, Host: session.HostOf(new(gocql.HostInfo))},
		}
	}
	one, two := []string{"orders_by_id"}, []string{"orders_by_id", "orders_by_user"}
	w := told{requests: []toldRequest{
		start(one, remove("orders_by_id")),
		start(one, insert("orders_by_id"), insert("orders_by_id")),
		start(one, insert("orders_by_id"), remove("orders_by_id")),
		start(two, insert("orders_by_id"), insert("orders_by_user")),
		start(two, insert("orders_by_id"), remove("orders_by_user")),
		start(one),
		start(nil),
	}}
	w.requests[3].start.Keyspace = "audit"
	w.requests[6].start.Keyspace = ""
	w.end.Mode = writer.None.String()
	return w
}

// Requests of one write run at the same time.
func TestConcurrentRequests(t *testing.T) {
	t.Parallel()
	provider, exporter := recorder(t)
	meters, reader := meter(t)
	tracer := tracing.New(tracing.WithTracerProvider(provider), tracing.WithMeterProvider(meters))
	w := failing(t)
	var writes sync.WaitGroup
	for range 20 {
		writes.Go(func() {
			ctx := tracer.TraceStart(t.Context(), w.start)
			var requests sync.WaitGroup
			for _, p := range w.requests {
				requests.Go(func() { p.to(ctx, tracer) })
			}
			requests.Wait()
			tracer.TraceEnd(ctx, w.end)
		})
	}
	writes.Wait()
	children := make(map[trace.SpanID]int)
	for _, s := range exporter.GetSpans() {
		children[s.Parent.SpanID()]++
	}
	if len(children) != 21 || children[trace.SpanID{}] != 20 {
		t.Errorf("20 writes of three paths each have the children %v", children)
	}
	if got := table(collect(t, reader)); strings.Count(got, "\n  20 ") != 8 || strings.Count(got, "\n  ") != 8 {
		t.Errorf("20 like writes count\n%s", got)
	}
}

// A sampler decides by what is known when a span starts.
func TestSamplerSeesAttributes(t *testing.T) {
	t.Parallel()
	sampler := &sampler{}
	provider, exporter := recorder(t, sdktrace.WithSampler(sampler))
	meters, reader := meter(t)
	tracer := tracing.New(tracing.WithTracerProvider(provider), tracing.WithMeterProvider(meters))
	fanOut(t).to(t.Context(), tracer)
	want := `createOrder internal denorm.op=createOrder
INSERT orders_by_id client cassandra.consistency.level=local_quorum cassandra.query.idempotent=true db.collection.name=orders_by_id db.namespace=shop db.operation.name=INSERT db.query.summary=INSERT orders_by_id db.query.text=INSERT INTO shop.orders_by_id (order_id, status) VALUES (?, ?) USING TIMESTAMP ? db.system.name=cassandra denorm.mode=fan-out denorm.op=createOrder denorm.tables=["orders_by_id"]
INSERT orders_by_user client cassandra.consistency.level=local_quorum cassandra.query.idempotent=true db.collection.name=orders_by_user db.namespace=shop db.operation.name=INSERT db.query.summary=INSERT orders_by_user db.query.text=INSERT INTO shop.orders_by_user (order_id, status) VALUES (?, ?) USING TIMESTAMP ? db.system.name=cassandra denorm.mode=fan-out denorm.op=createOrder denorm.tables=["orders_by_user"]
INSERT orders_by_status client cassandra.consistency.level=local_quorum cassandra.query.idempotent=true db.collection.name=orders_by_status db.namespace=shop db.operation.name=INSERT db.query.summary=INSERT orders_by_status db.query.text=INSERT INTO shop.orders_by_status (order_id, status) VALUES (?, ?) USING TIMESTAMP ? db.system.name=cassandra denorm.mode=fan-out denorm.op=createOrder denorm.tables=["orders_by_status"]
`
	if got := sampler.seen.String(); got != want {
		t.Errorf("the sampler saw\n%s", got)
	}
	if spans := exporter.GetSpans(); len(spans) != 0 {
		t.Errorf("exported though not sampled: %v", spans)
	}
	if got := table(collect(t, reader)); !strings.Contains(got, "denorm.retries") {
		t.Errorf("metrics must not depend on sampling:\n%s", got)
	}
}

type sampler struct{ seen strings.Builder }

func (s *sampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	set := attribute.NewSet(p.Attributes...)
	s.seen.WriteString(p.Name + " " + p.Kind.String())
	for _, a := range set.ToSlice() {
		s.seen.WriteString(" " + string(a.Key) + "=" + a.Value.String())
	}
	s.seen.WriteString("\n")
	return sdktrace.SamplingResult{Decision: sdktrace.Drop}
}

func (s *sampler) Description() string { return "test" }

// A request whose write this tracer does not know is followed nevertheless, and what it has not seen start it leaves
// alone.
func TestRequestsAlone(t *testing.T) {
	t.Parallel()
	provider, exporter := recorder(t)
	tracer := tracing.New(tracing.WithTracerProvider(provider)).(readTracer)
	p := failing(t).requests[1]
	tracer.TraceRequestEnd(tracer.TraceRequestStart(t.Context(), p.start), p.end)
	tracer.TraceRequestEnd(t.Context(), p.end)
	tracer.TraceRetry(t.Context(), p.retries[0])
	tracer.TraceEnd(t.Context(), session.OperationEnd{})
	if spans := exporter.GetSpans(); len(spans) != 1 || spans[0].Name != "INSERT orders_by_user" {
		t.Errorf("got %v", spans)
	}
}

// A sampler may drop the writes of a Modify and keep the Modify: what a write ends with is not that of the Modify
// around it.
func TestModifyWithoutItsWrites(t *testing.T) {
	t.Parallel()
	provider, exporter := recorder(t, sdktrace.WithSampler(notWrites{}))
	var lines strings.Builder
	tracer := tracing.Multi(tracing.New(tracing.WithTracerProvider(provider)),
		tracing.Slog(slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	modify := tracer.TraceStart(t.Context(), session.OperationStart{Operation: session.OperationModify, Op: "pay"})
	write := tracer.TraceStart(modify, session.OperationStart{Operation: session.OperationWrite, Op: "pay", Changes: 1})
	tracer.TraceEnd(write, session.OperationEnd{Operation: session.OperationWrite, Op: "pay", Mode: "single"})
	tracer.TraceEnd(modify, session.OperationEnd{Operation: session.OperationModify, Op: "pay", Rounds: 3})
	spans := exporter.GetSpans()
	if len(spans) != 1 || !slices.Contains(spans[0].Attributes, attribute.Int("denorm.rounds", 3)) {
		t.Errorf("%+v", spans)
	}
	if !strings.Contains(lines.String(), "rounds=3") {
		t.Error(lines.String())
	}
}

type notWrites struct{}

func (notWrites) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	if strings.HasPrefix(p.Name, "Modify") {
		return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample}
	}
	return sdktrace.SamplingResult{Decision: sdktrace.Drop}
}

func (notWrites) Description() string { return "no writes" }
