package versioned

import (
	"context"
	"fmt"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/layout"
	"github.com/denorm-go/denorm/internal/request"
)

// UniqueKey is a key of a Unique table on the cluster, on behalf of an entity. It is for one goroutine.
type UniqueKey struct {
	*entity.Claim

	partition *decide.Partition
	store     func(owner *entity.Base) Store
	bases     map[string]*entity.Base // of the owners that were seen
}

var _ Key = (*UniqueKey)(nil)

// Ownerless is that a row of a table of unique keys, which no writer of the library has made, names no entity.
func Ownerless(table string) error {
	return request.Stop(fmt.Errorf("a row of %s %w", table, ErrOwnerless))
}

// Read implements [Key].
func (k *UniqueKey) Read(ctx context.Context) (out Claim, err error) {
	statement, dest, holder := k.Select()
	found, err := k.partition.Read(ctx, statement, dest, false)
	switch {
	case err != nil:
		return out, fmt.Errorf("read %s at SERIAL: %w", k.Claim, err)
	case !found:
		return out, nil
	}
	h := holder()
	if !h.Base.Complete() {
		return out, Ownerless(k.Keyspace + "." + k.Table)
	}
	out = Claim{Owner: h.Base.Key(), Token: h.Token}
	if h.Own { // in other bytes, perhaps
		out.Owner = k.Self()
	}
	k.bases[out.Owner] = h.Base
	return out, nil
}

// Take implements [Key].
func (k *UniqueKey) Take(ctx context.Context, token gocql.UUID) (Claim, error) {
	if applied, _, err := k.partition.Transact(ctx, k.Claim.Take(token)); err != nil || applied {
		return Claim{Owner: k.Self(), Token: token}, err
	}
	return k.Read(ctx) // a zero claim if it is gone meanwhile
}

// Replace implements [Key].
func (k *UniqueKey) Replace(ctx context.Context, seen, token gocql.UUID) (now gocql.UUID, err error) {
	applied, row, err := k.partition.Transact(ctx, k.Claim.Replace(token, seen))
	if err != nil || applied {
		return token, err
	}
	now, _ = row[layout.Token.Name].(gocql.UUID)
	return now, nil
}

// Free implements [Key].
func (k *UniqueKey) Free(ctx context.Context, token gocql.UUID) error {
	_, _, err := k.partition.Transact(ctx, k.Claim.Free(token))
	return err
}

// Base implements [Key].
func (k *UniqueKey) Base(owner string) Store { return k.store(k.bases[owner]) }

// Held implements [Key].
func (k *UniqueKey) Held(row Row) bool {
	stored, ok := row.Columns.(*entity.Row)
	return ok && k.Holds(*stored)
}
