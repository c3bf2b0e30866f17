package tracing

import (
	"slices"
	"strings"

	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// A shape is what all writes, or requests, that look alike have in common. It is made once and kept, so that a span which
// is not sampled costs no attributes although samplers see them.

// maxShapes limits how many are kept. Beyond, they are made again each time.
const maxShapes = 1000

// writeKey is what a writeShape is kept under.
type writeKey struct {
	op     string
	resume bool
}

// writeShape is how the span of a write starts.
type writeShape []trace.SpanStartOption

func (t *Tracer) writeShape(data writer.WriteStart) writeShape {
	key := writeKey{op: data.Op, resume: data.Resume}
	if s, ok := t.writes.get(key); ok {
		return s
	}
	attributes := append([]attribute.KeyValue{semconv.DBSystemNameCassandra}, t.attributes...)
	if data.Op != "" {
		attributes = append(attributes,
			semconv.DBOperationName(data.Op), semconv.DBQuerySummary(data.Op), opKey.String(data.Op))
	}
	if data.Resume {
		attributes = append(attributes, resumeKey.Bool(true))
	}
	s, _ := t.writes.add(key, clientSpan(attributes))
	return s
}

// keyStatements is how many statements a request may have for its shape to be kept.
const keyStatements = 8

// requestKey is what a requestShape is kept under. Tables and operations follow from the statements.
type requestKey struct {
	op, keyspace string
	mode         writer.Mode
	level        session.Consistency
	count        int
	statements   [keyStatements]string
}

// requestShape is how the span of a request starts, and what names it in metrics.
type requestShape struct {
	op, namespace, operation, summary string

	table  string // if there is only one
	tables []string
	start  []trace.SpanStartOption
}

func (t *Tracer) requestShape(data writer.RequestStart) *requestShape {
	if len(data.Statements) > keyStatements {
		return t.newRequestShape(data)
	}
	key := requestKey{
		op: data.Op, keyspace: data.Keyspace, mode: data.Mode, level: data.Consistency, count: len(data.Statements),
	}
	copy(key.statements[:], data.Statements)
	if s, ok := t.requests.get(key); ok {
		return s
	}
	s, _ := t.requests.add(key, t.newRequestShape(data))
	return s
}

func (t *Tracer) newRequestShape(data writer.RequestStart) *requestShape {
	s := &requestShape{op: data.Op, namespace: data.Keyspace, operation: operation(data.Statements), tables: data.Tables}
	if len(data.Tables) == 1 {
		s.table = data.Tables[0]
	}
	s.summary = summary(s.operation, s.table)
	if t.spans == nil {
		return s
	}
	attributes := append([]attribute.KeyValue{
		semconv.DBSystemNameCassandra, consistency(data.Consistency),
		modeKey.String(data.Mode.String()), tablesKey.StringSlice(data.Tables),
	}, t.attributes...)
	if data.Op != "" {
		attributes = append(attributes, opKey.String(data.Op))
	}
	if s.summary != "" {
		attributes = append(attributes, semconv.DBQuerySummary(s.summary))
	}
	if s.operation != "" {
		attributes = append(attributes, semconv.DBOperationName(s.operation))
	}
	if data.Keyspace != "" {
		attributes = append(attributes, semconv.DBNamespace(data.Keyspace))
	}
	if s.table != "" {
		attributes = append(attributes, semconv.DBCollectionName(s.table))
	}
	if len(data.Statements) > 1 {
		attributes = append(attributes, semconv.DBOperationBatchSize(len(data.Statements)))
	}
	if t.statements && len(data.Statements) > 0 {
		attributes = append(attributes, semconv.DBQueryText(statementText(data.Statements)))
	}
	s.start = clientSpan(attributes)
	return s
}

func clientSpan(attributes []attribute.KeyValue) []trace.SpanStartOption {
	return []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...)}
}

const batch = "BATCH"

// operation is the operation of one statement, or of a batch as the conventions name it.
func operation(statements []string) string {
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

// statementText has a text that all statements share once, as the conventions ask for.
func statementText(statements []string) string {
	if len(slices.Compact(slices.Clone(statements))) == 1 {
		return statements[0]
	}
	return strings.Join(statements, "; ")
}
