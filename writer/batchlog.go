package writer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/period"
	"github.com/denorm-go/denorm/internal/planned"
	"github.com/denorm-go/denorm/internal/statement"
)

// batchlogTrial is how long a single write that tries the batchlog after the pause may take before another one tries:
// an attempt and a little. If all writes tried, all would wait for the server's timeout together, every 15 s.
const batchlogTrial = 3 * time.Second

// batchlog remembers when the batchlog failed last. It is shared by a writer and all derived from it.
type batchlog struct {
	at     atomic.Pointer[time.Time]
	worked atomic.Int32 // trials in a row
}

func (b *batchlog) failed(now time.Time) {
	b.worked.Store(0)
	b.at.Store(&now)
}

// succeeded is called by a trial. Other writes do not count: they may have begun before the batchlog failed.
func (b *batchlog) succeeded(now time.Time) {
	if b.worked.Add(1) >= planned.BatchlogTrials {
		b.worked.Store(0)
		b.at.Store(nil)
		return
	}
	next := now.Add(-planned.BatchlogPause)
	b.at.Store(&next)
}

// down says whether not to use the batchlog.
func (b *batchlog) down(now time.Time) bool { return paused(b.at.Load(), now) }

// paused says whether not to use the batchlog after it failed at a moment, nil for never. The process's monotonic clock
// keeps that right when the wall clock steps.
func paused(at *time.Time, now time.Time) bool {
	return at != nil && now.Sub(*at) < planned.BatchlogPause
}

// try is called for a logged batch that is about to be sent. It says whether not to send it, and if it is sent, whether
// it is the one that tries the batchlog again. A plan takes no trial: it may be dropped, and others would wait for it.
func (b *batchlog) try(now time.Time) (down, trial bool) {
	at := b.at.Load()
	if down = paused(at, now); down || at == nil {
		return down, false
	}
	next := now.Add(batchlogTrial - planned.BatchlogPause)
	mine := b.at.CompareAndSwap(at, &next)
	return !mine, mine
}

// guard rejects a logged batch that the server would reject, or that it would not guarantee: the batchlog drops a batch
// that is older than the smallest gc_grace_seconds of its tables, so one table with a gc_grace_seconds of 0 removes the
// guarantee for the whole batch. An [*unreadError] is not a rejection: the schema is not known.
func (w *Writer) guard(ctx context.Context, p *plan) error {
	if p.mode != LoggedBatch {
		return nil
	}
	batch := &p.Requests[0]
	if err := w.guardSize(batch, p.atomic); err != nil {
		return err
	}
	for _, m := range batch.Mutations {
		live, err := w.live.table(ctx, &w.sender.Retrier, m.Keyspace, m.Table)
		if m.Rotates && errors.Is(err, errNoTable) {
			return &unreadError{m.Keyspace, m.Table, &period.MissingError{Err: errNoTable, Rotates: true}}
		}
		if err != nil {
			return err
		}
		if live.gcGrace == 0 {
			return noGrace(m, p.atomic)
		}
	}
	return nil
}

func (w *Writer) guardSize(p *fanout.Request, atomic bool) error {
	size := p.Size()
	if size <= w.batchLimit {
		return nil
	}
	byTable := make(map[string]int)
	largest := ""
	for _, m := range p.Mutations {
		byTable[m.Table] += m.Size()
		if largest == "" || byTable[m.Table] > byTable[largest] {
			largest = m.Table
		}
	}
	return fmt.Errorf("%w: a logged batch of about %d bytes, BatchLimit %d, the most in table %s, %d: write fewer or "+
		"smaller rows%s", ErrTooLarge, size, w.batchLimit, largest, byTable[largest], orConcurrent(atomic))
}

// orConcurrent is the advice to write without a batch, empty for a set declared Atomic, which rejects that.
func orConcurrent(atomic bool) string {
	if atomic {
		return ""
	}
	return ", or use Concurrent()"
}

func noGrace(m *statement.Mutation, atomic bool) error {
	return fmt.Errorf("table %s has gc_grace_seconds = 0, so the batchlog drops its batches: ALTER TABLE %s.%s WITH "+
		"gc_grace_seconds = 864000%s", m.Table, m.Keyspace, m.Table, orConcurrent(atomic))
}
