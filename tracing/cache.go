package tracing

import (
	"maps"
	"sync"
	"sync/atomic"
)

// maxTexts is how many bytes the texts of a key in a cache may have on average. Others may have written them.
const maxTexts = 4 << 10

// cache keeps what was made once, up to a limit in number and bytes. It is read by every write and changes only while a
// service warms up, so readers take no lock and a change copies the map.
type cache[K comparable, V any] struct {
	limit int
	mu    sync.Mutex
	bytes int // of texts
	kept  atomic.Pointer[map[K]V]
}

func newCache[K comparable, V any](limit int) *cache[K, V] {
	c := &cache[K, V]{limit: limit}
	c.kept.Store(&map[K]V{})
	return c
}

func (c *cache[K, V]) get(key K) (V, bool) {
	value, ok := (*c.kept.Load())[key]
	return value, ok
}

// add keeps value under key, which has these texts, unless the limit is met. It gives what is kept under key, and
// whether something is.
func (c *cache[K, V]) add(key K, value V, texts ...string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if earlier, ok := c.get(key); ok {
		return earlier, true
	}
	bytes := c.bytes
	for _, text := range texts {
		bytes += len(text)
	}
	if len(*c.kept.Load()) >= c.limit || bytes/maxTexts >= c.limit {
		return value, false
	}
	c.bytes = bytes
	next := maps.Clone(*c.kept.Load())
	next[key] = value
	c.kept.Store(&next)
	return value, true
}
