package writer

import (
	"sync/atomic"
	"time"
)

// batchlogPause is how long auto does not use the batchlog after it failed. If one of three nodes has died, the
// others answer logged batches with BATCH_LOG timeouts until gossip has noticed, for some 11 s, or much longer.
const batchlogPause = 15 * time.Second

// batchlogTrial is how long a single write that tries the batchlog after the pause may take before another one tries:
// an attempt and a little. If all writes tried, all would wait for the server's timeout together, every 15 s.
const batchlogTrial = 3 * time.Second

// batchlogTrials is how many trials in a row have to succeed, one after the other. While the nodes do not agree that one
// is dead some batches work and others do not (seen 19 s after a node was killed).
const batchlogTrials = 10

// batchlog remembers when the batchlog failed last. It is shared by a writer and all derived from it.
type batchlog struct {
	at     atomic.Pointer[time.Time]
	worked atomic.Int32 // trials in a row
}

// copy is one that knows the same, and that others do not see.
func (b *batchlog) copy() *batchlog {
	if b == nil { // of a writer that was not made
		return nil
	}
	out := new(batchlog)
	out.at.Store(b.at.Load())
	return out
}

func (b *batchlog) failed(now time.Time) {
	b.worked.Store(0)
	b.at.Store(&now)
}

// succeeded is called by a trial. Other writes do not count: they may have begun before the batchlog failed.
func (b *batchlog) succeeded(now time.Time) {
	if b.worked.Add(1) >= batchlogTrials {
		b.worked.Store(0)
		b.at.Store(nil)
		return
	}
	next := now.Add(-batchlogPause)
	b.at.Store(&next)
}

// down says whether not to use the batchlog, and if it is used, whether this write is the one that tries it again.
// It compares moments, which the process's monotonic clock keeps right when the wall clock steps.
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
