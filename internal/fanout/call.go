package fanout

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	req "github.com/denorm-go/denorm/internal/request"
)

// Call is the context of one call, which ends at a deadline of the writer's at the latest. As a rule only the flight
// waits for its end, and it has a timer anyway. So call gets a timer of its own only when something else waits: a timer
// and its context cost a tenth of a write.
type Call struct {
	context.Context // of the caller

	timeout  time.Duration // the writer's
	deadline time.Time
	timed    atomic.Pointer[timed]
}

// Deadline makes sure that a call has one. gocql repeats a request forever if the server keeps answering UNPREPARED;
// only a deadline stops it.
func Deadline(ctx context.Context, timeout time.Duration) (context.Context, *Call) {
	if d, ok := ctx.Deadline(); ok && time.Until(d) <= timeout {
		return ctx, nil
	}
	c := &Call{Context: ctx, timeout: timeout, deadline: time.Now().Add(timeout)}
	return c, c
}

// timed is the context of a call, with a timer.
type timed struct {
	ctx    context.Context //nolint:containedctx // lives as long as the call
	cancel context.CancelFunc
}

// Deadline implements [context.Context].
func (c *Call) Deadline() (time.Time, bool) { return c.deadline, true }

// Done implements [context.Context]. It makes the timer, once.
func (c *Call) Done() <-chan struct{} {
	if c.timed.Load() == nil {
		t := new(timed)
		t.ctx, t.cancel = context.WithDeadline(c.Context, c.deadline)
		if !c.timed.CompareAndSwap(nil, t) {
			t.cancel()
		}
	}
	return c.timed.Load().ctx.Done()
}

// Err implements [context.Context].
func (c *Call) Err() error {
	if err := c.Context.Err(); err != nil { // first: the timer's context learns of it a moment later
		return err
	}
	if t := c.timed.Load(); t != nil {
		return t.ctx.Err()
	}
	if time.Until(c.deadline) <= 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// Value implements [context.Context].
func (c *Call) Value(key any) any {
	if key == (callKey{}) {
		return c
	}
	return c.Context.Value(key)
}

type callKey struct{}

// WrapTimeout is the error of something done under ctx, and names the writer's limit if that has ended it. The context's
// error alone would read as if the caller's deadline had passed.
func WrapTimeout(ctx context.Context, err error) error {
	c, ok := ctx.Value(callKey{}).(*Call)
	if !ok || !errors.Is(err, context.DeadlineExceeded) || c.Context.Err() != nil || c.Err() == nil {
		return err
	}
	text := fmt.Sprintf("the writer's Timeout of %v is over", c.timeout)
	if err != context.DeadlineExceeded { //nolint:errorlint // it alone, which says nothing more
		text += ": " + err.Error()
	}
	return &req.RewordedError{Cause: err, Text: text}
}

// End ends the call. Code that asks for its timer later, as a straggler may, finds it ended. A nil call is one whose
// context had a deadline already.
func (c *Call) End() {
	if c == nil {
		return
	}
	if !c.timed.CompareAndSwap(nil, ended) {
		c.timed.Load().cancel()
	}
}

var ended = func() *timed {
	t := new(timed)
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.cancel()
	return t
}()

// over says whether ctx has ended, as far as it is known without looking at the clock: of its deadline the flight
// knows.
func over(ctx context.Context) bool {
	if c, ok := ctx.(*Call); ok && c.timed.Load() == nil {
		return c.Context.Err() != nil
	}
	return ctx.Err() != nil
}

// Leeway is how long a call waits for the driver after the end of its context. As a rule the driver returns at once,
// and its error says more than that nothing is known. In some places it does not look at the context: while a socket's
// send buffer is full, a request waits for the flush, for up to ClusterConfig.WriteTimeout (gocql 1.7.0, conn.go,
// writeContext).
const Leeway = 5 * time.Millisecond

// ErrStraggler is why nothing is known of what was left running.
func ErrStraggler(ctx context.Context) error {
	return fmt.Errorf("the driver has not returned: %w", WrapTimeout(ctx, ctx.Err()))
}

// ErrUnbegun says that nothing was done, and nothing will be.
var ErrUnbegun = errors.New("not begun")

// Detached calls do, and leaves it running if it is not done a moment after the end of ctx. If do has not even begun by
// then, because the process is too busy, it never will, and the error is ErrUnbegun.
func Detached[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, fmt.Errorf("%w: %w", ErrUnbegun, WrapTimeout(ctx, err))
	}
	results := make(chan result, 1)
	var stage atomic.Uint32 // of a sender
	go func() {
		if !stage.CompareAndSwap(waiting, sending) {
			return
		}
		value, err := do()
		results <- result{value, err}
	}()
	select {
	case r := <-results:
		return r.value, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-results:
		return r.value, r.err
	case <-time.After(Leeway):
	}
	if stage.CompareAndSwap(waiting, canceled) {
		return none, fmt.Errorf("%w: %w", ErrUnbegun, WrapTimeout(ctx, ctx.Err()))
	}
	return none, ErrStraggler(ctx)
}
