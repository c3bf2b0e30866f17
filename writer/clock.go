package writer

import (
	"hash/maphash"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/tables"
)

// Clock gives the timestamps of writes: one per logical write, in microseconds since the Unix epoch, each above the
// last. A write whose before-image has a later stamp gets a timestamp above that stamp. Later changes of the entity by
// writers with this Clock are above it, too. Writers in other processes do not know that timestamp. Until their clock
// reaches it, their inserts and patches of the entity are acknowledged and have no effect.
//
// A Clock is safe for concurrent use. All writers of a process that are given no clock share one. Make a Clock of your
// own for tests: docs/test.md.
type Clock struct {
	now    func() time.Time
	last   atomic.Int64
	floors floors
}

// NewClock makes a Clock that reads now, which must be safe for concurrent use and return the present time at every
// call, as time.Now does. Do not pass time.Now().UTC: it always returns one time, and later writes would be
// acknowledged without effect.
func NewClock(now func() time.Time) *Clock { return &Clock{now: now} }

var systemClock = NewClock(time.Now)

// jitter spreads timestamps above a stamp that is ahead of the clock: two processes that read the same row would
// otherwise pick the same one.
const jitter = 1000

// next is the timestamp of a write of changes, above the stamp of their rows, 0 for none. A stamp that is more than a
// moment ahead moves the timestamps of these entities alone, not the clock: one bad stamp must not carry over to other
// rows.
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

// farthest is how far ahead a floor may be: above a stamp at the limit of skew, and seen after a small step back of the
// clock.
func farthest(now int64, skew time.Duration) int64 { return now + 2*(skew.Microseconds()+jitter) }

// floors remembers the last timestamp of each entity that was written ahead of the clock, so that a later change of the
// same entity gets a later one. Timestamps of other entities do not move, for up to mostFloors entities at the same
// time. A floor no longer counts when the clock has passed it.
type floors struct {
	latest   atomic.Int64 // of all floors: once the clock has passed it, there is nothing to look up
	mu       sync.Mutex
	entities map[uint64]int64 // by the hash of an entity
	rest     int64            // a floor of all entities: the greatest of those that have no room in the map
}

// mostFloors is how many entities have floors of their own at the same time.
const mostFloors = 1 << 14

var floorSeed = maphash.MakeSeed()

// hashes names the entities of changes.
func hashes(changes []tables.Change, physical func(string) string) []uint64 {
	all := make([]uint64, 0, len(changes))
	for _, c := range changes {
		base := c.Internal().Set.Tables[0]
		if key := c.Internal().Key(); key != "" {
			all = append(all, maphash.Comparable(floorSeed, [3]string{physical(base.Keyspace), base.Name, key}))
		}
	}
	return all
}

// above returns the greatest floor of the entities that counts, or 0.
func (f *floors) above(entities []uint64, now, end int64) int64 {
	floor := alive(f.rest, now, end)
	for _, h := range entities {
		floor = max(floor, alive(f.entities[h], now, end))
	}
	return floor
}

// alive is a floor, or 0 if the clock has passed it or, beyond end, was set back after it.
func alive(floor, now, end int64) int64 {
	if floor <= now || floor > end {
		return 0
	}
	return floor
}

// raise sets the floor of the entities.
func (f *floors) raise(entities []uint64, floor, now, end int64) {
	latest := f.latest.Load()
	f.rest = alive(f.rest, now, end)
	switch {
	case latest <= now || f.entities == nil: // none counts
		f.entities, f.rest = make(map[uint64]int64), 0
	case latest > end: // the clock was set back
		latest = f.drop(now, end)
	}
	for _, h := range entities {
		_, known := f.entities[h]
		if !known && len(f.entities) >= mostFloors && f.rest == 0 {
			f.drop(now, end)
		}
		if !known && len(f.entities) >= mostFloors {
			f.rest = max(f.rest, floor)
			continue
		}
		f.entities[h] = max(alive(f.entities[h], now, end), floor)
	}
	f.latest.Store(max(latest, floor))
}

// drop forgets the floors of entities that do not count. It returns the greatest of all that do, or 0.
func (f *floors) drop(now, end int64) int64 {
	latest := f.rest
	for h, floor := range f.entities {
		if alive(floor, now, end) == 0 {
			delete(f.entities, h)
		}
		latest = max(latest, alive(floor, now, end))
	}
	return latest
}
