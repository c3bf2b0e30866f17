package tracing

import (
	"time"

	"github.com/denorm-go/denorm/session"
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// schemaURL identifies the version of the semantic conventions from which names and units are taken.
const schemaURL = semconv.SchemaURL

// What the conventions have no name for.
const (
	opKey           = attribute.Key("denorm.op")
	modeKey         = attribute.Key("denorm.mode")
	outcomeKey      = attribute.Key("denorm.outcome")
	attemptsKey     = attribute.Key("denorm.attempts")
	requestsKey     = attribute.Key("denorm.requests")
	groupsKey       = attribute.Key("denorm.groups")
	countersKey     = attribute.Key("denorm.counters")
	changesKey      = attribute.Key("denorm.changes")
	resumeKey       = attribute.Key("denorm.resume")
	roundsKey       = attribute.Key("denorm.rounds")
	keyspaceKey     = attribute.Key("denorm.keyspace")
	tablesKey       = attribute.Key("denorm.tables")
	tableOutcomeKey = attribute.Key("denorm.tables.outcomes")
	openTablesKey   = attribute.Key("denorm.tables.open")
	retryAttemptKey = attribute.Key("denorm.retry.attempt")
	retryClassKey   = attribute.Key("denorm.retry.class")
	retryWaitKey    = attribute.Key("denorm.retry.wait_ms")
	budgetSpentKey  = attribute.Key("denorm.retry.budget_spent")
	stragglersKey   = attribute.Key("denorm.stragglers")
	unconfirmedKey  = attribute.Key("denorm.unconfirmed")
	rowsKey         = attribute.Key("denorm.rows")
	pagesKey        = attribute.Key("denorm.pages")
	limitKey        = attribute.Key("denorm.limit")
	continuedKey    = attribute.Key("denorm.continued")
	partitionKey    = attribute.Key("denorm.partition")
	partitionsKey   = attribute.Key("denorm.partitions")
	bucketKey       = attribute.Key("denorm.bucket")
)

// other stands for names beyond the limit and for errors without a type, as in the conventions.
const other = "_OTHER"

// appendGiven adds the texts that are not empty, the numbers that are not 0, and what is true.
func appendGiven(to []attribute.KeyValue, attributes ...attribute.KeyValue) []attribute.KeyValue {
	for _, a := range attributes {
		if a.Value.AsString() != "" || a.Value.AsInt64() != 0 || a.Value.AsBool() {
			to = append(to, a)
		}
	}
	return to
}

func appendError(to []attribute.KeyValue, errorType, status string) []attribute.KeyValue {
	return appendGiven(to, semconv.ErrorTypeKey.String(errorType), semconv.DBResponseStatusCode(status))
}

// appendCoordinator adds what is known of a coordinator.
func appendCoordinator(to []attribute.KeyValue, host session.Host) []attribute.KeyValue {
	if ip := host.IP(); ip != "" {
		to = appendGiven(to, semconv.ServerAddress(ip), semconv.NetworkPeerAddress(ip), semconv.ServerPort(host.Port()),
			semconv.NetworkPeerPort(host.Port()))
	}
	return appendGiven(to, semconv.CassandraCoordinatorID(host.ID()), semconv.CassandraCoordinatorDC(host.Datacentre()))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
