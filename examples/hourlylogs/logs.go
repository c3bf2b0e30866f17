// Package hourlylogs is an example: the logs of sensors, a partition an hour, read over any stretch of time in order.
package hourlylogs

import (
	"context"
	"iter"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// Log is one message of a sensor. The hour of its partition is no field: it follows from Ts.
type Log struct {
	SensorID string // such as temp-001
	Ts       gocql.UUID
	Message  string
}

// Logs are kept by sensor and hour.
var Logs = tables.Must(tables.New[Log]("log",
	tables.Table{Name: "logs_by_hour", PartKey: []string{"sensor_id", "hour"}, SortKey: []string{"ts"}},
	tables.Derive("hour", tables.Hour("ts")),
	tables.Type("ts", "timeuuid"),
))

// Schema is the table.
var Schema = schema.Must(schema.Declare(schema.Sets(Logs)))

// Flawed is how it is often done: all sensors of a day in one partition, which grows without bound and keeps one set of
// replicas busy with every write of the day.
const Flawed = `CREATE TABLE logs_bad (date date, ts timeuuid, sensor_id text, message text, PRIMARY KEY (date, ts))`

// Between gives the logs of a sensor from a time on and before another one, the oldest first. They are read as they are
// ranged over, however many they are.
func Between(ctx context.Context, r *reader.Reader, sensor string, from, to time.Time) iter.Seq2[Log, error] {
	q := reader.From(Logs, "logs_by_hour").Eq("sensor_id", sensor).GtOrEq("ts", from).Lt("ts", to)
	return reader.Read(ctx, r, "logsBetween", q).All()
}
