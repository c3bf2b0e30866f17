package cas

import (
	"context"
	"fmt"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fingerprint"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/versioned"
)

// Claim is a key of a Unique table on the cluster, on behalf of an entity. It is for one goroutine.
type Claim struct {
	*entity.Claim

	partition *Partition
	store     func(owner *entity.Base) versioned.Store
	bases     map[string]*entity.Base // of the owners that were seen
}

var _ versioned.Key = (*Claim)(nil)

// NewClaim makes a claim. store gives the base row of an entity that has the key.
func NewClaim(c *entity.Claim, p *Partition, store func(owner *entity.Base) versioned.Store) *Claim {
	return &Claim{c, p, store, make(map[string]*entity.Base)}
}

// Ownerless is that a row of a table of unique keys, which no writer of the library has made, names no entity.
func Ownerless(table string) error {
	return request.Stop(fmt.Errorf("a row of %s %w", table, versioned.ErrOwnerless))
}

// Read implements [versioned.Key].
func (c *Claim) Read(ctx context.Context) (out versioned.Claim, err error) {
	statement, dest, holder := c.Select()
	found, err := c.partition.read(ctx, statement, dest, false)
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
	out = versioned.Claim{Owner: h.Base.Key(), Token: h.Token}
	if h.Own { // in other bytes, perhaps
		out.Owner = c.Self()
	}
	c.bases[out.Owner] = h.Base
	return out, nil
}

// Take implements [versioned.Key].
func (c *Claim) Take(ctx context.Context, token gocql.UUID) (versioned.Claim, error) {
	if applied, _, err := c.partition.Transact(ctx, c.Claim.Take(token)); err != nil || applied {
		return versioned.Claim{Owner: c.Self(), Token: token}, err
	}
	return c.Read(ctx) // a zero claim if it is gone meanwhile
}

// Replace implements [versioned.Key].
func (c *Claim) Replace(ctx context.Context, seen, token gocql.UUID) (now gocql.UUID, err error) {
	applied, row, err := c.partition.Transact(ctx, c.Claim.Replace(token, seen))
	if err != nil || applied {
		return token, err
	}
	now, _ = row[fingerprint.TokenColumn].(gocql.UUID)
	return now, nil
}

// Free implements [versioned.Key].
func (c *Claim) Free(ctx context.Context, token gocql.UUID) error {
	_, _, err := c.partition.Transact(ctx, c.Claim.Free(token))
	return err
}

// Base implements [versioned.Key].
func (c *Claim) Base(owner string) versioned.Store { return c.store(c.bases[owner]) }

// Held implements [versioned.Key].
func (c *Claim) Held(row versioned.Row) bool {
	stored, ok := row.Columns.(*entity.Row)
	return ok && c.Holds(*stored)
}
