package traces

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/jaeger"
	"github.com/denorm-go/denorm/internal/explained"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
)

// testCalls makes an order without groups and with them, each by a service of its own, and looks at what Jaeger makes
// of it: one logical write, of kind INTERNAL, and as calls, of kind CLIENT, its requests alone. Jaeger's service graph
// has an edge where a span and its parent are of two services. Cassandra sends no spans, so it is not in the graph
// whatever the client does; the edge to the service counts one call.
func testCalls(t *testing.T, server *jaeger.Server, secrets *secrets) {
	t.Helper()
	shop := open(t, tracing.New())
	shop.awaitGroups(t)
	for name, test := range map[string]struct {
		bytes int
		calls []string
	}{
		"alone":   {0, []string{"INSERT orders_by_id", "INSERT orders_by_status", "INSERT orders_by_user"}},
		"grouped": {groupBytes, []string{"BATCH"}},
	} {
		t.Run(name, func(t *testing.T) {
			for range 10 { // until no server is too slow
				web, service := unique("web"), unique("orders")
				trace, attempts := shop.order(t, server, secrets, web, service, test.bytes, len(test.calls))
				if attempts != len(test.calls) {
					continue
				}
				wantCalls(t, trace, test.calls)
				wantLists(t, server, web, service, test.calls)
				secrets.search(t, []*Trace{trace})
				return
			}
			t.Fatal("no write went through at once")
		})
	}
}

const groupBytes = 4 << 10

// awaitGroups waits until the writer knows what it needs to group requests.
func (s *shop) awaitGroups(t *testing.T) {
	t.Helper()
	if err := s.w.Warm(t.Context(), orders.Orders); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		plan, err := explained.Of(s.w.With(writer.Group(groupBytes)).Internal().Explain("createOrder", orders.Orders.Insert(newOrder())))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(plan.Grouped, "3 of 3") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("grouped:", plan.Grouped)
		}
	}
}

// order makes an order in a service that another one calls, and returns its trace, which has this many requests.
func (s *shop) order(
	t *testing.T, server *jaeger.Server, secrets *secrets, web, service string, group, requests int,
) (made *Trace, attempts int) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, context.DeadlineExceeded)
	defer cancel()
	outer, inner := provide(t, server, web), provide(t, server, service)
	o := newOrder()
	secrets.add(o)

	within, call := outer.Tracer("http").Start(ctx, "POST", trace.WithSpanKind(trace.SpanKindClient))
	within, handled := inner.Tracer("http").Start(within, "POST /orders", trace.WithSpanKind(trace.SpanKindServer))
	w := s.w.With(writer.Session(s.session.With(session.Trace(tracing.New(tracing.WithTracerProvider(inner))))), writer.Group(group))
	result, err := w.Write(within, "createOrder", orders.Orders.Insert(o))
	if err != nil {
		t.Fatal(err)
	}
	handled.End()
	call.End()
	for _, provider := range []interface{ ForceFlush(context.Context) error }{outer, inner} {
		if err := provider.ForceFlush(ctx); err != nil {
			t.Fatalf("export to %s: %v", server.OTLP, err)
		}
	}
	if made, err = await(ctx, server, call.SpanContext().TraceID().String(), 3+requests); err != nil {
		t.Fatal(err)
	}
	return made, result.Attempts
}

// wantCalls wants one write in the trace, and these calls below it: whatever has the kind of a call, or an attribute of
// one.
func wantCalls(t *testing.T, trace *Trace, want []string) {
	t.Helper()
	writes := 0
	var calls []string
	for _, span := range trace.Spans {
		kind, database := span.Tags["span.kind"], false
		for key := range span.Tags {
			database = database || strings.HasPrefix(key, "db.") || strings.HasPrefix(key, "server.")
		}
		switch {
		case span.Name == "createOrder":
			writes++
			wantTags(t, span.Name, span.Tags, map[string]string{"span.kind": "internal", "denorm.op": "createOrder", "denorm.outcome": "applied"})
			if database {
				t.Errorf("the write has attributes of a call: %v", span.Tags)
			}
		case span.Name == "POST" || span.Name == "POST /orders":
		case kind == "client" || database:
			calls = append(calls, span.Name)
			wantTags(t, span.Name, span.Tags, map[string]string{"span.kind": "client", "db.system.name": "cassandra", "denorm.outcome": "applied"})
		}
		if span.Name == "BATCH" {
			wantTags(t, span.Name, span.Tags, map[string]string{
				"denorm.partitions": "3", "denorm.tables.outcomes": `["applied","applied","applied"]`, "db.operation.batch.size": "3",
			})
			for _, table := range []string{"orders_by_id", "orders_by_status", "orders_by_user"} {
				if !strings.Contains(span.Tags["denorm.tables"], `"`+table+`"`) {
					t.Errorf("the group does not name %s: %s", table, span.Tags["denorm.tables"])
				}
			}
		}
	}
	slices.Sort(calls)
	if writes != 1 || !slices.Equal(calls, want) {
		t.Errorf("%d writes with the calls %q, want one with %q", writes, calls, want)
	}
}

// wantLists wants the same of Jaeger's list of operations, and one call of the service in its service graph.
func wantLists(t *testing.T, server *jaeger.Server, web, service string, calls []string) {
	t.Helper()
	list, err := operations(t.Context(), server, service)
	if err != nil {
		t.Fatal(err)
	}
	byKind := make(map[string][]string)
	for _, o := range list {
		byKind[o.SpanKind] = append(byKind[o.SpanKind], o.Name)
	}
	for _, names := range byKind {
		slices.Sort(names)
	}
	want := map[string][]string{"server": {"POST /orders"}, "internal": {"createOrder"}, "client": calls}
	if !maps.EqualFunc(byKind, want, slices.Equal) {
		t.Errorf("operations by kind are %q, want %q", byKind, want)
	}
	edges, err := dependencies(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	edges = slices.DeleteFunc(edges, func(d dependency) bool { return d.Parent != service && d.Child != service })
	if !slices.Equal(edges, []dependency{{Parent: web, Child: service, CallCount: 1}}) {
		t.Errorf("the service graph has %+v, want one call from %s to %s", edges, web, service)
	}
}
