package versioned

import (
	"context"

	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// Row is a base row as a read at SERIAL shows it. The zero value is a row that does not exist.
type Row struct {
	Version gocql.UUID // zero if the column is null
	Present bool       // some column alongside the key, version and pending is not null: the entity exists
	Columns any        // of a row that is present, nil of others; the store's own form, which Swap.After takes too
	Pending map[gocql.UUID][]byte
}

// Swap is one compare-and-set of a base row: if its version is Before and nothing is pending, it becomes After.
type Swap struct {
	Before  gocql.UUID // zero: the column must be null
	Version gocql.UUID // of the row afterwards; its timestamp is above that of Before
	After   any        // the columns, in the store's own form; nil for a fence
	Keys    []byte     // the entry of pending, which is there even if it is empty: the keys of the before-image
}

// Reply is the answer to a Swap. If it was not applied, the row has this.
type Reply struct {
	Applied bool
	Version gocql.UUID
	Pending []gocql.UUID
	// Err says why the swap is wrong though the row has Before and nothing is pending: its before-image is not that row.
	Err error
}

// Store is one entity in its tables. Methods that return errors make one request each; the errors are those of the driver.
type Store interface {
	// Read reads the base row at SERIAL.
	Read(ctx context.Context) (Row, error)
	// Swap sends a compare-and-set.
	Swap(ctx context.Context, s Swap) (Reply, error)
	// ApplyToQueryTables writes what row is to the query tables, at the timestamp in version: its rows under its own keys, and
	// removes under those of keys, entries of pending, that are not its own. An empty entry has none.
	ApplyToQueryTables(ctx context.Context, row Row, version gocql.UUID, keys [][]byte) error
	// Clear removes entries of pending, with a timestamp above that of the transaction which has written them. A swap that
	// is sent again can be applied long after the time in its version, so that alone is no measure.
	Clear(ctx context.Context, versions []gocql.UUID) error
	// Try calls attempt until it succeeds or is not worth another attempt. failed is what is known of the attempts that failed: Unknown if
	// what one of them sent may still have an effect, now or later, also if a later one succeeded; else NotApplied.
	Try(ctx context.Context, attempt func(context.Context) error) (failed retry.Outcome, err error)
}

// Try is [Store.Try] of something that gives a value.
func Try[T any](
	ctx context.Context, store Store, attempt func(context.Context) (T, error),
) (value T, failed retry.Outcome, err error) {
	failed, err = store.Try(ctx, func(ctx context.Context) (err error) {
		value, err = attempt(ctx)
		return err
	})
	return value, failed, err
}
