package tracing_test

import (
	"bytes"
	"context"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
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

func (n notes) TraceWriteStart(ctx context.Context, d writer.WriteStart) context.Context {
	return n.note(ctx, "starts "+d.Op)
}

func (n notes) TraceWriteEnd(ctx context.Context, d writer.WriteEnd) { n.note(ctx, "ends "+d.Op) }

type requestNotes struct{ notes }

func (n requestNotes) TraceRequestStart(ctx context.Context, d writer.RequestStart) context.Context {
	return n.note(ctx, "starts "+d.Tables[0])
}

func (n requestNotes) TraceRequestEnd(ctx context.Context, d writer.RequestEnd) {
	n.note(ctx, "ends "+d.Outcome.String())
}

type retryNotes struct{ notes }

func (n retryNotes) TraceRetry(ctx context.Context, d writer.RetryData) {
	n.note(ctx, "retries "+d.Reason)
}

// Contexts go through all tracers in order; ends come in the reverse order.
func TestMultiOrder(t *testing.T) {
	t.Parallel()
	var lines []string
	w := resumed(t)
	w.to(t.Context(), tracing.Multi(
		notes{"a", &lines}, nil, requestNotes{notes{"b", &lines}}, retryNotes{notes{"c", &lines}}, requestNotes{notes{"d", &lines}}))
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
	writes   *[]writer.WriteEnd
	requests *[]writer.RequestEnd
}

func (k keeper) TraceWriteEnd(_ context.Context, d writer.WriteEnd) { *k.writes = append(*k.writes, d) }

func (k keeper) TraceRequestStart(ctx context.Context, _ writer.RequestStart) context.Context {
	return ctx
}

func (k keeper) TraceRequestEnd(_ context.Context, d writer.RequestEnd) {
	*k.requests = append(*k.requests, d)
}

// All of a Multi are told all of it: of refusals and stragglers, too.
func TestMultiTellsAll(t *testing.T) {
	t.Parallel()
	var writes, wantWrites []writer.WriteEnd
	var requests, wantRequests []writer.RequestEnd
	k := keeper{notes{"k", new([]string)}, &writes, &requests}
	both := tracing.Multi(k, k)
	refusals, stragglers := 0, 0
	for _, w := range []told{spent(t), left(t)} {
		w.to(t.Context(), both)
		wantWrites = append(wantWrites, w.end, w.end)
		stragglers += w.end.Stragglers
		for _, p := range w.requests {
			wantRequests = append(wantRequests, p.end, p.end)
			if p.end.Refused {
				refusals++
			}
		}
	}
	if refusals != 2 || stragglers != 2 {
		t.Fatalf("%d refusals and %d stragglers were fed", refusals, stragglers)
	}
	if !reflect.DeepEqual(writes, wantWrites) || !reflect.DeepEqual(requests, wantRequests) {
		t.Errorf("told of\n%+v\n%+v", writes, requests)
	}
}

// A Multi implements what one of its tracers does, so that the writer gathers nothing in vain.
func TestMultiImplements(t *testing.T) {
	t.Parallel()
	var lines []string
	write, request, retry := notes{"w", &lines}, requestNotes{notes{"p", &lines}}, retryNotes{notes{"r", &lines}}
	for name, test := range map[string]struct {
		tracers          []writer.Tracer
		requests, retrys bool
	}{
		"writes":           {[]writer.Tracer{write, write}, false, false},
		"paths":            {[]writer.Tracer{write, request}, true, false},
		"retries":          {[]writer.Tracer{retry, write}, false, true},
		"both":             {[]writer.Tracer{retry, request}, true, true},
		"one, and nothing": {[]writer.Tracer{nil, request}, true, false},
	} {
		m := tracing.Multi(test.tracers...)
		_, requests := m.(writer.RequestTracer)
		_, retrys := m.(writer.RetryTracer)
		if requests != test.requests || retrys != test.retrys {
			t.Errorf("%s: paths %v, retries %v", name, requests, retrys)
		}
	}
	if m := tracing.Multi(nil, nil); m != nil {
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

func (contextless) TraceWriteStart(context.Context, writer.WriteStart) context.Context { return nil }

func (contextless) TraceWriteEnd(context.Context, writer.WriteEnd) {}

func (contextless) TraceModifyStart(context.Context, writer.ModifyStart) context.Context { return nil }

func (contextless) TraceModifyEnd(context.Context, writer.ModifyEnd) {}

func (contextless) TraceRequestStart(context.Context, writer.RequestStart) context.Context {
	return nil
}

func (contextless) TraceRequestEnd(context.Context, writer.RequestEnd) {}

func (contextless) TraceReadStart(context.Context, reader.ReadStart) context.Context { return nil }

func (contextless) TraceReadEnd(context.Context, reader.ReadEnd) {}

func (contextless) TracePartitionStart(context.Context, reader.PartitionStart) context.Context {
	return nil
}

func (contextless) TracePartitionEnd(context.Context, reader.PartitionEnd) {}

// A tracer that makes no context leaves the one of the tracers before it to those after it.
func TestMultiWithoutContext(t *testing.T) {
	t.Parallel()
	ctx := context.WithValue(t.Context(), noteContext{}, "outer")
	var lines []string
	writes, _ := tracing.Multi(contextless{}, requestNotes{notes{"w", &lines}}, contextless{}).(interface {
		writer.Tracer
		writer.ModifyTracer
		writer.RequestTracer
	})
	reads, _ := tracing.MultiReads(contextless{}, contextless{}).(interface {
		reader.Tracer
		reader.PartitionTracer
	})
	for name, c := range map[string]struct {
		got  context.Context //nolint:containedctx // it is what is tested
		want string
	}{
		"write":     {writes.TraceWriteStart(ctx, writer.WriteStart{}), "outerw/"},
		"modify":    {writes.TraceModifyStart(ctx, writer.ModifyStart{}), "outer"},
		"path":      {writes.TraceRequestStart(ctx, writer.RequestStart{Tables: []string{"orders"}}), "outerw/"},
		"read":      {reads.TraceReadStart(ctx, reader.ReadStart{}), "outer"},
		"partition": {reads.TracePartitionStart(ctx, reader.PartitionStart{}), "outer"},
	} {
		if c.got == nil || c.got.Value(noteContext{}) != c.want {
			t.Errorf("%s: the context is %v, want %s", name, c.got, c.want)
		}
	}
}
