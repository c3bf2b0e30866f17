package versioned

import (
	"context"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// Row is a base row as a read at SERIAL shows it. The zero value is a row that does not exist.
type Row struct {
	Version gocql.UUID // zero if the column is null
	Present bool       // some column is not null that the library does not keep: the entity exists
	Columns any        // of a row that is present, nil of others; the store's own form, which Swap.After takes too
	Pending *entity.Pending
	Done    gocql.UUID
	Recent  entity.Recent
}

// Live says whether the entity exists and has a version.
func (r Row) Live() bool { return r.Present && r.Version != (gocql.UUID{}) }

// Unfinished says whether the query tables may lack the row's last change.
func (r Row) Unfinished() bool {
	if r.Live() {
		return r.Done != r.Version
	}
	return r.Pending != nil
}

// Current is [entity.Row.Current].
func (r Row) Current() gocql.UUID {
	return entity.Row{Version: r.Version, Pending: r.Pending}.Current()
}

// has says whether the row is or was at the version, as far as can be seen.
func (r Row) has(version gocql.UUID) bool {
	return r.Version == version || r.Pending != nil && r.Pending.Version == version || r.Recent.Has(version)
}

// Swap is one compare-and-set of a base row: if its version is Before and it is finished, it becomes After.
type Swap struct {
	Before  gocql.UUID // zero: the column must be null
	Live    bool       // of the row before it
	Version gocql.UUID // of the row afterwards, later than Before; made by [entity.Linked]
	After   any        // the columns, in the store's own form; nil for a fence
	Keys    []byte     // of the before-image, for pending; a delete has some
	// Finished says that this call has finished the live row at Before itself, so that the column done need not say it.
	Finished bool
}

// Reply is the answer to a Swap. If it was not applied, the row has this.
type Reply struct {
	Applied bool
	Version gocql.UUID
	// Err says why the swap is wrong though the row has Before and is finished: its before-image is not that row.
	Err error
}

// Store is one entity in its tables. Methods that return errors make one request each, or two; the errors are the
// driver's.
type Store interface {
	// Read reads the base row at SERIAL.
	Read(ctx context.Context) (Row, error)
	// Swap sends a compare-and-set.
	Swap(ctx context.Context, s Swap) (Reply, error)
	// ApplyToQueryTables writes what row is to the query tables, at the timestamp in version: its rows under its own keys,
	// and removes under the other ones among keys.
	ApplyToQueryTables(ctx context.Context, row Row, version gocql.UUID, keys []byte) error
	// Finish makes the version Done, at the version's own timestamp.
	Finish(ctx context.Context, version gocql.UUID) error
	// Forget removes Done of earlier versions of a row that is not live, and then Pending by a transaction, if it is still
	// this.
	Forget(ctx context.Context, pending entity.Pending) error
	// Try calls attempt until it succeeds or is not worth another attempt. failed is what is known of the attempts that
	// failed: Unknown if what one of them sent may still have an effect, now or later, also if a later one succeeded; else
	// NotApplied.
	Try(ctx context.Context, attempt func(context.Context) error) (failed retry.Outcome, err error)
}
