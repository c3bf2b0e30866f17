package versioned

import (
	"context"

	"github.com/denorm-go/denorm/internal/entity"
)

// RollForward finishes what a row has left to be done: it brings the row to the query tables at its version, removes
// what it has under older keys, and says that this is done. It does nothing if the row is finished.
//
// It can be done again, by several at once, and late: all of it is written at the timestamp of a version that the row
// has had, so whatever a later version has written wins.
func RollForward(ctx context.Context, store Store, row Row) error {
	if !row.Unfinished() {
		return nil
	}
	pending := entity.Pending{Version: row.Current()}
	if row.Pending != nil {
		pending.Keys = row.Pending.Keys
	}
	if _, err := store.Try(ctx, func(ctx context.Context) error {
		return store.ApplyToQueryTables(ctx, row, row.Current(), pending.Keys)
	}); err != nil {
		return err
	}
	return finish(ctx, store, row.Live(), pending)
}

// finish says that the query tables have a change.
func finish(ctx context.Context, store Store, live bool, pending entity.Pending) error {
	_, err := store.Try(ctx, func(ctx context.Context) error {
		if live {
			return store.Finish(ctx, pending.Version)
		}
		return store.Forget(ctx, pending)
	})
	return err
}
