package suite

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/events"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/reader"
	"github.com/denorm-go/denorm/schema/rotation"
	"github.com/denorm-go/denorm/writer"
)

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
