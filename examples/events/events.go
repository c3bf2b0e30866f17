// Package events is an example: events of sensors in a table a month, which is dropped as a whole when its time is
// over.
package events

import (
	"context"
	"iter"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema/rotation"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

// Event is something that a sensor has measured.
type Event struct {
	SensorID  gocql.UUID
	EventTime time.Time
	Value     float64
}

// Events are in events_2024_01 and so on, by the month of their time, and there by sensor and day.
var Events = tables.Must(tables.New[Event]("event",
	tables.Table{
		Name: "events", PartKey: []string{"sensor_id", "event_date"}, SortKey: []string{"event_time DESC"},
		Rotate: tables.Month("event_time"),
	},
	tables.Derive("event_date", tables.Day("event_time")),
	tables.Type("event_date", "date"),
))

// Kept says which months have a table: this one, the next, the one before for late events, and half a year of old ones.
var Kept = rotation.Window{Ahead: 31 * 24 * time.Hour, Back: 7 * 24 * time.Hour, Retain: 183 * 24 * time.Hour}

// Tables are the months' tables in the keyspace of the session.
func Tables(s *session.Session) (*rotation.Tables, error) {
	return rotation.New(s, "", Events, "events")
}

// Between gives the events of a sensor from a time on and before another one, the newest first. An error names the
// month whose table does not exist.
func Between(ctx context.Context, r *reader.Reader, sensor gocql.UUID, from, to time.Time) iter.Seq2[Event, error] {
	q := reader.From(Events, "events").Eq("sensor_id", sensor).GtOrEq("event_time", from).Lt("event_time", to)
	return reader.Read(ctx, r, "eventsBetween", q).All()
}
