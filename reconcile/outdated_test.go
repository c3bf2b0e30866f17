package reconcile

import (
	"testing"
	"time"

	"github.com/gocql/gocql"
)

// A sighting has the millisecond of its time: one of the run itself, in the millisecond in which the run began, is not
// of before.
func TestOutdatedSightings(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 1, 0, 0, 0, 1_500_000, time.UTC)
	r := &storedRun{lease: lease{run: gocql.TimeUUID()}, began: began}
	for last, want := range map[time.Duration]bool{0: false, -time.Millisecond: true, time.Millisecond: false} {
		last := began.Add(last).Truncate(time.Millisecond)
		if f := (sighting{run: r.run, last: last}); r.outdated(&f) {
			t.Errorf("%v, of the run itself", last)
		}
		if f := (sighting{run: gocql.TimeUUID(), last: last}); last.Before(began.Truncate(time.Millisecond)) != want || want && !r.outdated(&f) {
			t.Errorf("%v, of another run: not outdated", last)
		}
	}
}
