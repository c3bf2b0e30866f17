package writer

import (
	"sync/atomic"
	"time"
)

// batchlogPause is how long auto leaves the batchlog out after it failed. Three nodes of which one has died answer
// logged batches with BATCH_LOG timeouts until gossip has noticed, for some 11 s.
const batchlogPause = 15 * time.Second

// batchlog remembers when the batchlog failed last. It is shared by a writer and all derived from it.
type batchlog struct{ at atomic.Pointer[time.Time] }

func (b *batchlog) failed(now time.Time) { b.at.Store(&now) }

// down compares moments, which the process's monotonic clock keeps right when the wall clock steps.
func (b *batchlog) down(now time.Time) bool {
	at := b.at.Load()
	return at != nil && now.Sub(*at) < batchlogPause
}
