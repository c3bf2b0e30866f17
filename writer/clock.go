package writer

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/tables"
)

// Clock gives the timestamps of writes: one per logical write, in microseconds since the Unix epoch, each above the last.
// A write whose before-image has a stamp ahead of the clock gets a timestamp above that stamp. If the stamp is ahead by more
// than a millisecond, only the entities of that write follow it. Their later changes by writers with this Clock get later
// timestamps, also inserts and patches, which have no stamp.
//
// Writers in other processes know nothing of it. Until their clock reaches such a timestamp, their insert or patch of the
// entity gets a smaller one: it is acknowledged and has no effect.
//
// It is safe for concurrent use. All writers of a process that are given no clock share one, and so its order. A Clock of your own is for
// tests of skew, and for parallel tests in bubbles of testing/synctest: each bubble has a time of its own, and a shared clock would go back
// and forth between them.
type Clock struct {
	now    func() time.Time
	last   atomic.Int64
	floors floors
}

// NewClock makes a Clock that reads now, which must be safe for concurrent use. It must return the present time at every
// call, as time.Now does. The method value time.Now().UTC always returns the time at which it was made: later writes are acknowledged and
// have no effect.
func NewClock(now func() time.Time) *Clock { return &Clock{now: now} }

var systemClock = NewClock(time.Now)

// jitter spreads timestamps above a stamp that is ahead of the clock: two processes that read the same row would otherwise pick the
// same one.
const jitter = 1000

// next is the timestamp of a write of changes, above the stamp of their rows, 0 for none. A stamp that is more than a moment
// ahead moves the timestamps of these entities alone, not the clock: one bad stamp must not carry over to other rows.
//
// If the last timestamp is further ahead of the clock than skew, the clock was wrong and has been corrected. Then next
// follows the clock again, or every row written would shut out other writers until their clocks reach that time. Rows
// that were written meanwhile are recognised by their stamps.
func (c *Clock) next(stamp int64, skew time.Duration, changes []tables.Change, physical func(string) string) int64 {
	now := c.now().UnixMicro()
	if stamp < now && c.floors.latest.Load() <= now { // nearly always
		return c.tick(now, skew)
	}
	entities, end := hashes(changes, physical), farthest(now, skew)
	c.floors.mu.Lock()
	defer c.floors.mu.Unlock()
	floor := c.floors.above(entities, now, end)
	t := c.tick(now, skew)
	given := t
	if stamp > 0 && given <= stamp {
		given = stamp + 1 + rand.Int64N(jitter) //nolint:gosec // it spreads, it does not hide
	}
	if given = max(given, floor+1); given > t {
		c.floors.raise(entities, given, now, end)
	}
	return given
}

// tick is the next timestamp of the clock.
func (c *Clock) tick(now int64, skew time.Duration) int64 {
	for {
		last := c.last.Load()
		t := max(now, last+1)
		if t-now > skew.Microseconds() {
			t = now
		}
		if c.last.CompareAndSwap(last, t) {
			return t
		}
	}
}

// follow makes later changes of the entities follow a timestamp ahead of the clock that the caller has given.
func (c *Clock) follow(at int64, skew time.Duration, changes []tables.Change, physical func(string) string) {
	now := c.now().UnixMicro()
	if at <= now {
		return
	}
	c.floors.mu.Lock()
	defer c.floors.mu.Unlock()
	c.floors.raise(hashes(changes, physical), at, now, farthest(now, skew))
}

// farthest is how far ahead a floor may be: above a stamp at the limit of skew, and seen after a small step back of the clock.
func farthest(now int64, skew time.Duration) int64 { return now + 2*(skew.Microseconds()+jitter) }
