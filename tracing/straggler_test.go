package tracing_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	"github.com/denorm-go/denorm/writer"
	"github.com/gocql/gocql"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// byName are metrics without times and durations, each as one text.
func byName(scopes []metricdata.ScopeMetrics) map[string]string {
	all := make(map[string]string)
	for _, scope := range scopes {
		for _, m := range scope.Metrics {
			_, series := points(m.Data)
			slices.Sort(series)
			all[m.Name] = strings.Join(series, "")
		}
	}
	return all
}

// What comes of a straggler is told when the write has ended: it has a span of its own, which ends late, and the write
// stays as it ended.
func TestStragglersEndLate(t *testing.T) {
	t.Parallel()
	provider, exporter := recorder(t)
	meters, reader := meter(t)
	w := left(t)
	late := w.inTime(t.Context(), tracing.New(tracing.WithTracerProvider(provider), tracing.WithMeterProvider(meters)))
	if got := names(exporter.GetSpans()); !slices.Equal(got, []string{"INSERT orders_by_id", "createOrder"}) {
		t.Fatalf("ended with the write: %v", got)
	}
	ended, before := exporter.GetSpans()[1], byName(collect(t, reader))
	for _, end := range late {
		end()
	}
	spans, after := exporter.GetSpans(), byName(collect(t, reader))
	want := []string{"INSERT orders_by_id", "createOrder", "INSERT orders_by_user", "INSERT orders_by_status"}
	if got := names(spans); !slices.Equal(got, want) {
		t.Fatalf("ended at all: %v", got)
	}
	for _, s := range spans[2:] {
		if s.Parent.SpanID() != ended.SpanContext.SpanID() || s.EndTime.Before(ended.EndTime) {
			t.Errorf("%s has the parent %v and ended at %v, the write %v at %v",
				s.Name, s.Parent.SpanID(), s.EndTime, ended.SpanContext.SpanID(), ended.EndTime)
		}
	}
	if got, want := tree(spans[1:2]), tree(append(spans[:0:0], ended)); got != want ||
		!spans[1].EndTime.Equal(ended.EndTime) {
		t.Errorf("the write's span was\n%s and is\n%s", want, got)
	}
	for _, name := range []string{"denorm.write.duration", "denorm.outcomes", "denorm.stragglers", "denorm.retries"} {
		if before[name] == "" || before[name] != after[name] {
			t.Errorf("%s was\n%s and is\n%s", name, before[name], after[name])
		}
	}
	const requests = "db.client.operation.duration"
	if was, is := strings.Count(before[requests], "\n"), strings.Count(after[requests], "\n"); was != 1 || is != 3 {
		t.Errorf("%s had %d series and has %d:\n%s", requests, was, is, after[requests])
	}
}

// Requests are traced on goroutines of their own, and those of stragglers go on while the write ends and after it. One
// may not even have begun by then.
func TestStragglersRunOn(t *testing.T) {
	t.Parallel()
	const writes = 50
	provider, exporter := recorder(t)
	meters, reader := meter(t)
	var log lines
	tracer := tracing.Multi(
		tracing.New(tracing.WithTracerProvider(provider), tracing.WithMeterProvider(meters)),
		tracing.Slog(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	w := left(t)
	var all sync.WaitGroup
	for range writes {
		all.Go(func() {
			ctx := tracer.TraceStart(t.Context(), w.start)
			started, ended := make(chan struct{}), make(chan struct{})
			all.Go(func() { w.requests[0].to(ctx, tracer) })
			all.Go(func() {
				end := w.requests[1].begin(ctx, tracer)
				close(started)
				end() // together with that of the write
			})
			all.Go(func() {
				<-ended
				w.requests[2].to(ctx, tracer)
			})
			<-started
			tracer.TraceEnd(ctx, w.end)
			close(ended)
		})
	}
	all.Wait()
	count := make(map[string]int)
	for _, name := range names(exporter.GetSpans()) {
		count[name]++
	}
	want := map[string]int{
		"createOrder": writes, "INSERT orders_by_id": writes, "INSERT orders_by_user": writes,
		"INSERT orders_by_status": writes,
	}
	if fmt.Sprint(count) != fmt.Sprint(want) {
		t.Errorf("spans: %v", count)
	}
	metrics := byName(collect(t, reader))
	if got := metrics["denorm.stragglers"]; !strings.HasPrefix(got, fmt.Sprintf("  %d ", 2*writes)) {
		t.Errorf("stragglers:\n%s", got)
	}
	if got := strings.Count(metrics["denorm.outcomes"], fmt.Sprintf("  %d ", writes)); got != 3 {
		t.Errorf("outcomes:\n%s", metrics["denorm.outcomes"])
	}
	if got := log.count("write failed", "stragglers=2"); got != writes {
		t.Errorf("%d of %d writes are logged with their stragglers", got, writes)
	}
	if got := log.count("keyspace=shop"); got != 4*writes { // with one retry each
		t.Errorf("%d messages of requests, want %d", got, 4*writes)
	}
}

// lines is a log that may be written to by many.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// count counts the lines that have all of the parts.
func (l *lines) count(parts ...string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.buf.String()) {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
			n++
		}
	}
	return n
}

// Why a write failed is known although its stragglers have not told.
func TestStragglersReason(t *testing.T) {
	t.Parallel()
	unavailable := session.RequestEnd{Attempts: 1, Reason: "unavailable", Err: answer(gocql.ErrCodeUnavailable)}
	overrun := session.RequestEnd{Attempts: 1, Reason: "deadline_exceeded", Err: context.DeadlineExceeded}
	limit := session.RequestEnd{Attempts: 1, Reason: "attempt_timeout", Err: context.DeadlineExceeded}
	applied := session.RequestEnd{Attempts: 1, Outcome: writer.Applied}
	for name, test := range map[string]struct {
		ended   error // of the call's context
		request *session.RequestEnd
		want    string
	}{
		"nothing else, deadline": {context.DeadlineExceeded, nil, "deadline_exceeded"},
		"nothing else, canceled": {context.Canceled, nil, "canceled"},
		"with a success":         {context.DeadlineExceeded, &applied, "deadline_exceeded"},
		"with the same":          {context.DeadlineExceeded, &overrun, "deadline_exceeded"},
		"with another failure":   {context.DeadlineExceeded, &unavailable, "several"},
		"canceled with a limit":  {context.Canceled, &limit, "several"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider, exporter := recorder(t)
			var log lines
			w := left(t)
			cause := fmt.Errorf("the driver has not returned: %w", test.ended)
			failed := &writer.Error{Op: "createOrder", Mode: writer.FanOut, Tables: []writer.TableResult{
				{Keyspace: keyspace, Table: "orders_by_id"}, {Keyspace: keyspace, Table: "orders_by_user", Err: cause},
			}}
			w.end.Err, w.end.Stragglers = failed, 1
			w.requests = w.requests[:2]
			if test.request == nil {
				w.requests = w.requests[1:]
				failed.Tables = failed.Tables[1:]
			} else {
				w.requests[0].end = *test.request
				failed.Tables[0].Outcome, failed.Tables[0].Err = test.request.Outcome, test.request.Err
			}
			w.inTime(t.Context(), tracing.Multi(
				tracing.New(tracing.WithTracerProvider(provider)), tracing.Slog(slog.New(slog.NewTextHandler(&log, nil)))))
			spans := exporter.GetSpans()
			if got, want := spans[len(spans)-1].Status.Description, "unknown: "+test.want; got != want {
				t.Errorf("the span says %q, want %q", got, want)
			}
			if log.count("write failed", "reason="+test.want+" ") != 1 {
				t.Errorf("want the reason %s in\n%s", test.want, &log.buf)
			}
		})
	}
}
