package cas

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fingerprint"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/versioned"
	"github.com/denorm-go/denorm/retry"
)

// Partition sends the requests that a condition takes, for one partition, and counts them.
type Partition struct {
	Session Session
	Options Options
	Retrier *request.Retrier
	Request *request.Request
	Sent    *atomic.Int32
}

// begin begins a request, and returns the context that it is sent with.
func (p *Partition) begin(ctx context.Context) context.Context {
	p.Sent.Add(1)
	p.Request.Begin(ctx)
	return p.Request
}

// Transact makes one attempt at a transaction, see [Session].
func (p *Partition) Transact(ctx context.Context, statements ...statement.Bound) (applied bool, row map[string]any, err error) {
	applied, row, err = p.Session.Swap(p.begin(ctx), statements, p.Options)
	return applied, row, p.Request.End(err) //nolint:contextcheck // begin has made it from the caller's
}

// Commit makes one attempt at a transaction of Cassandra 6.
func (p *Partition) Commit(ctx context.Context, t *entity.Transaction) (*entity.Found, error) {
	found, err := p.Session.Commit(p.begin(ctx), t, p.Options)
	return found, p.Request.End(err) //nolint:contextcheck // begin has made it from the caller's
}

// Exec makes one attempt at a statement without condition.
func (p *Partition) Exec(ctx context.Context, s statement.Bound) error {
	return p.Request.End(p.Session.Exec(p.begin(ctx), s, p.Options)) //nolint:contextcheck // begin has made it from the caller's
}

// read makes one attempt at reading a row, at SERIAL or, if plain, at the level of the commit.
func (p *Partition) read(ctx context.Context, s statement.Bound, dest []any, plain bool) (found bool, err error) {
	found, err = p.Session.Read(p.begin(ctx), s, dest, plain, p.Options)
	return found, p.Request.End(err) //nolint:contextcheck // begin has made it from the caller's
}

// Try implements [versioned.Store].
func (p *Partition) Try(ctx context.Context, attempt func(context.Context) error) (failed retry.Outcome, err error) {
	failed = retry.NotApplied
	_, err = p.Retrier.Do(ctx, retry.Swap, func(ctx context.Context, _ int) error {
		err := attempt(ctx)
		if err != nil && retry.Classify(err, retry.Swap).Outcome != retry.NotApplied {
			failed = retry.Unknown
		}
		return err
	}, nil)
	return failed, err
}

// Row is the base row of an entity of a Versioned set on the cluster: a [versioned.Store], but for how its query tables are written.
type Row struct {
	Partition
	Base  *entity.Base
	Plain bool // reads are at the level of the commit: what is decided, but not yet committed, they may not see
}

// Read implements [versioned.Store].
func (r *Row) Read(ctx context.Context) (out versioned.Row, err error) {
	text, dest, row := r.Base.Select()
	if found, err := r.read(ctx, text, dest, r.Plain); err != nil || !found {
		return out, err
	}
	read := row()
	out = versioned.Row{Version: read.Version, Present: read.Present, Pending: read.Pending}
	if read.Present {
		out.Columns = &read
	}
	return out, nil
}

// Swap implements [versioned.Store], for changes without a before-image.
func (r *Row) Swap(ctx context.Context, swap versioned.Swap) (reply versioned.Reply, err error) {
	after, _ := swap.After.(*entity.Row)
	applied, row, err := r.Transact(ctx, r.Base.Swap(swap.Before, swap.Version, after, swap.Keys)...)
	if err != nil || applied {
		return versioned.Reply{Applied: applied}, err
	}
	reply.Version, _ = row[r.Base.VersionColumn()].(gocql.UUID)
	pending, _ := row[fingerprint.PendingColumn].(map[gocql.UUID][]byte)
	reply.Pending = slices.Collect(maps.Keys(pending))
	return reply, nil
}

// Mutations are what brings a row to the query tables, see [versioned.Store].
func (r *Row) Mutations(row versioned.Row, version gocql.UUID, keys [][]byte) ([]statement.Mutation, error) {
	var current entity.Row
	if stored, ok := row.Columns.(*entity.Row); ok {
		current = *stored
	}
	return r.Base.QueryTableMutations(current, version, keys)
}

// Clear implements [versioned.Store], by a clock.
func (r *Row) Clear(ctx context.Context, versions []gocql.UUID, now func() time.Time) error {
	for _, v := range versions {
		if err := r.Exec(ctx, r.Base.Clear(v, now())); err != nil {
			return err
		}
	}
	return nil
}
