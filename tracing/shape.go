package tracing

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/session"
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// A shape is what all operations, or requests, that look alike have in common. It is made once and kept, so that a span
// which is not sampled costs no attributes although samplers see them.

// maxShapes limits how many are kept, see also maxTexts. Beyond, they are made again each time.
const maxShapes = 1000

// operationShape is how the span of an operation starts. It is not a call to the database, so it has no attribute that
// marks one: see the package comment.
type operationShape []trace.SpanStartOption

func (t *otelTracer) operationShape(data session.OperationStart) operationShape {
	data.Changes, data.Limit, data.Link = 0, 0, ""
	if s, ok := t.operations.get(data); ok {
		return s
	}
	attributes := appendGiven(slices.Clone(t.attributes), opKey.String(data.Op), resumeKey.Bool(data.Resume),
		continuedKey.Bool(data.Continued))
	if data.Table != "" {
		attributes = append(attributes, tablesKey.StringSlice(tablesOf(data.Table)))
	}
	s, _ := t.operations.add(data, operationShape{
		trace.WithSpanKind(trace.SpanKindInternal),
		trace.WithAttributes(attributes...),
	}, data.Op, data.Table)
	return s
}

// tablesOf are the tables of a read: one, or those of a reader.Transaction.
func tablesOf(names string) []string { return strings.Split(names, ", ") }

// keyStatements is how many statements a request may have for its shape to be kept.
const keyStatements = 8

// requestKey is what a requestShape is kept under. Tables and operations follow from the statements.
type requestKey struct {
	op, keyspace, mode string
	level              session.Consistency
	idempotent         bool
	group, count       int
	statements         [keyStatements]string
}

// requestShape is how the span of a request starts, and what names it in metrics.
type requestShape struct {
	labels

	tables []string
	start  []trace.SpanStartOption
}

func (t *otelTracer) requestShape(data session.RequestStart) *requestShape {
	if len(data.Statements) > keyStatements {
		return t.newRequestShape(data)
	}
	key := requestKey{
		op: data.Op, keyspace: data.Keyspace, mode: data.Mode, level: data.Consistency,
		idempotent: data.Idempotent, group: data.Group, count: len(data.Statements),
	}
	copy(key.statements[:], data.Statements)
	if s, ok := t.requests.get(key); ok {
		return s
	}
	s, _ := t.requests.add(key, t.newRequestShape(data), append(key.statements[:], key.op, key.keyspace)...)
	return s
}

func (t *otelTracer) newRequestShape(data session.RequestStart) *requestShape {
	l := labels{op: data.Op, namespace: data.Keyspace, operation: operationName(data.Statements)}
	if len(data.Tables) == 1 {
		l.table = data.Tables[0]
	}
	l.summary = summary(l.operation, l.table)
	s := &requestShape{labels: l, tables: data.Tables}
	if t.spans == nil {
		return s
	}
	level := semconv.CassandraConsistencyLevelKey.String(strings.ToLower(data.Consistency.String()))
	attributes := append([]attribute.KeyValue{
		semconv.DBSystemNameCassandra, level, semconv.CassandraQueryIdempotent(data.Idempotent),
	}, t.attributes...)
	attributes = appendGiven(attributes, opKey.String(l.op), modeKey.String(data.Mode), semconv.DBQuerySummary(l.summary),
		semconv.DBOperationName(l.operation), semconv.DBNamespace(l.namespace), semconv.DBCollectionName(l.table))
	if data.Partition == 0 || len(data.Tables) > 1 {
		attributes = append(attributes, tablesKey.StringSlice(data.Tables))
	}
	attributes = appendGiven(attributes, partitionsKey.Int(data.Group))
	if len(data.Statements) > 1 {
		attributes = append(attributes, semconv.DBOperationBatchSize(len(data.Statements)))
	}
	if t.statements {
		attributes = appendGiven(attributes, semconv.DBQueryText(statementText(data.Statements)))
	}
	s.start = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...)}
	return s
}

const batch = "BATCH"

// operationName is the operation of one statement, or of a batch as the conventions name it.
func operationName(statements []string) string {
	first := ""
	for i, s := range statements {
		verb, _, _ := strings.Cut(s, " ")
		if i == 0 {
			first = verb
		} else if verb != first {
			return batch
		}
	}
	if len(statements) > 1 {
		return batch + " " + first
	}
	return first
}

// summary is the operation and its table. Operations that differ, or of different tables, are just a batch.
func summary(operation, table string) string {
	switch {
	case operation == "":
		return table
	case operation == batch:
		return batch
	case table != "":
		return operation + " " + table
	case strings.HasPrefix(operation, batch+" "):
		return batch
	}
	return operation
}

// statementText has each text once, though the conventions ask for those of a batch that differ to be repeated as often
// as they are sent: a bulk write has thousands.
func statementText(statements []string) string {
	return strings.Join(each.Once(statements), "; ")
}
