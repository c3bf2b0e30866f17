package writer

import (
	"context"
	"sync/atomic"
	"time"
)

// call is the context of one call, which ends at a deadline of the writer's at the latest. As a rule nobody waits for
// its end but the squadron, which has a timer anyway; so it gets one of its own only when somebody else does: a timer and its
// context cost a tenth of a write.
type call struct {
	context.Context // of the caller

	deadline time.Time
	timed    atomic.Pointer[timed]
}

type timed struct {
	context.Context // that of the call, with a timer
	cancel          context.CancelFunc
}

func (c *call) Deadline() (time.Time, bool) { return c.deadline, true }

func (c *call) Done() <-chan struct{} { return c.timer().Done() }

func (c *call) Err() error {
	if t := c.timed.Load(); t != nil {
		return t.Err()
	}
	if err := c.Context.Err(); err != nil {
		return err
	}
	if time.Until(c.deadline) <= 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// timer makes the timer, once.
func (c *call) timer() *timed {
	if t := c.timed.Load(); t != nil {
		return t
	}
	t := new(timed)
	t.Context, t.cancel = context.WithDeadline(c.Context, c.deadline)
	if !c.timed.CompareAndSwap(nil, t) {
		t.cancel()
		return c.timed.Load()
	}
	return t
}

// end is the end of the call. What still asks for its timer, which a straggler may, finds it ended.
func (c *call) end() {
	if t := c.timed.Load(); t != nil {
		t.cancel()
		return
	}
	if !c.timed.CompareAndSwap(nil, ended) {
		c.timed.Load().cancel()
	}
}

var ended = func() *timed {
	t := new(timed)
	t.Context, t.cancel = context.WithCancel(context.Background())
	t.cancel()
	return t
}()

// nobody is the end of a call that had an end already.
func nobody() {}

// over says whether ctx has ended, as far as it is known without looking at the clock: of its deadline the squadron knows.
func over(ctx context.Context) bool {
	if c, ok := ctx.(*call); ok && c.timed.Load() == nil {
		return c.Context.Err() != nil
	}
	return ctx.Err() != nil
}

// limits says what ends the wait for first attempts, begun at start, that may last so long: a channel, which may be nil, and a time. early says
// that this is the end of ctx.
func limits(ctx context.Context, start time.Time, attempt time.Duration) (done <-chan struct{}, limit time.Duration, early bool) {
	c, ok := ctx.(*call)
	if !ok || c.timed.Load() != nil {
		return ctx.Done(), attempt, false
	}
	if left := c.deadline.Sub(start); left < attempt {
		return c.Context.Done(), left, true
	}
	return c.Context.Done(), attempt, false
}
