package writer

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/versioned"
)

// mostRemovals is how many removals a writer leaves to goroutines at a time. Further ones are again made as a part of their write.
const mostRemovals = 256

// removals are the removals in flight, which are the last step of changes of Versioned sets: the entry of pending is removed once
// every table has the change. Only the next change of the entity has to wait for that, as it would otherwise meet the entry.
type removals struct {
	mu    sync.Mutex
	under map[string]chan struct{} // by the place of the base row; closed when it is done
}

func removalKey(c *condition) string {
	keyspace, table, partition := c.Condition.Base().Place()
	return keyspace + "." + table + "." + string(partition)
}

// begin notes a removal, unless there is one for the entity or there are too many.
func (r *removals) begin(key string) (end func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.under[key]; there || len(r.under) >= mostRemovals {
		return nil, false
	}
	if r.under == nil {
		r.under = make(map[string]chan struct{})
	}
	done := make(chan struct{})
	r.under[key] = done
	return func() {
		r.mu.Lock()
		delete(r.under, key)
		r.mu.Unlock()
		close(done)
	}, true
}

// mostRemovalWait is how long a change waits for the removal of the one before. Then it is cheaper to do what the entry says.
const mostRemovalWait = 100 * time.Millisecond

// wait waits for the removal of the entity that is in flight, if any.
func (r *removals) wait(ctx context.Context, key string) {
	r.mu.Lock()
	done := r.under[key]
	r.mu.Unlock()
	if done == nil {
		return
	}
	timer := time.NewTimer(mostRemovalWait)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Wait waits until all background work of earlier writes to a [tables.Set] with Versioned is done. Such a write returns once all tables have
// the change; its entry in the column pending is then removed in the background. A service calls Wait after its last write, before it ends. If
// it does not, the next write of such an entity finds the entry and does what it says, which takes a few requests more. The error is that of
// ctx, or matches [ErrInvalid] if ctx is nil or the writer was not made by [New].
func (w *Writer) Wait(ctx context.Context) error {
	w = w.made()
	switch {
	case ctx == nil:
		return reject("Wait", errNoContext)
	case w.removals == nil: // it was not made
		return reject("Wait", w.err)
	}
	w.removals.mu.Lock()
	under := slices.Collect(maps.Values(w.removals.under)) // and none of later writes
	w.removals.mu.Unlock()
	for _, done := range under {
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// conclude does what is left when every table has the write. It may fail: the next writer then does it. Nobody waits for it, unless
// the change has given up unique keys, which others may want at once.
func (w *Writer) conclude(ctx context.Context, op string, c *condition) {
	if !c.Condition.Versioned || c.Condition.Transactional {
		return
	}
	// Where the tokens of the keys that are given up are not known, these are left to whoever claims them next.
	var sent atomic.Int32
	change := versioned.Change{
		Store: w.store(op, c.Condition.Base(), &sent), Swap: versioned.Swap{Version: c.version},
		Releases: w.releases(op, c.Conditional, &sent), Tokens: c.tokens,
	}
	if len(change.Releases) == 0 {
		if end, ok := w.removals.begin(removalKey(c)); ok {
			go func() {
				defer end()
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.timeout)
				defer cancel()
				change.Finish(ctx)
			}()
			return
		}
	}
	_, _ = fanout.Detached(ctx, func() (struct{}, error) {
		change.Finish(ctx)
		return struct{}{}, nil
	})
}
