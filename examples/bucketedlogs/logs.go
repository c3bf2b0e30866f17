// Package bucketedlogs is an example: the logs of sensors too busy for one partition, spread over ten by a hash.
package bucketedlogs

import (
	"context"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// Log is one message of a sensor.
type Log struct {
	SensorID string // such as temp-001
	Ts       gocql.UUID
	Message  string
}

// Logs are kept by sensor in ten buckets. The bucket follows from Ts, which never changes, so that an update and a
// delete find the row.
var Logs = tables.Must(tables.New[Log]("log",
	tables.Table{Name: "logs_bucketed", PartKey: []string{"bucket", "sensor_id"}, SortKey: []string{"ts"}},
	tables.Derive("bucket", tables.Hash(10, "ts")),
	tables.Type("ts", "timeuuid"),
))

// Schema is the table.
var Schema = schema.Must(schema.Declare(schema.Sets(Logs)))

// Page gives so many logs of a sensor, in order, from all buckets at once, and a token for the page after them. An
// empty token stands for the first page, and for none after the last.
func Page(ctx context.Context, r *reader.Reader, sensor string, size int, token reader.Token) ([]Log, reader.Token, error) {
	q := reader.From(Logs, "logs_bucketed").Eq("sensor_id", sensor).Limit(size).After(token)
	return reader.List(ctx, r, "logPage", q)
}
