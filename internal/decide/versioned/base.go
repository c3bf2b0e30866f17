package versioned

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
)

// Base is the base row of an entity on the cluster, as a [Store].
type Base struct {
	decide.BaseRow
	env     *decide.Env
	claimed string    // the Unique table that names the entity as the owner of a key, if another entity wants that
	read    time.Time // when the row was read
}

var _ Store = (*Base)(nil)

// NewBase makes one.
func NewBase(env *decide.Env, base *entity.Base) *Base {
	return &Base{BaseRow: env.Base(base), env: env}
}

// NewKey is a key of a Unique table, on behalf of the entity of own. store gives the base row of an entity that has it.
func NewKey(env *decide.Env, c *entity.Claim, own *entity.Base, store func(owner *entity.Base) Store) *UniqueKey {
	partition := env.Partition(c.Keyspace, c.PartitionKey(), own.Set.LocalSerial, env.Consistency)
	return &UniqueKey{c, &partition, store, make(map[string]*entity.Base)}
}

// Read implements [Store].
func (b *Base) Read(ctx context.Context) (out Row, err error) {
	b.read = time.Now()
	row, err := b.Row(ctx)
	if err != nil || row == nil {
		return out, err
	}
	out = Row{Version: row.Version, Present: row.Present, Pending: row.Pending, Done: row.Done, Recent: row.Recent}
	if row.Present {
		out.Columns = row
	}
	return out, nil
}

// Swap implements [Store].
func (b *Base) Swap(ctx context.Context, swap Swap) (reply Reply, err error) {
	after, _ := swap.After.(*entity.Row)
	applied, row, err := b.Transact(ctx, b.Base.Swap(entity.Swap{
		Before: swap.Before, Live: swap.Live, Version: swap.Version, After: after, Keys: swap.Keys, Finished: swap.Finished,
	})...)
	if err != nil || applied {
		return Reply{Applied: applied}, err
	}
	reply.Version, _ = row[b.Base.VersionColumn()].(gocql.UUID)
	done, _ := row[layout.Done.Name].(gocql.UUID)
	if !swap.Live || reply.Version != swap.Before || done != swap.Before && !swap.Finished {
		return reply, nil
	}
	return b.imageOf(ctx, swap, reply)
}

// imageOf continues a swap that was not applied although the row has the version of the before-image and is finished.
// So the columns that keys follow from differ. That may be a difference of bytes alone, which the swap can do without.
func (b *Base) imageOf(ctx context.Context, swap Swap, reply Reply) (Reply, error) {
	row, err := b.Read(ctx)
	if err != nil || row.Version != swap.Before || row.Unfinished() && !swap.Finished {
		return reply, err // another write came meanwhile
	}
	read, ok := row.Columns.(*entity.Row)
	if !ok {
		read = b.Base.Empty()
	}
	if reply.Err = decide.ImageError(b.Base, *read); reply.Err != nil {
		return reply, nil //nolint:nilerr // the reply has it
	}
	b.Base = b.Base.Unimaged()
	return b.Swap(ctx, swap)
}

// ApplyToQueryTables implements [Store].
func (b *Base) ApplyToQueryTables(ctx context.Context, row Row, version gocql.UUID, keys []byte) error {
	whole := *b
	if whole.Base = b.Base.Whole(); whole.Base != b.Base { // which reads a part of the row
		var err error
		if row, err = whole.Read(ctx); err != nil {
			return err
		}
		switch now := row.Current(); {
		case entity.Timestamp(now) > entity.Timestamp(version): // so others have finished it
			return nil
		case now != version:
			return request.Stop(errEarlierRow)
		}
	}
	var current entity.Row
	if stored, ok := row.Columns.(*entity.Row); ok {
		current = *stored
	}
	mutations, err := whole.Base.QueryTableMutations(current, version, keys)
	if err != nil && b.claimed != "" {
		err = fmt.Errorf("table %s has the key for an entity that gave it up: %w", b.claimed, err)
	}
	if err != nil || len(mutations) == 0 {
		return request.Stop(err)
	}
	pointers := make([]*statement.Mutation, len(mutations))
	for i := range mutations {
		pointers[i] = &mutations[i]
	}
	sent, err := b.env.FanOut(ctx, b.env.Op, whole.read, pointers)
	b.Sent.Add(int32(sent))
	return err
}

// errEarlierRow is the error of a row that is not yet, or no longer, as it was read.
var errEarlierRow = errors.New("the entity was read as it was before: resume again")

// Finish implements [Store].
func (b *Base) Finish(ctx context.Context, version gocql.UUID) error {
	return b.Exec(ctx, b.Base.Finish(version))
}

// Forget implements [Store].
func (b *Base) Forget(ctx context.Context, pending entity.Pending) error {
	if err := b.Exec(ctx, b.Base.Forget(pending.Version)); err != nil {
		return err
	}
	_, _, err := b.Transact(ctx, b.Base.Drop(pending))
	return err
}
