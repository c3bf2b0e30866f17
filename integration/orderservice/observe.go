package orderservice

import (
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

const scope = "github.com/denorm-go/denorm/integration/orderservice"

// observe makes the span of a request, a child of the client's if it sent a traceparent, and logs a line for it. The
// spans of its writes are children of this span. Both name the route and never the URL, as that holds ids and values;
// this is why it is not otelhttp, which records the path.
func (s *Service) observe(next http.Handler) http.Handler {
	tracer := s.Tracers.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := s.now()
		ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := tracer.Start(ctx, "HTTP", trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		answer := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		r = r.WithContext(ctx)

		next.ServeHTTP(answer, r)

		method, route, found := strings.Cut(r.Pattern, " ") // of the route that was found
		if !found {
			method, route = "_OTHER", ""
		}
		span.SetName(strings.TrimSpace(method + " " + route))
		span.SetAttributes(attributes(method, route, answer.status)...)
		if answer.status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		s.Log.InfoContext(ctx, "request", "method", method, "route", route, "status", answer.status,
			"duration_ms", float64(s.now().Sub(began).Microseconds())/1000, "key", answer.Header().Get(KeyHeader))
	})
}

func attributes(method, route string, status int) []attribute.KeyValue {
	list := []attribute.KeyValue{
		semconv.HTTPRequestMethodKey.String(method), semconv.URLScheme("http"), semconv.HTTPResponseStatusCode(status),
	}
	if route != "" {
		list = append(list, semconv.HTTPRoute(route))
	}
	return list
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
