package writer

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/period"
	"github.com/denorm-go/denorm/internal/versioned"
	"github.com/denorm-go/denorm/tables"
)

// Waits between two tries of Modify that met a conflict. Each conflict is another writer's success, so they are short.
const (
	leastConflictWait = 2 * time.Millisecond
	mostConflictWait  = 200 * time.Millisecond
)

// modifyConditional is [Modify] of a set with conditions.
func modifyConditional[T any](
	ctx context.Context, w *Writer, op string, set *tables.Set[T], key T, change func(T) (T, error),
) (row T, err error) {
	base, err := set.Internal().Base(key, w.physical)
	if err != nil {
		return row, refuse(op, err)
	}
	before, failed := readBase[T](ctx, w, op, base, true)
	end := time.Now().Add(w.policy.WithDefaults().MaxElapsedTime)
	for wait := leastConflictWait; ; wait = min(2*wait, mostConflictWait) {
		if failed != nil {
			return before, failed
		}
		update := set.Updating(before)
		after, err := change(before)
		if err != nil {
			return before, err
		}
		if err := keyless(set, after); err != nil {
			return after, refuse(op, err)
		}
		result, err := w.Write(ctx, op, update(after))
		set.Internal().SetVersion(&after, result.Version)
		var met *Error
		if !errors.As(err, &met) || !met.Is(ErrConflict) || met.condition.taken != nil || !met.NotApplied() || time.Now().Add(wait).After(end) {
			return after, err
		}
		if !sleep(ctx, rand.N(wait)) { //nolint:gosec // it spreads
			return after, met
		}
		// The row that the conflict left was read at SERIAL.
		var found bool
		if before, found = Current[T](met); !found {
			before, failed = readBase[T](ctx, w, op, base, false)
		}
	}
}

// sleep waits, and says whether ctx still goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// readBase reads a base row of a set with conditions. Its error is an *Error.
func readBase[T any](ctx context.Context, w *Writer, op string, base *entity.Base, plain bool) (row T, err error) {
	var sent atomic.Int32
	row, err = runDetached(ctx, func() (row T, err error) {
		store := w.store(op, base, &sent)
		var read versioned.Row
		if _, err := store.Try(ctx, func(ctx context.Context) (err error) {
			read, err = store.read(ctx, plain)
			return err
		}); err != nil {
			return row, err
		}
		stored, ok := read.Columns.(*entity.Row)
		if !ok {
			return row, ErrNotFound
		}
		stored.Version = read.Current()
		decoded, err := base.Decode(*stored)
		if err != nil {
			return row, err
		}
		row, _ = decoded.(T)
		return row, nil
	})
	if err != nil {
		keyspace, table, _ := base.Place()
		return row, unread(op, keyspace, table, int(sent.Load()), period.Explain(err, only(keyspace, table)))
	}
	return row, nil
}
