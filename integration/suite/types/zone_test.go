package types_test

import (
	"testing"
	"time"

	"github.com/denorm-go/denorm/integration/suite/reading"
	"github.com/denorm-go/denorm/tables"
	"github.com/denorm-go/denorm/writer"
)

type appointment struct {
	Name string
	Day  time.Time
	At   time.Time
}

var appointments = tables.Must(tables.New[appointment]("appointment",
	tables.Table{Name: "appointments", PartKey: []string{"name"}, SortKey: []string{"day"}}, tables.Type("day", "date")))

// A date is the day of a time in UTC, whatever its time of day, and a timestamp is the moment, to the millisecond. Both come
// back in UTC.
func TestTimesWithAZone(t *testing.T) {
	t.Parallel()
	p := reading.Open(t, 3, "CREATE TABLE appointments (name text, day date, at timestamp, PRIMARY KEY (name, day))")
	for name, test := range map[string]struct{ given, day, at time.Time }{
		"early in Berlin": {
			time.Date(2024, 5, 6, 1, 30, 15, 123_999_999, time.FixedZone("", 2*60*60)),
			time.Date(2024, 5, 5, 0, 0, 0, 0, time.UTC), time.Date(2024, 5, 5, 23, 30, 15, 123_000_000, time.UTC),
		},
		"late in Lima": {
			time.Date(2024, 5, 6, 20, 0, 0, 0, time.FixedZone("", -5*60*60)),
			time.Date(2024, 5, 7, 0, 0, 0, 0, time.UTC), time.Date(2024, 5, 7, 1, 0, 0, 0, time.UTC),
		},
		"before 1970": {
			time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC),
			time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC),
		},
	} {
		given := appointment{name, test.given.UTC(), test.given}
		if _, err := p.Writer.Write(t.Context(), "make", appointments.Insert(given)); err != nil {
			t.Fatal(err)
		}
		got, err := writer.Load(t.Context(), p.Writer, "find", appointments, given)
		if want := (appointment{name, test.day, test.at}); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
		var text string
		err = p.Session.Reads().Query("SELECT CAST(day AS text) FROM appointments WHERE name = ?", name).Scan(&text)
		if want := test.day.Format(time.DateOnly); err != nil || text != want {
			t.Errorf("%s: the server has %s, %v, want %s", name, text, err, want)
		}
	}
}
