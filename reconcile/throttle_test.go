package reconcile

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/denorm-go/denorm/internal/pace"
)

// A rate or a pause is also for requests that wait for their turn already.
func TestPaceChangesForThoseThatWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newThrottle(pace.Config{First: 100, Most: 256, Kinds: 2, Slack: 2, Percentile: 95}, 0)
		p.set(false, 1)
		var group sync.WaitGroup
		var mu sync.Mutex
		sent := 0
		for range 100 {
			group.Go(func() {
				_ = p.do(t.Context(), 1, func() error {
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
		room := 0
		for p.pace.TryAcquire() {
			room++
		}
		if bound, _ := p.state(); room != bound {
			t.Errorf("%d in flight at the end", bound-room)
		}
	})
}

// A run keeps as many requests in flight as a server answers at once, and not many more: the target is of requests that
// did not wait for each other.
func TestPaceLeavesRoom(t *testing.T) {
	t.Parallel()
	for at, most := range map[int]int{1: 3, 64: 3*64 + 32} {
		synctest.Test(t, func(t *testing.T) {
			p := newThrottle(pace.Config{First: 1, Most: 256, Kinds: 2, Slack: 2, Percentile: 95}, 0)
			var group sync.WaitGroup
			var inFlight atomic.Int32
			highest := 0
			for range 256 {
				group.Go(func() {
					for range 100 {
						_ = p.do(t.Context(), 0, func() error {
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
					bound, _ := p.state()
					highest = max(highest, bound)
				}
			})
			group.Wait()
			if highest > most || highest < at {
				t.Errorf("a server that answers %d at once had %d requests in flight, want %d to %d", at, highest, at, most)
			}
		})
	}
}

// A cluster that others load after a run has begun slows the run down, but not to one request at a time: fewer would
// not help it.
func TestPaceUnderLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newThrottle(pace.Config{First: 1, Most: 256, Kinds: kinds, Slack: 2, Percentile: 95}, 0)
		begun := time.Now()
		var group sync.WaitGroup
		for range 64 {
			group.Go(func() {
				for range 300 {
					_ = p.do(t.Context(), points, func() error {
						takes := time.Millisecond
						if time.Since(begun) > 50*time.Millisecond {
							takes *= 20
						}
						<-time.After(takes)
						return nil
					})
				}
			})
		}
		group.Wait()
		if bound, _ := p.state(); bound < 10 {
			t.Errorf("%d requests in flight", bound)
		}
	})
}
