// Package useractivity is an example: what users did, a partition a user and day, with a map of details that need not
// be there, can be added to, and costs no tombstones unless something is deleted.
package useractivity

import (
	"context"
	"iter"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/tables"
)

// Activity is something that a user did. Two of one user in one millisecond would be one row: where that can be, give
// the key an id as well.
type Activity struct {
	UserID       gocql.UUID
	ActivityTime time.Time
	ActivityType string
	Details      map[string]string
}

// Activities are kept by user and day, the newest first.
var Activities = tables.Must(tables.New[Activity]("activity",
	tables.Table{Name: "user_activity", PartKey: []string{"user_id", "activity_date"}, SortKey: []string{"activity_time DESC"}},
	tables.Derive("activity_date", tables.Day("activity_time")),
	tables.Type("activity_date", "date"),
))

// Schema is the table.
var Schema = schema.Must(schema.Declare(schema.Sets(Activities)))

// Record writes a new activity. Where there are details they are put one by one: an INSERT of the map would replace
// whatever was there, which is nothing, and leave a range tombstone in every row for doing so.
func Record(a Activity) tables.Change {
	if len(a.Details) == 0 {
		return Activities.Insert(a) // nothing is sent for what is absent
	}
	return Activities.Patch(a, tables.Elements("details"))
}

// Add puts the details that a holds alongside those that are there.
func Add(a Activity) tables.Change { return Activities.Patch(a, tables.Elements("details")) }

// Replace puts the details that a holds in place of those that are there: one range tombstone.
func Replace(a Activity) tables.Change { return Activities.Patch(a, tables.Column("details")) }

// Forget removes details by name: a tombstone each.
func Forget(a Activity, names ...string) tables.Change {
	return Activities.Patch(a, tables.Without("details", names...))
}

// Between gives what a user did from a time on and before another one, the newest first.
func Between(ctx context.Context, r *reader.Reader, user gocql.UUID, from, to time.Time) iter.Seq2[Activity, error] {
	q := reader.From(Activities, "user_activity").Eq("user_id", user).GtOrEq("activity_time", from).Lt("activity_time", to)
	return reader.Read(ctx, r, "activitiesBetween", q).All()
}
