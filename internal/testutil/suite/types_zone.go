package suite

import (
	"errors"
	"testing"
	"time"

	"github.com/denorm-go/denorm/reader"
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
func (p typeTests) TimesWithAZone(t *testing.T) {
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
		_, offset := test.given.Zone()
		_, err := p.Writer.Write(t.Context(), "make", appointments.Insert(appointment{name, test.given, test.given}))
		wrong(t, (offset != 0) != errors.Is(err, writer.ErrInvalid), "%s, not in UTC: %v", name, err)
		q := reader.From(appointments, "appointments").Eq("name", name).Eq("day", test.given)
		_, _, err = reader.List(t.Context(), p.Reader, "find", q)
		wrong(t, (offset != 0) != (err != nil), "%s, read with a day that is not in UTC: %v", name, err)
		given := appointment{name, test.given.UTC(), test.given}
		Write(t, p.Writer, "make", appointments.Insert(given))
		want := appointment{name, test.day, test.at}
		got, err := writer.Load(t.Context(), p.Writer, "find", appointments, given)
		wrong(t, err != nil || got != want, "%s: Load: %v, %v, want %v", name, got, err, want)
		q = reader.From(appointments, "appointments").Eq("name", name).Eq("day", test.given.UTC())
		list := List(t, p.Place, q)
		wrong(t, len(list) != 1 || list[0] != want, "%s: List: %v, want %v", name, list, want)
		text := test.day.Format(time.DateOnly)
		found := p.count(t, "SELECT count(*) FROM appointments WHERE name = ? AND day = '"+text+"'", name)
		wrong(t, found != 1, "%s: the server has %d rows of %s, want one", name, found, text)
	}
}
