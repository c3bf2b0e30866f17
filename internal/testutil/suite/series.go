package suite

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/bucketedlogs"
	"github.com/denorm-go/denorm/examples/conversations"
	"github.com/denorm-go/denorm/examples/hourlylogs"
	"github.com/denorm-go/denorm/examples/sensors"
	"github.com/denorm-go/denorm/examples/usermessages"
	"github.com/denorm-go/denorm/reader"
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
