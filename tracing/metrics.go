package tracing

import (
	"context"
	"slices"

	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/semconv/v1.43.0/dbconv"
)

// buckets of durations in seconds, as the conventions give them for db.client.operation.duration.
var buckets = metric.WithExplicitBucketBoundaries(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10)

// metrics is the instruments of writes and reads.
type metrics struct {
	requestDuration, writeDuration, readDuration, unconfirmed, retries, rejections, stragglers, outcomes instrument

	serverAddress bool
}

func (m *maker) metrics() *metrics {
	var standard dbconv.ClientOperationDuration
	return &metrics{
		requestDuration: m.histogram(standard.Name(), standard.Unit(), standard.Description()),
		writeDuration: m.histogram("denorm.write.duration", "s",
			"Duration of logical writes, over all their tables and with retries."),
		readDuration: m.histogram("denorm.read.duration", "s",
			"Duration of reads, over all their partitions, with what the caller does with the rows."),
		unconfirmed: m.counter("denorm.read.unconfirmed", "{row}",
			"Rows that a query with Confirm left out, as their base rows do not confirm them."),
		retries: m.counter("denorm.retries", "{retry}", "Attempts that failed and were followed by another."),
		rejections: m.counter("denorm.retry.rejections", "{request}",
			"Requests given up because the budget for retries was spent."),
		stragglers: m.counter("denorm.stragglers", "{request}", "Requests that had not ended when the write did."),
		outcomes: m.counter("denorm.outcomes", "{table}",
			"Tables of logical writes by what is known of them when the write ends."),
		serverAddress: m.config.serverAddress,
	}
}

// operationEnd records a write that had requests to these tables, or a read.
func (m *metrics) operationEnd(
	ctx context.Context, o *operation, data session.OperationEnd, tables []table, outcome, errorType string,
) {
	switch o.Operation {
	case session.OperationWrite:
	case session.OperationModify:
		return
	case session.OperationRead:
		l := labels{op: data.Op, namespace: data.Keyspace, table: o.Table, errorType: errorType}
		if len(tablesOf(o.Table)) > 1 {
			l.table = ""
		}
		m.readDuration.since(ctx, o.start, l)
		if data.Unconfirmed > 0 {
			l.errorType = ""
			m.unconfirmed.put(ctx, float64(data.Unconfirmed), l)
		}
		return
	}
	m.writeDuration.since(ctx, o.start, labels{op: data.Op, mode: data.Mode, outcome: outcome, errorType: errorType})
	if data.Stragglers > 0 {
		m.stragglers.put(ctx, float64(data.Stragglers), labels{op: data.Op})
	}
	count := func(t table, outcome writer.Outcome) {
		m.outcomes.put(ctx, 1, labels{op: data.Op, namespace: t.keyspace, table: t.name, outcome: outcome.String()})
	}
	if data.Err == nil {
		for _, t := range tables {
			count(t, writer.Applied)
		}
	} else if failed := asError(data.Err); failed != nil && (!o.Resume || !failed.Is(writer.ErrInvalid)) {
		// others may have named those tables
		for i := range failed.Tables {
			r := &failed.Tables[i]
			t := table{r.Keyspace, r.Table}
			if o.Resume && r.Outcome == writer.Applied && !slices.Contains(tables, t) {
				continue // an earlier call has counted it
			}
			count(t, r.Outcome)
		}
	}
}

// requestEnd records a request; of a read, only that no other attempt was allowed.
func (m *metrics) requestEnd(ctx context.Context, r *request, data session.RequestEnd, errorType, status string) {
	l := r.shape.labels
	if !r.read {
		l.errorType, l.status = errorType, status
		if m.serverAddress {
			l.address, l.port = data.Host.IP(), data.Host.Port()
		}
		if data.Attempts > 0 {
			m.requestDuration.since(ctx, r.start, l)
		}
	}
	if data.BudgetSpent {
		m.rejections.put(ctx, 1, labels{op: l.op, namespace: l.namespace, table: l.table, errorType: errorType})
	}
}
