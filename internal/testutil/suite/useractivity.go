package suite

import (
	"maps"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/useractivity"
	"github.com/denorm-go/denorm/internal/testutil/traced"
	"github.com/denorm-go/denorm/tables"
)

type userActivityTests struct{ *Place }

type activityDetails = map[string]string

// Every way to write a map, what a reader finds, and what it leaves to be compacted: whether the elements that were
// there before are covered by a range tombstone, and how many tombstones of single elements a read meets.
func (p userActivityTests) Details(t *testing.T) {
	some, other := activityDetails{"page": "/home", "agent": "x"}, activityDetails{"page": "/cart"}
	first := useractivity.Record
	for name, test := range map[string]struct {
		before, row activityDetails
		write       func(useractivity.Activity) tables.Change
		want        activityDetails
		covered     bool
		tombstones  int
	}{
		"absent":             {nil, nil, first, nil, false, 0},
		"empty":              {nil, activityDetails{}, first, nil, false, 0},
		"recorded":           {nil, some, first, some, false, 0},
		"recorded by Insert": {nil, some, useractivity.Activities.Insert, some, true, 0},
		"added to": {
			some,
			activityDetails{"ref": "ad"},
			useractivity.Add,
			activityDetails{"page": "/home", "agent": "x", "ref": "ad"},
			false, 0,
		},
		"one overwritten": {some, other, useractivity.Add, activityDetails{"page": "/cart", "agent": "x"}, false, 0},
		"all overwritten": {some, other, useractivity.Replace, other, true, 0},
		"cleared":         {some, nil, useractivity.Replace, nil, true, 0},
		"one forgotten": {some, nil, func(a useractivity.Activity) tables.Change {
			return useractivity.Forget(a, "page")
		}, activityDetails{"agent": "x"}, false, 1},
		"one and one unknown": {some, nil, func(a useractivity.Activity) tables.Change {
			return useractivity.Forget(a, "page", "nope")
		}, activityDetails{"agent": "x"}, false, 2},
		"whole row updated": {some, other, func(a useractivity.Activity) tables.Change {
			return useractivity.Activities.Update(a, a)
		}, other, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := useractivity.Activity{UserID: gocql.MustRandomUUID(), ActivityTime: time.UnixMilli(time.Now().UnixMilli()).
				UTC(), Details: test.before}
			if test.before != nil {
				Write(t, p.Writer, "record", useractivity.Record(a))
			}
			a.Details = test.row
			written := Write(t, p.Writer, "record", test.write(a)).Timestamp
			got := p.read(t, a)
			wrong(t, !maps.Equal(got, test.want), "%v, want %v", got, test.want)
			if p.Real {
				got := p.tombstones(t, a)
				for until := time.Now().Add(10 * time.Second); got != test.tombstones &&
					time.Now().Before(until); got = p.tombstones(t, a) {
					time.Sleep(100 * time.Millisecond) // the write may not have reached this replica yet
				}
				wrong(t, got != test.tombstones, "a read meets %d tombstones of elements, want %d", got, test.tombstones)
			}
			covered := p.covered(t, a, written)
			wrong(t, covered != test.covered, "a range tombstone: %t, want %t", covered, test.covered)
		})
	}
}

// read gives the details, which must be those of the one activity of the user.
func (p userActivityTests) read(t *testing.T, a useractivity.Activity) activityDetails {
	t.Helper()
	found := all(t, useractivity.Between(t.Context(), p.Reader, a.UserID, a.ActivityTime,
		a.ActivityTime.Add(time.Millisecond)))
	if len(found) != 1 || !found[0].ActivityTime.Equal(a.ActivityTime) {
		t.Fatalf("%v, want the one of %v", found, a.ActivityTime)
	}
	return found[0].Details
}

const activityKey = ` WHERE user_id = ? AND activity_date = ? AND activity_time = ?`

func activityKeyOf(a useractivity.Activity) []any {
	return []any{a.UserID, a.ActivityTime, a.ActivityTime}
}

// covered says whether a range tombstone lies over the elements below the timestamp of a write: an element that arrives
// late, with a timestamp just below, is then not to be seen.
func (p userActivityTests) covered(t *testing.T, a useractivity.Activity, timestamp int64) bool {
	t.Helper()
	must(t, p.Session.Reads().Query(`UPDATE user_activity USING TIMESTAMP ? SET details['late'] = 'x'`+activityKey,
		append([]any{timestamp - 1}, activityKeyOf(a)...)...).Consistency(gocql.All).Exec())
	var got activityDetails
	must(t, p.Session.Reads().Query(`SELECT details FROM user_activity`+activityKey, activityKeyOf(a)...).
		Consistency(gocql.All).Scan(&got))
	return got["late"] == ""
}

// tombstones is how many a replica meets that reads the row.
func (p userActivityTests) tombstones(t *testing.T, a useractivity.Activity) int {
	t.Helper()
	session := p.Session.Reads()
	query := session.Query(`SELECT details FROM user_activity`+activityKey, activityKeyOf(a)...).Consistency(gocql.One)
	return value(traced.Tombstones(t.Context(), session, query))(t)
}

// A range of time that crosses midnight is read from two partitions, the newest first.
func (p userActivityTests) Between(t *testing.T) {
	user, midnight := gocql.MustRandomUUID(), time.Now().UTC().Truncate(24*time.Hour)
	for _, d := range []time.Duration{-2 * time.Hour, -time.Millisecond, 0, time.Hour} {
		Write(t, p.Writer, "record", useractivity.Record(useractivity.Activity{
			UserID: user, ActivityTime: midnight.Add(d),
			Details: activityDetails{"at": d.String()},
		}))
	}
	found := all(t, useractivity.Between(t.Context(), p.Reader, user, midnight.Add(-time.Hour), midnight.Add(time.Hour)))
	got := each(found, func(a useractivity.Activity) string { return a.Details["at"] })
	wantRows(t, "around midnight", got, []string{"0s", "-1ms"})
}

func (p userActivityTests) BadInput(t *testing.T) {
	now := time.Now()
	for name, a := range map[string]useractivity.Activity{
		"nobody":  {ActivityTime: now},
		"no time": {UserID: gocql.MustRandomUUID()},
		"details that are no text": {
			UserID: gocql.MustRandomUUID(), ActivityTime: now,
			Details: activityDetails{"page": "\xff"},
		},
	} {
		wantInvalid(t, p.Writer, name, useractivity.Record(a))
	}
	a := useractivity.Activity{UserID: gocql.MustRandomUUID(), ActivityTime: now}
	wantInvalid(t, p.Writer, "adding nothing", useractivity.Add(a))
}
