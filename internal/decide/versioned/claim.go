package versioned

import (
	"context"
	"time"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// holding is a key that this write has claimed.
type holding struct {
	key Key
	// Alone says that no other write for the entity can rely on the claim: there was none for this entity before this
	// write's, and its token has been this write's since.
	decide.Held
	lost bool // it was claimed again, and the claim of before was not there any more
}

// claim takes the key with a token made just now, or finds that another entity has it. On an error the claim may be
// there or not.
func (h *holding) claim(ctx context.Context, c *Change) error {
	for range rounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		own, alone, lost := c.Next(c.above()), true, h.Token != gocql.UUID{}
		// An attempt whose answer was lost was applied, too, if the next one finds its token.
		now, _, err := decide.Try(ctx, c.Store, func(ctx context.Context) (Claim, error) { return h.key.Take(ctx, own) })
		if err != nil {
			return err
		}
		token := now.Token
		if token != own {
			if now == (Claim{}) {
				continue // freed meanwhile
			}
			if now.Owner == h.key.Self() {
				// The token is ours of before, or that of another write for this entity. That one may be about to give
				// the key up, by the token that it has seen: it shall not find it.
				alone = h.Alone && now.Token == h.Token
				lost = lost && now.Token != h.Token
			} else if fenced, err := c.evict(ctx, h.key, now, entity.Timestamp(own)); err != nil {
				return err
			} else if !fenced {
				continue
			}
			token, _, err = decide.Try(ctx, c.Store, func(ctx context.Context) (gocql.UUID, error) {
				return h.key.Replace(ctx, now.Token, own)
			})
			if err != nil {
				return err
			}
		}
		if token == own {
			h.Token, h.Alone, h.lost = own, alone, lost
			return nil
		}
	}
	return decide.ErrRounds
}

// above is the timestamp that a claim has to be above: where the version follows from the claim, a fence that this
// change was planned above is before both.
func (c *Change) above() int64 {
	if c.ID == decide.Unclaimed {
		return entity.Timestamp(c.Swap.Version)
	}
	return 0
}

// evict sees to it that the owner of a claim cannot come to hold the key by that claim any more. It says whether it
// has, or fails because the owner holds the key or has claimed it a moment ago.
//
// Nothing that the owner's writes have read before may count after that: its base row gets a new version, which any
// later write for it has to see before it renews its claim, and then either finds the key taken or changes the token
// that the taker has seen. Age alone proves nothing, as a write can be delayed for longer than any.
func (c *Change) evict(ctx context.Context, key Key, claim Claim, now int64) (fenced bool, err error) {
	base := key.Base(claim.Owner)
	row, _, err := decide.Try(ctx, base, base.Read)
	if err != nil {
		return false, err
	}
	// The claim of a clock a little ahead of ours is a recent one; one far ahead is of a clock that was wrong, and could
	// be waited for forever.
	old := now - entity.Timestamp(claim.Token)
	recent := old < c.Grace.Microseconds() && old > -max(c.Grace, defaultGrace).Microseconds()
	if key.Held(row) || recent {
		return false, &TakenError{Key: key, Owner: claim.Owner}
	}
	if key.OfID() { // its owner may have been deleted by a clock ahead, with rows that this change may write
		c.met = later(c.met, row.Current())
	}
	return fence(ctx, base, row, nextVersion(c.Next, row))
}

// later is the one with the later timestamp.
func later(a, b gocql.UUID) gocql.UUID {
	if entity.Timestamp(b) > entity.Timestamp(a) {
		return b
	}
	return a
}

// fence gives a row, there or not, a new version and changes nothing else. It says whether it has: not if somebody else
// has written the row.
func fence(ctx context.Context, store Store, row Row, version gocql.UUID) (bool, error) {
	result := Settle(ctx, store, Swap{Before: row.Version, Live: row.Live(), Version: version, After: row.Columns}, false,
		nil)
	if result.Outcome != retry.Applied {
		return false, result.Err
	}
	applyToQueryTables(ctx, store, row, version)
	return true, nil
}

// Reclaim claims keys that a row has and whose claims are lost, and gives the row a new version: a write that has seen
// it without the claims, and would not give them up, is not applied after that. The row was read at SERIAL, before this
// is called, and nothing of it is pending. next and grace are those of [Change]. If another entity has a key, the
// result's error is a [TakenError].
func Reclaim(ctx context.Context, store Store, row Row, keys []Key, next func(above int64) gocql.UUID,
	grace time.Duration,
) Result {
	c := Change{
		Store: store, Claims: keys, Next: next, Grace: grace,
		Swap: Swap{Before: row.Version, Live: row.Live(), Version: nextVersion(next, row), After: row.Columns},
	}
	result := c.Commit(ctx)
	if result.Outcome == retry.Applied {
		applyToQueryTables(ctx, store, row, c.Swap.Version)
	}
	return result
}

// nextVersion is a version for the next change of a row.
func nextVersion(next func(above int64) gocql.UUID, row Row) gocql.UUID {
	return entity.Linked(next(entity.Timestamp(row.Current())), row.Version)
}

// applyToQueryTables brings a row that has just got a version to the query tables. If it fails, the next one to meet
// the row does it.
func applyToQueryTables(ctx context.Context, store Store, row Row, version gocql.UUID) {
	row.Version, row.Pending = version, nil
	_ = RollForward(ctx, store, row)
}

// release frees the claims that only this call can rely on: no other call for this entity has found their tokens, and
// one that claims the key sets its own. If that fails, or the write dies first, the next claimer evicts. After the end
// of the call they are left to be freed.
func (c *Change) release(ctx context.Context) {
	c.left = false
	for _, h := range c.held {
		if !h.Alone {
			continue
		}
		c.ID = min(c.ID, decide.Unclaimed)
		if ctx.Err() != nil {
			c.left = true
			return
		}
		free(ctx, c.Store, h.key, h.Token)
	}
	c.held = nil
}

func free(ctx context.Context, store Store, key Key, token gocql.UUID) {
	_, _ = store.Try(ctx, func(ctx context.Context) error { return key.Free(ctx, token) })
}
