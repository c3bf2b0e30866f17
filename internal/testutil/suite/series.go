package suite

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/bucketedlogs"
	"github.com/denorm-go/denorm/examples/conversations"
	"github.com/denorm-go/denorm/examples/events"
	"github.com/denorm-go/denorm/examples/hourlylogs"
	"github.com/denorm-go/denorm/examples/sensors"
	"github.com/denorm-go/denorm/examples/useractivity"
	"github.com/denorm-go/denorm/examples/usermessages"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/internal/testutil/traced"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema/rotation"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type sensorTests struct{ *Place }

// The last 24 hours cross midnight, and what is older or newer by a millisecond is not among them.
func (p sensorTests) LastDayCrossesMidnight(t *testing.T) {
	sensor := "temp-001"
	now := time.Now().UTC().Truncate(24 * time.Hour).Add(6 * time.Hour) // six hours of today, eighteen of yesterday
	midnight := now.Add(-6 * time.Hour)
	var want []float64
	for i, at := range []time.Time{
		now.Add(-24 * time.Hour), now.Add(-24*time.Hour + time.Millisecond), midnight.Add(-time.Millisecond), midnight,
		midnight.Add(time.Hour), now, now.Add(time.Millisecond),
	} {
		r := sensors.NewReading(sensor, at, float64(i))
		Write(t, p.Writer, "read", sensors.Readings.Insert(r))
		if i > 0 && i < 6 {
			want = append(want, r.Value)
		}
	}
	found := all(t, sensors.LastDay(t.Context(), p.Reader, sensor, now))
	wantRows(t, "the last day", each(found, func(r sensors.Reading) float64 { return r.Value }), want)
	ttl := cell[int](t, p.Place, `SELECT TTL(value) FROM sensor_readings WHERE sensor_id = ? AND bucket = ? AND ts = ?`,
		sensor, midnight.Format(time.DateOnly), midnight)
	left := time.Until(midnight.Add(sensors.Retention))
	wrong(t, time.Duration(ttl)*time.Second > left+2*time.Second || ttl < int(left.Seconds())-600, "ends in %d s, want %v",
		ttl, left)
}

func (p sensorTests) BadInput(t *testing.T) {
	for name, r := range map[string]sensors.Reading{
		"no time":   {SensorID: "temp-001"},
		"no sensor": sensors.NewReading("", time.Now(), 1),
		"ends in a century": {
			SensorID: "temp-001", Ts: time.Now(), Value: 1, ExpiresAt: time.Now().AddDate(100, 0, 0),
		},
	} {
		wantInvalid(t, p.Writer, name, sensors.Readings.Insert(r))
	}
	for _, err := range sensors.LastDay(t.Context(), p.Reader, "temp-002", time.Time{}) {
		wrong(t, err == nil, "the last day of no time was read")
		return
	}
	t.Error("the last day of no time gave nothing, not even an error")
}

type bucketedLogTests struct{ *Place }

// Logs in ten buckets come in order, page by page; what is updated and deleted is found in its bucket.
func (p bucketedLogTests) Pages(t *testing.T) {
	sensor, start := "temp-001", time.Now()
	var logs []bucketedlogs.Log
	for i := range 40 {
		log := bucketedlogs.Log{
			SensorID: sensor, Ts: gocql.UUIDFromTime(start.Add(time.Duration(i) * time.Second)),
			Message: fmt.Sprint(i),
		}
		Write(t, p.Writer, "log", bucketedlogs.Logs.Insert(log))
		logs = append(logs, log)
	}
	edited := logs[7]
	edited.Message = "edited"
	Write(t, p.Writer, "edit", bucketedlogs.Logs.Update(logs[7], edited))
	Write(t, p.Writer, "delete", bucketedlogs.Logs.Delete(logs[8]))
	logs[7] = edited
	logs = append(logs[:8], logs[9:]...)

	used := p.Session.Reads().Query(`SELECT bucket FROM logs_bucketed WHERE bucket IN (0,1,2,3,4,5,6,7,8,9) AND sensor_id = ?
		PER PARTITION LIMIT 1`, sensor).Iter()
	n := used.NumRows()
	wrong(t, n < 5 || used.Close() != nil, "40 logs in %d buckets", n)
	got, _ := pages(t, func(token reader.Token) ([]bucketedlogs.Log, reader.Token, error) {
		return bucketedlogs.Page(t.Context(), p.Reader, sensor, 6, token)
	})
	wrong(t, fmt.Sprint(got) != fmt.Sprint(logs), "%d logs\n%v, want %d\n%v", len(got), got, len(logs), logs)
}

func (p bucketedLogTests) BadInput(t *testing.T) {
	sensor := "temp-003"
	for i := range 3 {
		log := bucketedlogs.Log{SensorID: sensor, Ts: gocql.TimeUUID(), Message: fmt.Sprint(i)}
		Write(t, p.Writer, "log", bucketedlogs.Logs.Insert(log))
	}
	_, token, err := bucketedlogs.Page(t.Context(), p.Reader, sensor, 2, "")
	must(t, err)
	wantError(t, "the token of another sensor",
		errorOfRead(bucketedlogs.Page(t.Context(), p.Reader, "temp-002", 2, token)), reader.ErrToken)
	wantError(t, "no token", errorOfRead(bucketedlogs.Page(t.Context(), p.Reader, sensor, 2, "../../etc/passwd")),
		reader.ErrToken)
	wantError(t, "no sensor", errorOfRead(bucketedlogs.Page(t.Context(), p.Reader, "", 2, "")), reader.ErrInvalid)
}

type hourlyLogTests struct{ *Place }

// Logs are read over several hours, some of them empty, in order, from exactly the first moment to right before the
// last.
func (p hourlyLogTests) Between(t *testing.T) {
	sensor, start := "temp-001", time.Date(2024, 3, 31, 22, 0, 0, 0, time.UTC)
	var want []string
	for i, offset := range []time.Duration{
		-time.Millisecond, 0, 59 * time.Minute, time.Hour, 3*time.Hour - 1,
		3 * time.Hour,
	} {
		at := start.Add(offset)
		log := hourlylogs.Log{SensorID: sensor, Ts: gocql.UUIDFromTime(at), Message: at.Format(time.RFC3339Nano)}
		Write(t, p.Writer, "log", hourlylogs.Logs.Insert(log))
		if i > 0 && i < 5 {
			want = append(want, log.Message)
		}
	}
	found := all(t, hourlylogs.Between(t.Context(), p.Reader, sensor, start, start.Add(3*time.Hour)))
	wantRows(t, "three hours", each(found, func(l hourlylogs.Log) string { return l.Message }), want)
}

func (p hourlyLogTests) BadInput(t *testing.T) {
	for name, log := range map[string]hourlylogs.Log{
		"no sensor":          {Ts: gocql.TimeUUID()},
		"a time without one": {SensorID: "temp-001", Ts: gocql.MustRandomUUID()},
		"no time":            {SensorID: "temp-001"},
	} {
		wantInvalid(t, p.Writer, name, hourlylogs.Logs.Insert(log))
	}
	open := reader.From(hourlylogs.Logs, "logs_by_hour").Eq("sensor_id", "temp-001").GtOrEq("ts", time.Now())
	wantError(t, "no end", errorOfRead(reader.List(t.Context(), p.Reader, "logs", open)), reader.ErrInvalid,
		"column ts: an upper bound is missing")
}

type userMessageTests struct{ *Place }

// The newest ten, then page after page by saved token, also through messages of one moment; and a stretch of time.
func (p userMessageTests) NewestAndBetween(t *testing.T) {
	user, now := gocql.MustRandomUUID(), time.Now().UTC().Truncate(time.Second)
	var want []string
	for i := range 25 {
		m := usermessages.Message{
			UserID: user, MessageTime: now.Add(-time.Duration(i/4) * time.Minute),
			MessageID: gocql.UUID{byte(i), 6: 0x40, 8: 0x80}, Content: fmt.Sprint(i),
			ExpiresAt: now.Add(usermessages.Retention),
		}
		Write(t, p.Writer, "send", usermessages.Messages.Insert(m))
		want = append(want, m.Content)
	}
	content := func(m usermessages.Message) string { return m.Content }
	messages, n := pages(t, func(token reader.Token) ([]usermessages.Message, reader.Token, error) {
		return usermessages.Newest(t.Context(), p.Reader, user, 10, token)
	})
	wrong(t, n != 3, "%d pages, want 3", n)
	wantRows(t, "the newest", each(messages, content), want)
	found := all(t, usermessages.Between(t.Context(), p.Reader, user, now.Add(-2*time.Minute), now))
	wantRows(t, "between", each(found, content), want[4:12])
}

func (p userMessageTests) BadInput(t *testing.T) {
	m := usermessages.Message{UserID: gocql.MustRandomUUID(), MessageID: gocql.MustRandomUUID()}
	wantInvalid(t, p.Writer, "no time", usermessages.Messages.Insert(m))
	wantError(t, "fewer than none", errorOfRead(usermessages.Newest(t.Context(), p.Reader, m.UserID, -1, "")),
		reader.ErrInvalid)
	wantError(t, "nobody", errorOfRead(usermessages.Newest(t.Context(), p.Reader, gocql.UUID{}, 1, "")), reader.ErrInvalid)
}

type conversationTests struct{ *Place }

func message(conversation gocql.UUID, at time.Time, content string) conversations.Message {
	id := gocql.MustRandomUUID()
	return conversations.Message{ConversationID: conversation, MessageTime: at, MessageID: id, Content: content}
}

// Messages that were written with the large buckets, and messages of that time written afterwards, are found alongside
// those in the small ones, in order, and can be edited and deleted.
func (p conversationTests) SmallerBucketsLeaveOldMessagesReadable(t *testing.T) {
	conversation, began := gocql.MustRandomUUID(), conversations.SmallerSince.AddDate(0, 0, -30)
	var all []conversations.Message
	for i := range 60 {
		m := message(conversation, began.AddDate(0, 0, i).Add(-time.Duration(i%3)*time.Millisecond), fmt.Sprint(i))
		all = append(all, m)
		set := conversations.Messages
		if m.MessageTime.Before(conversations.SmallerSince) && i%2 == 0 {
			set = conversations.Original // before the change was deployed
		}
		Write(t, p.Writer, "send", set.Insert(m))
	}
	edited := all[4]
	edited.Content = "edited"
	Write(t, p.Writer, "edit", conversations.Messages.Update(all[4], edited))
	Write(t, p.Writer, "delete", conversations.Messages.Delete(all[6]))
	var want []string
	for i, m := range all {
		if i == 4 {
			m = edited
		}
		if i != 6 && !m.MessageTime.Before(began) {
			want = append(want, m.Content)
		}
	}
	slices.Reverse(want)
	found, _ := pages(t, func(token reader.Token) ([]conversations.Message, reader.Token, error) {
		return conversations.Before(t.Context(), p.Reader, conversation, began, began.AddDate(0, 0, 61), 7, token)
	})
	wantRows(t, "messages", each(found, func(m conversations.Message) string { return m.Content }), want)
}

func (p conversationTests) BadInput(t *testing.T) {
	m := message(gocql.MustRandomUUID(), time.Now(), "")
	Write(t, p.Writer, "send", conversations.Messages.Insert(m))
	later := m
	later.MessageTime = m.MessageTime.Add(48 * time.Hour)
	wantError(t, "another time of a message, and so another bucket",
		errorOf(p.Writer.Write(t.Context(), "send", conversations.Messages.Update(m, later))), writer.ErrInvalid,
		"column message_time")
	_, _, err := conversations.Before(t.Context(), p.Reader, m.ConversationID, time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Now().AddDate(50, 0, 0), 10, "")
	wantError(t, "two centuries", err, reader.ErrInvalid, "more than 10000 partitions")
}

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

type eventTests struct{ *Place }

// Tables are created ahead and dropped when their time is over; events find theirs by their month, and are read across
// the end of it.
func (p eventTests) Months(t *testing.T) {
	months := value(events.Tables(testsession.New(t, nil, p.Dial(t, p.Keyspace, patient))))(t)
	plan := func(now time.Time, w rotation.Window) rotation.Plan {
		t.Helper()
		plan := value(months.Plan(t.Context(), now, w))(t)
		return plan
	}
	apply := func(now time.Time, todo rotation.Plan) {
		t.Helper()
		err := todo.Apply(t.Context())
		for n := 0; err != nil && n < 3; n++ { // the nodes may not agree for long while other tests change the schema
			err = plan(now, events.Kept).Apply(t.Context())
		}
		must(t, err)
	}
	year := time.Now().UTC().Year() // a plan that drops tables is rejected for a time of 10 years ago
	newYear := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	month := func(year, month int) string { return fmt.Sprintf("events_%d_%02d", year, month) }
	december := month(year-1, 12)
	todo := plan(newYear.Add(24*time.Hour), events.Kept)
	wantRows(t, "to create", todo.Create, []string{december, month(year, 1), month(year, 2)})
	wantRows(t, "to drop", todo.Drop, nil)
	if t.Failed() {
		t.FailNow() // the plan is applied
	}
	apply(newYear.Add(24*time.Hour), todo)
	again := plan(newYear.Add(24*time.Hour), events.Kept)
	wrong(t, again.String() != "nothing to do", "after Apply there is still to do: %s", again)

	sensor := gocql.MustRandomUUID()
	var all []time.Time
	for _, at := range []time.Time{
		newYear.Add(-48 * time.Hour), newYear.Add(-time.Millisecond), newYear, newYear.Add(time.Hour),
		newYear.Add(40 * 24 * time.Hour),
	} {
		Write(t, p.Writer, "event", events.Events.Insert(events.Event{SensorID: sensor, EventTime: at, Value: 20.5}))
		all = append(all, at)
	}
	moved := events.Event{SensorID: sensor, EventTime: newYear, Value: 21}
	wantError(t, "an event of January", errorOf(writer.Modify(t.Context(), p.Writer, "correct", events.Events,
		moved, func(events.Event) (events.Event, error) { return moved, nil })), nil)
	got, err := eventTimes(events.Between(t.Context(), p.Reader, sensor, newYear.Add(-time.Hour),
		newYear.Add(30*24*time.Hour)))
	want := []time.Time{all[3], all[2], all[1]}
	wrong(t, err != nil || !slices.EqualFunc(got, want, time.Time.Equal), "%v, %v, want %v", got, err, want)

	july := newYear.AddDate(0, 6, 2)
	todo = plan(july, events.Kept)
	wantRows(t, "to drop", todo.Drop, []string{december})
	if t.Failed() {
		t.FailNow()
	}
	apply(july, todo)
	got, err = eventTimes(events.Between(t.Context(), p.Reader, sensor, newYear.Add(-time.Hour), newYear.Add(2*time.Hour)))
	var failed *reader.Error
	wrong(t, !errors.As(err, &failed) || failed.Table != december || !strings.Contains(err.Error(), december),
		"a month without a table: %v", err)
	wrong(t, !slices.EqualFunc(got, []time.Time{all[3], all[2]}, time.Time.Equal), "before the error came %v", got)
}

func eventTimes(rows func(func(events.Event, error) bool)) (out []time.Time, err error) {
	for e, err := range rows {
		if err != nil {
			return out, err
		}
		out = append(out, e.EventTime)
	}
	return out, nil
}

// An event of a month without a table is not written, and it is said which table it wanted, and what creates it.
func (p eventTests) BadInput(t *testing.T) {
	e := events.Event{SensorID: gocql.MustRandomUUID(), EventTime: time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC)}
	failed := failedOf(t, errorOf(p.Writer.Write(t.Context(), "event", events.Events.Insert(e))))
	wrong(t, !failed.NotApplied(), "%v, want that nothing is written", failed)
	wantError(t, "no table", failed, failed, "table events_1999_12 does not exist", "package rotation")
	e.EventTime = time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)
	wantInvalid(t, p.Writer, "a year of five digits", events.Events.Insert(e))
}
