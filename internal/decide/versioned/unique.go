package versioned

import (
	"context"
	"fmt"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fingerprint"
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
func (c *UniqueKey) Read(ctx context.Context) (out Claim, err error) {
	statement, dest, holder := c.Select()
	found, err := c.partition.Read(ctx, statement, dest, false)
	switch {
	case err != nil:
		return out, fmt.Errorf("read %s at SERIAL: %w", c.Claim, err)
	case !found:
		return out, nil
	}
	h := holder()
	if !h.Base.Complete() {
		return out, Ownerless(c.Keyspace + "." + c.Table)
	}
	out = Claim{Owner: h.Base.Key(), Token: h.Token}
	if h.Own { // in other bytes, perhaps
		out.Owner = c.Self()
	}
	c.bases[out.Owner] = h.Base
	return out, nil
}

// Take implements [Key].
func (c *UniqueKey) Take(ctx context.Context, token gocql.UUID) (Claim, error) {
	if applied, _, err := c.partition.Transact(ctx, c.Claim.Take(token)); err != nil || applied {
		return Claim{Owner: c.Self(), Token: token}, err
	}
	return c.Read(ctx) // a zero claim if it is gone meanwhile
}

// Replace implements [Key].
func (c *UniqueKey) Replace(ctx context.Context, seen, token gocql.UUID) (now gocql.UUID, err error) {
	applied, row, err := c.partition.Transact(ctx, c.Claim.Replace(token, seen))
	if err != nil || applied {
		return token, err
	}
	now, _ = row[fingerprint.TokenColumn].(gocql.UUID)
	return now, nil
}

// Free implements [Key].
func (c *UniqueKey) Free(ctx context.Context, token gocql.UUID) error {
	_, _, err := c.partition.Transact(ctx, c.Claim.Free(token))
	return err
}

// Base implements [Key].
func (c *UniqueKey) Base(owner string) Store { return c.store(c.bases[owner]) }

// Held implements [Key].
func (c *UniqueKey) Held(row Row) bool {
	stored, ok := row.Columns.(*entity.Row)
	return ok && c.Holds(*stored)
}
