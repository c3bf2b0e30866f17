package suite

import (
	"slices"
	"testing"
	"time"

	"github.com/denorm-go/denorm/examples/sensors"
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
	got := each(found, func(r sensors.Reading) float64 { return r.Value })
	wrong(t, !slices.Equal(got, want), "%v, want %v", got, want)
	var ttl int
	if err := p.Session.Reads().Query(`SELECT TTL(value) FROM sensor_readings WHERE sensor_id = ? AND bucket = ? AND ts = ?`, sensor,
		midnight.Format(time.DateOnly), midnight).Scan(&ttl); err != nil {
		t.Fatal(err)
	}
	left := time.Until(midnight.Add(sensors.Retention))
	wrong(t, time.Duration(ttl)*time.Second > left+2*time.Second || ttl < int(left.Seconds())-600, "ends in %d s, want %v", ttl, left)
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
