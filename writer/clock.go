package writer

import (
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// Clock gives the timestamps of writes: one per logical write, in microseconds since the Unix epoch, each above the last.
// The exception is a write whose before-image has a stamp ahead of the clock: it gets a timestamp above that stamp. If the
// stamp is ahead by more than a millisecond, this affects neither the clock nor other writes.
//
// All rows of such a write share this future timestamp. Until the clock reaches it, an insert or patch of any of them, which
// has no stamp to go by, gets a smaller timestamp: it is acknowledged and has no effect. So where clocks may differ, use a
// separate write for a row that others change without its stamp, as a patch or an insert does.
//
// It is safe for concurrent use. All writers of a process that are given no clock share one, and so its order. A Clock of your own is for
// tests of skew, and for parallel tests in bubbles of testing/synctest: each bubble has a time of its own, and a shared clock would go back
// and forth between them.
type Clock struct {
	now  func() time.Time
	last atomic.Int64
}

// NewClock makes a Clock that reads now, which must be safe for concurrent use. It must return the present time at every
// call, as time.Now does. The method value time.Now().UTC always returns the time at which it was made: later writes are acknowledged and
// have no effect.
func NewClock(now func() time.Time) *Clock { return &Clock{now: now} }

var systemClock = NewClock(time.Now)

// jitter spreads timestamps above a stamp that is ahead of the clock: two processes that read the same row would otherwise pick the
// same one.
const jitter = 1000

// next is the timestamp of a write that follows a row with the given stamp, 0 for none. A stamp that is more than a
// moment ahead moves only this one timestamp, not the clock: one bad stamp must not carry over to other rows.
//
// If the last timestamp is further ahead of the clock than skew, the clock was wrong and has been corrected. Then next
// follows the clock again, or every row written would shut out other writers until their clocks reach that time. Rows
// that were written meanwhile are recognised by their stamps.
func (c *Clock) next(stamp int64, skew time.Duration) int64 {
	now := c.now().UnixMicro()
	for {
		last := c.last.Load()
		t := max(now, last+1)
		if t-now > skew.Microseconds() {
			t = now
		}
		given := t
		if stamp > 0 && t <= stamp {
			given = stamp + 1 + rand.Int64N(jitter) //nolint:gosec // it spreads, it does not hide
			if given-now <= 2*jitter {
				t = given // the next write from the same before-image must not be the earlier one
			}
		}
		if c.last.CompareAndSwap(last, t) {
			return given
		}
	}
}
