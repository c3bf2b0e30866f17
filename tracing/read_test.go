package tracing_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/testutil/golden"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tracing"
	"github.com/gocql/gocql"
)

// readTracer is what all tracers of reads implement here.
type readTracer interface {
	session.Tracer
	session.RequestTracer
	session.RetryTracer
}

// readTo tells a tracer of a read of two partitions, one of which is repeated and then fails.
func readTo(ctx context.Context, told session.Tracer) {
	t := told.(readTracer)
	failed := &reader.Error{
		Op: "newest", Table: "logs", Partition: 2, Partitions: 2,
		Err: &gocql.RequestErrUnavailable{Consistency: gocql.LocalQuorum},
	}
	ctx = t.TraceStart(ctx, session.OperationStart{
		Operation: session.OperationRead, Op: "newest", Table: "logs",
		Limit: 10, Continued: true,
	})
	for n := range 2 {
		p := t.TraceRequestStart(ctx, session.RequestStart{
			Op: "newest", Keyspace: "shop", Tables: []string{"logs"},
			Statements: []string{"SELECT text FROM shop.logs WHERE host=?"}, Partition: n + 1,
			Buckets:     []session.Bucket{{Column: "hour", Value: "2024-01-01-00"}, {Column: "bucket", Value: "7"}},
			Consistency: session.LocalQuorum, Idempotent: true,
		})
		if n == 0 {
			t.TraceRequestEnd(p, session.RequestEnd{Rows: 5, Pages: 1, Returned: 8, PageSize: 10, Attempts: 1})
			continue
		}
		t.TraceRetry(p, session.Retry{
			Attempt: 1, Verdict: retry.Verdict{Outcome: retry.NotApplied, Reason: "unavailable"}, Wait: 1500 * time.Microsecond,
			Err: failed.Err,
		})
		t.TraceRequestEnd(p, session.RequestEnd{Attempts: 2, Reason: "unavailable", BudgetSpent: true, Err: failed})
	}
	t.TraceEnd(ctx, session.OperationEnd{
		Operation: session.OperationRead, Op: "newest", Keyspace: "shop", Partitions: 2,
		Rows: 5, Unconfirmed: 3, Err: failed,
	})
}

// A read is a span with one of each partition below it, and counts as one read.
func TestReads(t *testing.T) {
	t.Parallel()
	provider, exporter := recorder(t)
	meters, metrics := meter(t)
	tracer := tracing.New(tracing.WithTracerProvider(provider), tracing.WithMeterProvider(meters))
	readTo(t.Context(), tracer)
	golden.Check(t, "read.golden", tree(exporter.GetSpans()))
	golden.Check(t, "read_metrics.golden", table(collect(t, metrics)))
	readTo(t.Context(), tracing.New()) // nobody listens
	rejected := tracer.TraceStart(t.Context(), session.OperationStart{Operation: session.OperationRead, Op: "rejected"})
	tracer.TraceEnd(rejected, session.OperationEnd{
		Operation: session.OperationRead, Op: "rejected",
		Err: fmt.Errorf("rejected: %w", reader.ErrInvalid),
	})
	if got := table(collect(t, metrics)); !strings.Contains(got, "denorm.invalid") {
		t.Errorf("a rejected query counts as\n%s", got)
	}
}

// A reader.Transaction names all of its tables; no metric has one of them as its table.
func TestReadTransaction(t *testing.T) {
	t.Parallel()
	provider, exporter := recorder(t)
	meters, metrics := meter(t)
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "duration_ms" {
				return slog.Attr{}
			}
			return a
		},
	}))
	all, _ := tracing.Multi(tracing.New(tracing.WithTracerProvider(provider), tracing.WithMeterProvider(meters)),
		tracing.Slog(logger)).(readTracer)
	ctx := all.TraceStart(t.Context(), session.OperationStart{
		Operation: session.OperationRead, Op: "show",
		Table: "orders_by_id, orders_by_user",
	})
	p := all.TraceRequestStart(ctx, session.RequestStart{
		Op: "show", Keyspace: "shop", Tables: []string{"orders_by_id", "orders_by_user"}, Partition: 1,
		Consistency: session.Quorum, Idempotent: true,
		Statements: []string{"BEGIN TRANSACTION\nLET row0 = (SELECT status FROM shop.orders_by_id WHERE " +
			"order_id=?);\nSELECT row0.status;\nCOMMIT TRANSACTION -- batch\n"},
	})
	err := &reader.Error{
		Op: "show", Keyspace: "shop", Table: "orders_by_id, orders_by_user",
		Err: &gocql.RequestErrReadTimeout{},
	}
	all.TraceRequestEnd(p, session.RequestEnd{Attempts: 2, Reason: "read_timeout", Err: err})
	all.TraceEnd(ctx, session.OperationEnd{
		Operation: session.OperationRead, Op: "show", Keyspace: "shop", Partitions: 2,
		Err: err,
	})
	golden.Check(t, "read_transaction.golden", tree(exporter.GetSpans())+table(collect(t, metrics))+out.String())
}

// The log has what the spans have, but no bucket, which is a value of a row; and what a level leaves out is left out.
func TestSlogReads(t *testing.T) {
	t.Parallel()
	for name, level := range map[string]slog.Level{
		"slog_read.golden":        slog.LevelDebug,
		"slog_read_errors.golden": slog.LevelError,
	} {
		synctest.Test(t, func(t *testing.T) { // for its clock
			var out bytes.Buffer
			tracer := tracing.Slog(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level})))
			readTo(t.Context(), tracer)
			ctx := tracer.TraceStart(t.Context(), session.OperationStart{
				Operation: session.OperationRead, Op: "all",
				Table: "logs",
			})
			tracer.TraceEnd(ctx, session.OperationEnd{
				Operation: session.OperationRead, Op: "all", Keyspace: "shop",
				Partitions: 3, Rows: 7,
			})
			golden.Check(t, name, out.String())
			if strings.Contains(out.String(), "2024-01-01-00") {
				t.Error("the log shows a bucket")
			}
		})
	}
	readTo(t.Context(), tracing.Slog(nil))
}

// Several tracers of reads are told in order, and of the ends in the reverse order; one that knows reads alone is left
// alone.
func TestMultiReads(t *testing.T) {
	t.Parallel()
	provider, exporter := recorder(t)
	var out bytes.Buffer
	whole := tracing.New(tracing.WithTracerProvider(provider))
	logger := tracing.Slog(slog.New(slog.NewTextHandler(&out, nil)))
	all, ok := tracing.Multi(whole, nil, struct{ session.Tracer }{tracing.New(tracing.WithTracerProvider(provider))},
		logger).(readTracer)
	if !ok {
		t.Fatal("it does not know partitions and retries")
	}
	readTo(t.Context(), all)
	if n := len(exporter.GetSpans()); n != 4 || !strings.Contains(out.String(), "partition failed") {
		t.Errorf("%d spans, log\n%s", n, out.String())
	}
}
