package writer

import (
	"context"
	"sync/atomic"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/versioned"
	"github.com/gocql/gocql"
)

// claimKey is a key of a Unique table on the cluster.
type claimKey struct {
	transactions
	claim *entity.Claim
	own   string
	bases map[string]*entity.Base // of the owners that were seen
}

var _ versioned.Key = (*claimKey)(nil)

func (w *Writer) claimKey(op string, c *entity.Claim, own *entity.Base, sent *atomic.Int32) *claimKey {
	return &claimKey{
		w.transactions(op, c.Keyspace, c.PartitionKey, own.Local(), sent), c, own.Key(), make(map[string]*entity.Base),
	}
}

// Self implements [versioned.Key].
func (k *claimKey) Self() string { return k.own }

// Read implements [versioned.Key].
func (k *claimKey) Read(ctx context.Context) (out versioned.Claim, err error) {
	statement, dest, holder := k.claim.Select()
	if found, err := k.read(ctx, statement, dest, false); err != nil || !found {
		return out, err
	}
	h := holder()
	out = versioned.Claim{Owner: h.Base.Key(), Token: h.Token}
	if h.Own { // in other bytes, perhaps
		out.Owner = k.own
	}
	k.bases[out.Owner] = h.Base
	return out, nil
}

// Take implements [versioned.Key].
func (k *claimKey) Take(ctx context.Context, token gocql.UUID) (versioned.Claim, error) {
	if applied, _, err := k.swap(ctx, k.claim.Take(token)); err != nil || applied {
		return versioned.Claim{Owner: k.own, Token: token}, err
	}
	return k.Read(ctx) // a zero claim if it is gone meanwhile
}

// Replace implements [versioned.Key].
func (k *claimKey) Replace(ctx context.Context, seen, token gocql.UUID) (now gocql.UUID, err error) {
	applied, row, err := k.swap(ctx, k.claim.Replace(token, seen))
	if err != nil || applied {
		return token, err
	}
	now, _ = row[entity.TokenColumn].(gocql.UUID)
	return now, nil
}

// Free implements [versioned.Key].
func (k *claimKey) Free(ctx context.Context, token gocql.UUID) error {
	_, _, err := k.swap(ctx, k.claim.Free(token))
	return err
}

// Base implements [versioned.Key].
func (k *claimKey) Base(owner string) versioned.Store {
	store := k.w.store(k.op, k.bases[owner], k.sent)
	store.claimed = k.claim.Table
	return store
}

// Held implements [versioned.Key].
func (k *claimKey) Held(row versioned.Row) bool {
	stored, ok := row.Columns.(*entity.Row)
	return ok && k.claim.Holds(*stored)
}
