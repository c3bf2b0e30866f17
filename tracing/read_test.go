package tracing_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/denorm-go/denorm/internal/golden"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tracing"
	"github.com/gocql/gocql"
)

// readTo tells a tracer of a read of two partitions, one of which is repeated and then fails.
func readTo(ctx context.Context, t *tracing.Tracer) {
	failed := &reader.Error{
		Op: "newest", Table: "logs", Partition: 2, Partitions: 2, Err: &gocql.RequestErrUnavailable{Consistency: gocql.LocalQuorum},
	}
	ctx = t.TraceReadStart(ctx, reader.ReadStart{Op: "newest", Table: "logs", Limit: 10, Continued: true})
	for n := range 2 {
		p := t.TracePartitionStart(ctx, reader.PartitionStart{
			Op: "newest", Keyspace: "shop", Table: "logs", Statement: "SELECT text FROM shop.logs WHERE host=?", Partition: n + 1,
			Buckets: []reader.Bucket{{Column: "hour", Value: "2024-01-01-00"}, {Column: "bucket", Value: "7"}}, Consistency: gocql.LocalQuorum,
		})
		if n == 0 {
			t.TracePartitionEnd(p, reader.PartitionEnd{Rows: 5, Pages: 1, Attempts: 1})
			continue
		}
		t.TraceReadRetry(p, reader.RetryData{
			Attempt: 1, Class: retry.Safe, Reason: "unavailable", Wait: 1500 * time.Microsecond, Err: failed.Err,
		})
		t.TracePartitionEnd(p, reader.PartitionEnd{Attempts: 2, Reason: "unavailable", Refused: true, Err: failed})
	}
	t.TraceReadEnd(ctx, reader.ReadEnd{Op: "newest", Keyspace: "shop", Partitions: 2, Rows: 5, Err: failed})
}

// A read is a span with one of each partition below it, and counts as one read.
func TestReads(t *testing.T) {
	t.Parallel()
	provider, exporter := recorder(t)
	meters, metrics := meter(t)
	tracer := tracing.New(tracing.WithTracerProvider(provider), tracing.WithMeterProvider(meters), tracing.WithStatementText())
	readTo(t.Context(), tracer)
	golden.Check(t, "read.golden", tree(exporter.GetSpans()))
	golden.Check(t, "read_metrics.golden", table(collect(t, metrics)))
	readTo(t.Context(), tracing.New()) // nobody listens
	refused := tracer.TraceReadStart(t.Context(), reader.ReadStart{Op: "refused"})
	tracer.TraceReadEnd(refused, reader.ReadEnd{Op: "refused", Err: &reader.QueryError{Table: "logs"}})
	if got := table(collect(t, metrics)); !strings.Contains(got, "denorm.invalid") {
		t.Errorf("a refused query counts as\n%s", got)
	}
}
