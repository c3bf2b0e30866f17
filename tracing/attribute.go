package tracing

import (
	"strings"

	"github.com/denorm-go/denorm/session"
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// SchemaURL names the version of the semantic conventions that names and units are taken from.
const SchemaURL = semconv.SchemaURL

// What the conventions have no name for.
const (
	opKey           = attribute.Key("denorm.op")
	modeKey         = attribute.Key("denorm.mode")
	outcomeKey      = attribute.Key("denorm.outcome")
	attemptsKey     = attribute.Key("denorm.attempts")
	requestsKey     = attribute.Key("denorm.paths")
	countersKey     = attribute.Key("denorm.counters")
	changesKey      = attribute.Key("denorm.changes")
	resumeKey       = attribute.Key("denorm.resume")
	roundsKey       = attribute.Key("denorm.rounds")
	tablesKey       = attribute.Key("denorm.tables")
	openTablesKey   = attribute.Key("denorm.tables.open")
	retryAttemptKey = attribute.Key("denorm.retry.attempt")
	retryClassKey   = attribute.Key("denorm.retry.class")
	retryWaitKey    = attribute.Key("denorm.retry.wait_ms")
	retryRefusedKey = attribute.Key("denorm.retry.refused")
	stragglersKey   = attribute.Key("denorm.stragglers")
)

// other stands for names beyond the limit and for errors without a type, as in the conventions.
const other = "_OTHER"

func consistency(level session.Consistency) attribute.KeyValue {
	return semconv.CassandraConsistencyLevelKey.String(strings.ToLower(level.String()))
}
