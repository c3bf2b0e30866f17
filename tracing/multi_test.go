package tracing_test

import (
	"bytes"
	"context"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	"go.opentelemetry.io/otel/trace"
)

// notes is a tracer of writes alone.
type notes struct {
	name  string
	lines *[]string
}

type noteContext struct{}

func (n notes) note(ctx context.Context, what string) context.Context {
	within, _ := ctx.Value(noteContext{}).(string)
	*n.lines = append(*n.lines, within+n.name+" "+what)
	return context.WithValue(ctx, noteContext{}, within+n.name+"/")
}

func (n notes) TraceStart(ctx context.Context, d session.OperationStart) context.Context {
	return n.note(ctx, "starts "+d.Op)
}

func (n notes) TraceEnd(ctx context.Context, d session.OperationEnd) { n.note(ctx, "ends "+d.Op) }

type requestNotes struct{ notes }

func (n requestNotes) TraceRequestStart(ctx context.Context, d session.RequestStart) context.Context {
	return n.note(ctx, "starts "+d.Tables[0])
}

func (n requestNotes) TraceRequestEnd(ctx context.Context, d session.RequestEnd) {
	n.note(ctx, "ends "+d.Outcome.String())
}

type retryNotes struct{ notes }

func (n retryNotes) TraceRetry(ctx context.Context, d session.Retry) {
	n.note(ctx, "retries "+d.Verdict.Reason)
}

// Contexts go through all tracers in order; ends come in the reverse order.
func TestMultiOrder(t *testing.T) {
	t.Parallel()
	var lines []string
	w := resumed(t)
	w.to(t.Context(), tracing.Multi(
		notes{"a", &lines}, nil, requestNotes{notes{"b", &lines}}, retryNotes{notes{"c", &lines}},
		requestNotes{notes{"d", &lines}}))
	want := []string{
		"a starts createOrder",
		"a/b starts createOrder",
		"a/b/c starts createOrder",
		"a/b/c/d starts createOrder",
		"a/b/c/d/b starts orders_by_user",
		"a/b/c/d/b/d starts orders_by_user",
		"a/b/c/d/b/d/c retries write_timeout.simple",
		"a/b/c/d/b/d/d ends applied",
		"a/b/c/d/b/d/b ends applied",
		"a/b/c/d/d ends createOrder",
		"a/b/c/d/c ends createOrder",
		"a/b/c/d/b ends createOrder",
		"a/b/c/d/a ends createOrder",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
}

// keeper is a tracer that keeps the ends it is told of.
type keeper struct {
	notes
	writes   *[]session.OperationEnd
	requests *[]session.RequestEnd
}

func (k keeper) TraceEnd(_ context.Context, d session.OperationEnd) { *k.writes = append(*k.writes, d) }

func (k keeper) TraceRequestStart(ctx context.Context, _ session.RequestStart) context.Context {
	return ctx
}

func (k keeper) TraceRequestEnd(_ context.Context, d session.RequestEnd) {
	*k.requests = append(*k.requests, d)
}

// All of a Multi are told all of it: of rejections and stragglers, too.
func TestMultiTellsAll(t *testing.T) {
	t.Parallel()
	var writes, wantWrites []session.OperationEnd
	var requests, wantRequests []session.RequestEnd
	k := keeper{notes{"k", new([]string)}, &writes, &requests}
	both := tracing.Multi(k, k)
	rejections, stragglers := 0, 0
	for _, w := range []told{spent(t), left(t)} {
		w.to(t.Context(), both)
		wantWrites = append(wantWrites, w.end, w.end)
		stragglers += w.end.Stragglers
		for _, p := range w.requests {
			wantRequests = append(wantRequests, p.end, p.end)
			if p.end.BudgetSpent {
				rejections++
			}
		}
	}
	if rejections != 2 || stragglers != 2 {
		t.Fatalf("%d rejections and %d stragglers were fed", rejections, stragglers)
	}
	if !reflect.DeepEqual(writes, wantWrites) || !reflect.DeepEqual(requests, wantRequests) {
		t.Errorf("told of\n%+v\n%+v", writes, requests)
	}
}

// untold is a tracer that nothing is told of.
type untold struct{ session.Tracer }

// A Multi is told of requests and retries if one of its tracers is, so that nothing is gathered in vain, also where one
// is a Multi itself.
func TestMultiGathers(t *testing.T) {
	t.Parallel()
	var lines []string
	write, request, retry := notes{"w", &lines}, requestNotes{notes{"p", &lines}}, retryNotes{notes{"r", &lines}}
	for name, test := range map[string]struct {
		tracers          []session.Tracer
		requests, retrys bool
	}{
		"writes":           {[]session.Tracer{write, write}, false, false},
		"paths":            {[]session.Tracer{write, request}, true, false},
		"retries":          {[]session.Tracer{retry, write}, false, true},
		"both":             {[]session.Tracer{retry, request}, true, true},
		"one, and nothing": {[]session.Tracer{nil, request, (*untold)(nil)}, true, false},
		"within another":   {[]session.Tracer{tracing.Multi(write, retry), write}, false, true},
	} {
		m := req.NewTracers(tracing.Multi(test.tracers...))
		if requests, retrys := m.Requests(), m.Observer(t.Context(), nil) != nil; requests != test.requests ||
			retrys != test.retrys {
			t.Errorf("%s: paths %v, retries %v", name, requests, retrys)
		}
	}
	if m := tracing.Multi(nil, (*untold)(nil)); m != nil {
		t.Errorf("Multi of nothing is %v, and a writer would call it", m)
	}
}

// Two of a kind do not take each other's spans, and a logger behind a tracer finds the span.
func TestMultiKinds(t *testing.T) {
	t.Parallel()
	one, first := recorder(t)
	two, second := recorder(t)
	var log bytes.Buffer
	fanOut(t).to(t.Context(), tracing.Multi(
		tracing.New(tracing.WithTracerProvider(one)), tracing.New(tracing.WithTracerProvider(two)),
		tracing.Slog(slog.New(spanHandler{slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})}))))
	for _, spans := range [][]string{names(first.GetSpans()), names(second.GetSpans())} {
		want := []string{"INSERT orders_by_id", "INSERT orders_by_user", "INSERT orders_by_status", "createOrder"}
		if !slices.Equal(spans, want) {
			t.Errorf("got %v", spans)
		}
	}
	if got := strings.Count(log.String(), "span=true"); got != 5 {
		t.Errorf("%d of 5 messages are within a span:\n%s", got, &log)
	}
}

type spanHandler struct{ slog.Handler }

func (h spanHandler) Handle(ctx context.Context, r slog.Record) error {
	r.AddAttrs(slog.Bool("span", trace.SpanContextFromContext(ctx).IsValid()))
	return h.Handler.Handle(ctx, r)
}

// contextless is a tracer that makes no context.
type contextless struct{}

func (contextless) TraceStart(context.Context, session.OperationStart) context.Context { return nil }

func (contextless) TraceEnd(context.Context, session.OperationEnd) {}

func (contextless) TraceRequestStart(context.Context, session.RequestStart) context.Context {
	return nil
}

func (contextless) TraceRequestEnd(context.Context, session.RequestEnd) {}

// A tracer that makes no context leaves the one of the tracers before it to those after it.
func TestMultiWithoutContext(t *testing.T) {
	t.Parallel()
	ctx := context.WithValue(t.Context(), noteContext{}, "outer")
	var lines []string
	m, _ := tracing.Multi(contextless{}, requestNotes{notes{"w", &lines}}, contextless{}).(interface {
		session.Tracer
		session.RequestTracer
	})
	none := tracing.Multi(contextless{})
	for name, c := range map[string]struct {
		got  context.Context //nolint:containedctx // it is what is tested
		want string
	}{
		"operation": {m.TraceStart(ctx, session.OperationStart{}), "outerw/"},
		"request":   {m.TraceRequestStart(ctx, session.RequestStart{Tables: []string{"orders"}}), "outerw/"},
		"none":      {none.TraceStart(ctx, session.OperationStart{}), "outer"},
	} {
		if c.got == nil || c.got.Value(noteContext{}) != c.want {
			t.Errorf("%s: the context is %v, want %s", name, c.got, c.want)
		}
	}
}
