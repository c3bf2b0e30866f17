package decide

import (
	"context"
	"sync"
)

// Turns let calls of one writer that read and then change an entity run one after the other. Two at a time would only meet conflicts.
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
	defer t.mu.Unlock()
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
	case <-ctx.Done():
		err = ctx.Err()
	}
	t.mu.Lock()
	if err != nil {
		t.leave(key, one)
		return nil, err
	}
	return func() {
		<-one.held
		t.mu.Lock()
		defer t.mu.Unlock()
		t.leave(key, one)
	}, nil
}

func (t *Turns) leave(key string, one *turn) {
	if one.users--; one.users == 0 {
		delete(t.taken, key)
	}
}
