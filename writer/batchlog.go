package writer

import (
	"sync/atomic"
	"time"
)

// batchlogPause is how long auto leaves the batchlog out after it failed. Three nodes of which one has died answer
// logged batches with BATCH_LOG timeouts until gossip has noticed, for some 11 s.
const batchlogPause = 15 * time.Second

// batchlog remembers that the batchlog failed. It is shared by a writer and all derived from it.
type batchlog struct{ until atomic.Int64 } // Unix nanoseconds

func (b *batchlog) failed(now time.Time)    { b.until.Store(now.Add(batchlogPause).UnixNano()) }
func (b *batchlog) down(now time.Time) bool { return now.UnixNano() < b.until.Load() }
