package tracing

import (
	"maps"
	"sync"
	"sync/atomic"
)

// cache keeps what was made once, up to a limit. It is read by every write and changes only while a service warms up,
// so readers take no lock and a change copies the map.
type cache[K comparable, V any] struct {
	limit int
	mu    sync.Mutex
	kept  atomic.Pointer[map[K]V]
}

func (c *cache[K, V]) get(key K) (V, bool) {
	kept := c.kept.Load()
	if kept == nil {
		var none V
		return none, false
	}
	value, ok := (*kept)[key]
	return value, ok
}

// add keeps value, unless the limit is met. It gives what is kept under key, and whether something is.
func (c *cache[K, V]) add(key K, value V) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var next map[K]V
	if kept := c.kept.Load(); kept != nil {
		if earlier, ok := (*kept)[key]; ok {
			return earlier, true
		}
		if len(*kept) >= c.limit {
			return value, false
		}
		next = maps.Clone(*kept)
	} else {
		next = make(map[K]V)
	}
	next[key] = value
	c.kept.Store(&next)
	return value, true
}
