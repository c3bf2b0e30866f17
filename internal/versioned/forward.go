package versioned

import (
	"context"
	"maps"
	"slices"

	"github.com/gocql/gocql"
)

// Current is the version of the row, or that of its fence which has expired before its removes were known to be in the
// query tables: then pending, which outlives it, has it as its largest key. It is zero if there is neither.
func (r Row) Current() gocql.UUID {
	if r.Version != (gocql.UUID{}) || len(r.Pending) == 0 {
		return r.Version
	}
	return slices.MaxFunc(slices.Collect(maps.Keys(r.Pending)), compare)
}

// RollForward finishes what the row's pending entries say has been begun: it brings the row to the query tables at its
// version, removes what it has under older keys, and clears those entries. It does nothing if there are none.
//
// It can be done again, by several at once, and late: all of it is written at the timestamp of a version that the row
// has had, so whatever a later version has written wins, and keys of pending do not recur.
func RollForward(ctx context.Context, store Store, row Row) error {
	for versions := range slices.Chunk(slices.SortedFunc(maps.Keys(row.Pending), compare), mostEntries) {
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
