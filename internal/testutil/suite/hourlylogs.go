package suite

import (
	"slices"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/hourlylogs"
	"github.com/denorm-go/denorm/reader"
)

type hourlyLogTests struct{ *Place }

// Logs are read over several hours, some of them empty, in order, from exactly the first moment to right before the last.
func (p hourlyLogTests) Between(t *testing.T) {
	sensor, start := "temp-001", time.Date(2024, 3, 31, 22, 0, 0, 0, time.UTC)
	var want []string
	for i, offset := range []time.Duration{-time.Millisecond, 0, 59 * time.Minute, time.Hour, 3*time.Hour - 1, 3 * time.Hour} {
		at := start.Add(offset)
		log := hourlylogs.Log{SensorID: sensor, Ts: gocql.UUIDFromTime(at), Message: at.Format(time.RFC3339Nano)}
		Write(t, p.Writer, "log", hourlylogs.Logs.Insert(log))
		if i > 0 && i < 5 {
			want = append(want, log.Message)
		}
	}
	found := all(t, hourlylogs.Between(t.Context(), p.Reader, sensor, start, start.Add(3*time.Hour)))
	got := each(found, func(l hourlylogs.Log) string { return l.Message })
	wrong(t, !slices.Equal(got, want), "%v, want %v", got, want)
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
	wantError(t, "no end", errorOfRead(reader.List(t.Context(), p.Reader, "logs", open)), reader.ErrInvalid, "column ts: an upper bound is missing")
}
