package tracing_test

import (
	"errors"
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// operations are the spans of this name, in the order of their ends.
func operations(spans tracetest.SpanStubs, name string) (found tracetest.SpanStubs) {
	for _, s := range spans {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found
}

// stored is the error as another process reads it.
func stored(t *testing.T, err error) *writer.Error {
	t.Helper()
	var failed *writer.Error
	if !errors.As(err, &failed) {
		t.Fatal("no error to store:", err)
	}
	data, err := failed.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	read := new(writer.Error)
	if err := read.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	return read
}

// Each Resume of a write is linked to its span, also in another process. Where the span of the write was not sampled
// there is no link.
func TestResumesLinkToTheirWrite(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := openTraced(t, c)
		lost := c.When(cassandratest.Table("memos_by_author")).
			Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeUnauthorized)))
		other, resumed := recorder(t)
		w := s.w.With(s.by(tracing.New(tracing.WithTracerProvider(other))))
		_, err := s.w.Write(t.Context(), "addMemo", memos.Insert(newMemo()))
		first := stored(t, err)
		_, err = w.Resume(t.Context(), first)
		second := stored(t, err)
		lost.End()
		for _, failed := range []*writer.Error{first, second} {
			if _, err := w.Resume(t.Context(), failed); err != nil {
				t.Fatal(err)
			}
		}
		write, resumes := operations(s.exporter.GetSpans(), "addMemo"), operations(resumed.GetSpans(), "addMemo")
		if len(write) != 1 || len(resumes) != 3 {
			t.Fatalf("%d writes, %d resumes", len(write), len(resumes))
		}
		want := write[0].SpanContext
		if len(write[0].Links) != 0 {
			t.Error("the write has a link")
		}
		for i, r := range resumes {
			if len(r.Links) != 1 || r.Links[0].SpanContext.TraceID() != want.TraceID() ||
				r.Links[0].SpanContext.SpanID() != want.SpanID() {
				t.Errorf("resume %d has the links %v, want %v", i+1, r.Links, want)
			}
		}

		resumed.Reset()
		rule := c.When(cassandratest.Table("memos_by_author")).
			Do(cassandratest.Fail(cassandratest.Code(gocql.ErrCodeUnauthorized)))
		never := sdktrace.NewTracerProvider(sdktrace.WithSampler(recordOnly{}))
		_, err = s.w.With(s.by(tracing.New(tracing.WithTracerProvider(never)))).Write(t.Context(), "addMemo",
			memos.Insert(newMemo()))
		rule.End()
		if _, err := w.Resume(t.Context(), stored(t, err)); err != nil {
			t.Fatal(err)
		}
		if r := operations(resumed.GetSpans(), "addMemo"); len(r) != 1 || len(r[0].Links) != 0 {
			t.Errorf("the resume of a write without a span: %v", r)
		}
	})
}

// recordOnly is a sampler that has spans recorded, and not exported.
type recordOnly struct{}

func (recordOnly) ShouldSample(sdktrace.SamplingParameters) sdktrace.SamplingResult {
	return sdktrace.SamplingResult{Decision: sdktrace.RecordOnly}
}

func (recordOnly) Description() string { return "record only" }

// Of several tracers the first that has a span gives the link, and all of them make it. What is no traceparent makes
// none.
func TestLinks(t *testing.T) {
	t.Parallel()
	one, first := recorder(t)
	two, second := recorder(t)
	m := tracing.Multi(tracing.Slog(nil), tracing.New(tracing.WithTracerProvider(one)),
		tracing.New(tracing.WithTracerProvider(two)))
	linker, ok := m.(session.LinkTracer)
	if !ok {
		t.Fatal("it gives no links")
	}
	ctx := m.TraceStart(t.Context(), session.OperationStart{Op: "createOrder", Changes: 1})
	link := linker.TraceLink(ctx)
	m.TraceEnd(ctx, session.OperationEnd{Op: "createOrder"})
	write := first.GetSpans()[0].SpanContext
	if link == "" || linker.TraceLink(t.Context()) != "" {
		t.Errorf("link %q", link)
	}
	for text, want := range map[string]trace.SpanContext{link: write, "user 'ada'": {}, "": {}} {
		first.Reset()
		second.Reset()
		m.TraceEnd(m.TraceStart(t.Context(), session.OperationStart{Op: "createOrder", Resume: true, Link: text}),
			session.OperationEnd{Op: "createOrder"})
		for _, spans := range []tracetest.SpanStubs{first.GetSpans(), second.GetSpans()} {
			switch links := spans[0].Links; {
			case !want.IsValid() && len(links) != 0, want.IsValid() && len(links) != 1:
				t.Errorf("%q makes the links %v", text, links)
			case want.IsValid() && links[0].SpanContext.SpanID() != want.SpanID():
				t.Errorf("%q makes a link to %v, want %v", text, links[0].SpanContext, want)
			}
		}
	}
}
