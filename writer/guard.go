package writer

import (
	"context"
	"errors"
	"fmt"

	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/period"
	"github.com/denorm-go/denorm/internal/statement"
)

// guard rejects a logged batch that the server would reject, or that it would not guarantee: the batchlog drops a batch that is older
// than the smallest gc_grace_seconds of its tables, so one table with a gc_grace_seconds of 0 removes the guarantee for the whole
// batch. An [*unreadError] is not a rejection: the schema is not known.
func (w *Writer) guard(ctx context.Context, p *plan) error {
	if p.mode != LoggedBatch {
		return nil
	}
	batch := &p.requests[0]
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
	return fmt.Errorf("a logged batch of about %d bytes is over the limit of %d (batch_size_fail_threshold of the server, "+
		"writer.BatchLimit here); table %s has the most, %d: write fewer or smaller rows at a time%s",
		size, w.batchLimit, largest, byTable[largest], orConcurrent(", or write it with Concurrent()", atomic))
}

// orConcurrent is the advice to write without a batch, empty for a set declared Atomic, which rejects that.
func orConcurrent(advice string, atomic bool) string {
	if atomic {
		return ""
	}
	return advice
}

func noGrace(m *statement.Mutation, atomic bool) error {
	return fmt.Errorf("table %s has gc_grace_seconds = 0, so the batchlog would drop any logged batch it is in: "+
		"ALTER TABLE %s.%s WITH gc_grace_seconds = 864000%s", m.Table, m.Keyspace, m.Table, orConcurrent(", or use Concurrent()", atomic))
}
