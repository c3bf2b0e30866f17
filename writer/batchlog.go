package writer

import (
	"sync/atomic"
	"time"
)

// batchlogPause is how long auto leaves the batchlog out after it failed. Three nodes of which one has died answer
// logged batches with BATCH_LOG timeouts until gossip has noticed, for some 11 s, or much longer.
const batchlogPause = 15 * time.Second

// batchlogTrial is how long after the pause a single write that tries the batchlog has for it, before another one does:
// an attempt and a little. If all did, all would wait for the server's timeout together, every 15 s.
const batchlogTrial = 3 * time.Second

// batchlog remembers when the batchlog failed last. It is shared by a writer and all derived from it.
type batchlog struct{ at atomic.Pointer[time.Time] }

func (b *batchlog) failed(now time.Time) { b.at.Store(&now) }

// worked is said by a trial that succeeded. Others may have begun before the batchlog failed.
func (b *batchlog) worked() { b.at.Store(nil) }

// down says whether to leave the batchlog out, and if not, whether this write is the one that tries it again. It
// compares moments, which the process's monotonic clock keeps right when the wall clock steps.
func (b *batchlog) down(now time.Time) (down, trial bool) {
	at := b.at.Load()
	if at == nil {
		return false, false
	}
	if now.Sub(*at) < batchlogPause {
		return true, false
	}
	next := now.Add(batchlogTrial - batchlogPause)
	mine := b.at.CompareAndSwap(at, &next)
	return !mine, mine
}
