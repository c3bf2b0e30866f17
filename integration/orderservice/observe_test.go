package orderservice

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// traced runs requests against a shop and returns their spans, and all that was logged.
func traced(t *testing.T, s *shop, requests ...*http.Request) ([]sdktrace.ReadOnlySpan, string) {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	var log bytes.Buffer
	s.Tracers = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	for _, r := range requests {
		s.send(t, r)
	}
	return recorder.Ended(), log.String()
}

func createRequest(t *testing.T) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/orders?secret=1", strings.NewReader(orderBody))
	r.Header.Set("Content-Type", "application/json")
	return r
}

func TestSpan(t *testing.T) {
	t.Parallel()
	s := newShop()
	r := createRequest(t)
	r.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	spans, _ := traced(t, s, r)
	if len(spans) != 1 {
		t.Fatalf("%d spans", len(spans))
	}
	span := spans[0]
	if span.Name() != "POST /orders" || span.SpanKind() != trace.SpanKindServer || span.Status().Code != codes.Unset {
		t.Errorf("span %q of kind %v, status %v", span.Name(), span.SpanKind(), span.Status())
	}
	if p := span.Parent(); p.TraceID().String() != "0af7651916cd43dd8448eb211c80319c" || p.SpanID().String() != "b7ad6b7169203331" || !p.IsRemote() {
		t.Errorf("its parent is %v", p)
	}
	want := attribute.NewSet(attribute.String("http.request.method", "POST"), attribute.String("http.route", "/orders"),
		attribute.String("url.scheme", "http"), attribute.Int("http.response.status_code", 201))
	if got := attribute.NewSet(span.Attributes()...); !got.Equals(&want) {
		t.Errorf("attributes %v, want %v", span.Attributes(), want.ToSlice())
	}
}

func TestSpanOfFailure(t *testing.T) {
	t.Parallel()
	for status, test := range map[int]struct {
		fault
		code codes.Code
	}{202: {lostReply, codes.Unset}, 503: {nothing, codes.Error}} {
		spans, _ := traced(t, newShop(test.fault), createRequest(t))
		if got := spans[0].Status().Code; got != test.code {
			t.Errorf("%d: status %v, want %v", status, got, test.code)
		}
	}
}

// Names and attributes have no more values than there are routes, and show nothing that a client sent.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	s := newShop()
	requests := []*http.Request{createRequest(t)}
	for _, url := range []string{"/users/" + alice + "/orders", "/orders/4711", "/nowhere/4711?secret=1", "/healthz", "/readyz"} {
		requests = append(requests, httptest.NewRequestWithContext(t.Context(), "GET", url, nil))
	}
	requests = append(requests, httptest.NewRequestWithContext(t.Context(), "SECRET", "/orders", nil))
	spans, log := traced(t, s, requests...)
	names := make([]string, len(spans))
	for i, span := range spans {
		names[i] = span.Name()
		for _, a := range span.Attributes() {
			log += " " + a.Value.String()
		}
	}
	if got, want := strings.Join(names, ", "), "POST /orders, GET /users/{user}/orders, GET /orders/{id}, _OTHER, _OTHER"; got != want {
		t.Errorf("spans %s, want %s", got, want)
	}
	for _, secret := range []string{alice, "4711", "secret", "SECRET", "19.95", "nowhere"} {
		if strings.Contains(log, secret) {
			t.Errorf("%q is shown in\n%s", secret, log)
		}
	}
	if lines := strings.Count(log, "msg=request"); lines != len(spans) {
		t.Errorf("%d lines in the log for %d requests:\n%s", lines, len(spans), log)
	}
}
