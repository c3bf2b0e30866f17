package reconcile

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocql/gocql"
)

// A rate or a pause is also for requests that wait for their turn already.
func TestPaceChangesForThoseThatWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPace(256, 0, 0)
		p.limit = 100
		p.set(false, 1)
		var group sync.WaitGroup
		var mu sync.Mutex
		sent := 0
		for range 100 {
			group.Go(func() {
				_ = p.do(t.Context(), points, func() error {
					mu.Lock()
					defer mu.Unlock()
					sent++
					return nil
				})
			})
		}
		during := func(d time.Duration) int {
			mu.Lock()
			before := sent
			mu.Unlock()
			<-time.After(d)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return sent - before
		}
		if n := during(10 * time.Second); n < 10 || n > 11 {
			t.Errorf("1 a second: %d in ten seconds", n)
		}
		p.set(true, 1)
		if n := during(time.Minute); n != 0 {
			t.Errorf("paused: %d", n)
		}
		p.set(false, 4)
		p.set(false, 4) // as every few seconds
		if n := during(10 * time.Second); n < 40 || n > 41 {
			t.Errorf("4 a second: %d in ten seconds", n)
		}
		p.set(false, 0)
		if n := during(time.Millisecond); n < 48 {
			t.Errorf("no bound: %d at once", n)
		}
		group.Wait()
		if p.inFlight != 0 {
			t.Errorf("%d in flight at the end", p.inFlight)
		}
	})
}

// A run keeps as many requests in flight as a server answers at once, and not many more: the target is of requests that did not wait for
// each other.
func TestPaceLeavesRoom(t *testing.T) {
	t.Parallel()
	for at, most := range map[int]int{1: 3, 64: 3*64 + 8} {
		synctest.Test(t, func(t *testing.T) {
			p := newPace(256, 0, 0)
			var group sync.WaitGroup
			var inFlight atomic.Int32
			highest := 0
			for range 256 {
				group.Go(func() {
					for range 100 {
						_ = p.do(t.Context(), pages, func() error {
							n := int(inFlight.Add(1))
							defer inFlight.Add(-1)
							<-time.After(10 * time.Millisecond * time.Duration(max(1, n/at))) // the server answers so many at once
							return nil
						})
					}
				})
			}
			group.Go(func() {
				for range 200 {
					<-time.After(50 * time.Millisecond)
					highest = max(highest, p.bound())
				}
			})
			group.Wait()
			if highest > most || highest < at {
				t.Errorf("a server that answers %d at once had %d requests in flight, want %d to %d", at, highest, at, most)
			}
		})
	}
}

// A sighting has the millisecond of its time: one of the run itself, in the millisecond in which the run began, is not of before.
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
