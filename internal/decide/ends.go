package decide

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// mostEnds is how many ends are left to goroutines at a time. Further ones are a part of their write.
const mostEnds = 256

// Ends is what a writer knows of its changes under way: turns, its number, and last steps that are in flight after the
// changes have returned. Only the next change of the entity waits for a last step: without that it would find the row
// unfinished, and finish it once more.
type Ends struct {
	Turns
	Number uint8 // of the writer; [entity.Owned] keeps it modulo 64

	mu    sync.Mutex
	under map[string]chan struct{} // by the place of the base row; closed when it is done
}

var (
	process = rand.Uint32() //nolint:gosec // it tells processes apart
	writers atomic.Uint32
)

// NewEnds makes it. Up to 64 writers of a process have different numbers. Writers of other processes may share them.
func NewEnds() *Ends { return &Ends{Number: uint8((process + writers.Add(1)) % 256)} }

// Begin notes an end, unless there is one for the entity or there are too many.
func (e *Ends) Begin(key string) (end func(), ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, there := e.under[key]; there || len(e.under) >= mostEnds {
		return nil, false
	}
	if e.under == nil {
		e.under = make(map[string]chan struct{})
	}
	done := make(chan struct{})
	e.under[key] = done
	return func() {
		e.mu.Lock()
		delete(e.under, key)
		e.mu.Unlock()
		close(done)
	}, true
}

// mostEndWait is how long a change waits for the end of the one before. Then it is cheaper to do what that has left.
const mostEndWait = 100 * time.Millisecond

// Wait waits for the end of the entity that is in flight, if any.
func (e *Ends) Wait(ctx context.Context, key string) {
	e.mu.Lock()
	done := e.under[key]
	e.mu.Unlock()
	if done == nil {
		return
	}
	timer := time.NewTimer(mostEndWait)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// All waits for those that are in flight now, and for none of later writes.
func (e *Ends) All(ctx context.Context) error {
	e.mu.Lock()
	under := slices.Collect(maps.Values(e.under))
	e.mu.Unlock()
	for _, done := range under {
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Turns let calls of one writer that read and then change an entity run one after the other. Two at a time would only
// meet conflicts.
type Turns struct {
	mu    sync.Mutex
	taken map[string]*turn // by the place of the base row
}

type turn struct {
	held  chan struct{} // those who wait for it get it in the order in which they came
	users int
}

// Turn waits for a turn. It returns an error if the context ends first.
func (t *Turns) Turn(ctx context.Context, key string) (end func(), err error) {
	t.mu.Lock()
	one := t.taken[key]
	if one == nil {
		if t.taken == nil {
			t.taken = make(map[string]*turn)
		}
		one = &turn{held: make(chan struct{}, 1)}
		t.taken[key] = one
	}
	one.users++
	t.mu.Unlock()
	select {
	case one.held <- struct{}{}:
		return func() {
			<-one.held
			t.leave(key, one)
		}, nil
	case <-ctx.Done():
		t.leave(key, one)
		return nil, ctx.Err()
	}
}

func (t *Turns) leave(key string, one *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one.users--; one.users == 0 {
		delete(t.taken, key)
	}
}
