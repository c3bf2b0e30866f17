package versioned

import (
	"context"
	"maps"
	"slices"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/decide"
)

// Current is the version of the row, see [decide.Current].
func (r Row) Current() gocql.UUID { return decide.Current(r.Version, r.Pending) }

// RollForward finishes what the row's pending entries say has been begun: it brings the row to the query tables at its
// version, removes what it has under older keys, and clears those entries. It does nothing if there are none.
//
// It can be done again, by several at once, and late: all of it is written at the timestamp of a version that the row
// has had, so whatever a later version has written wins, and keys of pending do not recur.
func RollForward(ctx context.Context, store Store, row Row) error {
	for versions := range slices.Chunk(slices.SortedFunc(maps.Keys(row.Pending), decide.Compare), mostEntries) {
		keys := make([][]byte, len(versions))
		for i, v := range versions {
			keys[i] = row.Pending[v]
		}
		if _, err := store.Try(ctx, func(ctx context.Context) error {
			return store.ApplyToQueryTables(ctx, row, row.Current(), keys)
		}); err != nil {
			return err
		}
		if err := clearEntries(ctx, store, versions); err != nil {
			return err
		}
	}
	return nil
}

// mostEntries is how many entries are rolled forward together, the oldest first. A row has one, unless something else writes them.
const mostEntries = 16

func clearEntries(ctx context.Context, store Store, versions []gocql.UUID) error {
	_, err := store.Try(ctx, func(ctx context.Context) error { return store.Clear(ctx, versions) })
	return err
}
