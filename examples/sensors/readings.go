// Package sensors is an example: readings of sensors that end after a month, a partition a day, and the last 24 hours
// of one, which as a rule lie in two partitions.
package sensors

import (
	"context"
	"iter"
	"time"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// Retention is how long readings are kept.
const Retention = 30 * 24 * time.Hour

// Reading is one value of a sensor.
type Reading struct {
	SensorID  string // such as temp-001
	Ts        time.Time
	Value     float64
	ExpiresAt time.Time
}

// NewReading is a reading that ends when it is to.
func NewReading(sensor string, ts time.Time, value float64) Reading {
	return Reading{sensor, ts, value, ts.Add(Retention)}
}

// Readings are kept by sensor and day.
var Readings = tables.Must(tables.New[Reading]("reading",
	tables.Table{Name: "sensor_readings", PartKey: []string{"sensor_id", "bucket"}, SortKey: []string{"ts"}},
	tables.Derive("bucket", tables.Day("ts")),
	tables.ExpiresAt("expires_at"),
))

// Schema creates the table in the keyspace of the session. Windows of a day are dropped as a whole once all in them has
// ended.
var Schema = schema.Must(schema.Declare(
	schema.Sets(Readings),
	schema.With("sensor_readings", schema.Options{Compaction: schema.TimeWindow(24 * time.Hour)}),
))

// LastDay gives the readings of the 24 hours before now, the oldest first.
func LastDay(ctx context.Context, r *reader.Reader, sensor string, now time.Time) iter.Seq2[Reading, error] {
	q := reader.From(Readings, "sensor_readings").Eq("sensor_id", sensor).Gt("ts", now.Add(-24*time.Hour)).LtOrEq("ts", now)
	return reader.Read(ctx, r, "lastDay", q).All()
}
