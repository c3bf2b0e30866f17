package reconcile

import (
	"context"
	"errors"
	"sync/atomic"
)

// unit is a range of a table. It is done when its rows were read and all that differed in it is settled.
type unit struct {
	t              *table
	in             segment
	open           atomic.Int64 // what it waits for: its scan, and suspects
	failed         atomic.Bool  // something in it could not be read
	again          atomic.Bool  // and it may be when it is tried again
	cause          atomic.Pointer[error]
	rows, inFlight atomic.Int64
	ending         atomic.Int64 // rows that end by a TTL of their own
	unsafe         atomic.Bool  // it has rows that the report alone tells of: a run that is continued reads it again
}

func newUnit(t *table, in segment) *unit {
	u := &unit{t: t, in: in}
	u.open.Store(1)
	return u
}

// settled is called when there is nothing more to look at of a suspect, or a look has failed.
func (j *job) settled(ctx context.Context, s *suspect, inFlight bool, err error) {
	units, gone := j.queue.done(s)
	if gone && inFlight {
		j.report.count(&j.report.InFlight, 1)
		if len(units) > 0 {
			units[0].inFlight.Add(1)
		}
	}
	for _, u := range units {
		if err != nil {
			u.failed.Store(true)
		}
		if err != nil && !errors.Is(err, errBusy) {
			u.cause.Store(&err)
			u.again.Store(true)
		}
		j.release(ctx, u)
	}
}

// release is called for everything that a unit waited for. What a unit of a digest read is lost with the process, so
// none is stored.
func (j *job) release(ctx context.Context, u *unit) {
	if u.open.Add(-1) == 0 && !u.failed.Load() && !u.unsafe.Load() && j.stored != nil && j.digest == nil {
		j.stored.done(ctx, u)
	}
}
