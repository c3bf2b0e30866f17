package versioned

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// Change is one change of an entity: a compare-and-set of its base row between what has to come before it, claims of
// unique keys, and after it, once the query tables have been written. It is for one use.
//
// A key is claimed with a token that nothing else has. The rule that keeps two entities from one key is: a swap whose
// condition is a version is sent only if its claims have got their tokens after that version was seen. So a claim is
// made when the before-image is known, is made again when an insert meets a fence, and a change that goes on after a
// conflict is another Change.
type Change struct {
	Store  Store
	Swap   Swap
	Insert bool // Swap.Before is zero, and the fence of a delete is not a conflict
	// Sent says that this very swap may have been sent before, by an earlier call or by another process that was given the
	// same change, and that it is not known what has come of it. It is true of everything that was kept to be sent again,
	// be it said to be NotApplied. Then the outcome is Applied, Unknown, or NotApplied with Never. A claim of Releases is
	// freed only if this call applies the swap: those that are there now may be of later writes.
	Sent bool

	// ID says whether the version was made after the claims. Where two entities with one ID share rows of query tables,
	// and not the base row, no fence says which of them is the later one. The swap of what is Unclaimed is not sent.
	// Commit claims its keys, for another Change with a later version. If it was Sent, Commit asks the row what has come
	// of it. Commit leaves here what is known afterwards.
	ID decide.IDClaim

	Claims   []Key // unique keys that the row has afterwards and had not before
	Releases []Key // and the other way round; of a delete all

	// Next makes a timeuuid that is not used for anything else, of a time that is now and above this timestamp. It is
	// needed with unique keys only.
	Next func(above int64) gocql.UUID
	// Grace is the age that a claim without a base row must have before it is taken from its owner. It is a courtesy to
	// writes under way, which the fence would stop: nothing else depends on it. 0 is 10 s.
	Grace time.Duration

	// Tokens are those of Releases, as Commit has found them before the swap was first sent, or, if it was Sent before,
	// was applied. They are all that a Finish in another Change of the same swap needs.
	Tokens []gocql.UUID

	// Held are what a Change before this one has claimed and kept for one with a later version. Commit leaves there what
	// it keeps itself.
	Held []decide.Held

	held []holding
	met  gocql.UUID // the latest version of the owners of the ID that were evicted
	left bool       // there are claims to be given back, and the call has ended
}

// errEarlier is the error of a change whose version may be earlier than its claim of the ID.
var errEarlier = errors.New("a unique key was claimed after the timestamp of the insert: make the request again")

// errUnseen is the error of a change that must not be sent any more, and is not in the row.
var errUnseen = errors.New(
	"the entity does not exist, and this insert is not sent again: read the row, and decide again")

// ErrOwnerless is the end of the error of a [Key] whose row names no entity, which no writer of the library has made.
var ErrOwnerless = errors.New("names no entity, as columns of its key are null: delete it, or write whose key it is")

const defaultGrace = 10 * time.Second

// Commit claims the keys and carries out the swap. If the outcome is Applied, the rows of the query tables are to be
// written at the version's timestamp, and then Finish is to be called; if that does not happen, whoever meets the row
// next rolls it forward. If it is anything else, nothing is to be written: of a swap that was not applied, the rows
// would be ghosts. What was claimed is given back if no swap of this call can have been applied. If another entity has
// a key, the result's error is a [TakenError]. If the change was Unclaimed, or its claims were not there any more when
// it met a fence, Behind is the last claim. If an owner of the ID that was evicted has a later version, it is that.
func (c *Change) Commit(ctx context.Context) Result {
	if c.Grace == 0 {
		c.Grace = defaultGrace
	}
	s := settlement{
		store: c.Store, swap: c.Swap, renew: c.renew, sent: c.Sent, tried: retry.NotApplied, fences: c.fences(),
	}
	if c.ID == decide.Unclaimed && c.Sent {
		return s.look(ctx)
	}
	var result Result
	if err := c.claim(ctx); err != nil {
		result = s.stop(ctx, err)
	} else {
		result = s.settle(ctx, c.Insert)
	}
	if errors.Is(result.Err, errEarlier) && result.Outcome == retry.NotApplied {
		err := ctx.Err()
		if err == nil {
			return c.keep(result)
		}
		result.Err, c.ID = err, decide.Unclaimed // nobody goes on
	}
	// A row that is past this change needs what this call has claimed as little as one that never had it.
	if s.tried == retry.NotApplied && (result.Outcome != retry.Applied || result.Past) || result.Never {
		c.release(ctx)
	}
	if c.Sent && !s.first {
		c.Tokens = nil
	}
	return result
}

// claim reads the tokens of keys that will be given up before the swap, so that the claim of a later write for the same
// entity, which may want the key back, is not mistaken for the one that is to be freed.
func (c *Change) claim(ctx context.Context) error {
	for _, key := range c.Releases {
		claim, _, err := decide.Try(ctx, c.Store, key.Read)
		if err != nil && !errors.Is(err, ErrOwnerless) { // such a claim is not this entity's, and stays
			return err
		}
		if claim.Owner != key.Self() {
			claim.Token = gocql.UUID{}
		}
		c.Tokens = append(c.Tokens, claim.Token)
	}
	c.held = make([]holding, len(c.Claims))
	for i, key := range c.Claims {
		c.held[i].key = key
	}
	if c.adopt() {
		return nil
	}
	if err := c.renew(ctx); err != nil || c.ID != decide.Unclaimed {
		return err
	}
	return errEarlier
}

// adopt goes on with what was Held, and says whether there was anything. The swap of an insert has no version as its
// condition at first, so it needs no newer claims.
func (c *Change) adopt() bool {
	held := c.Held
	c.Held = nil
	if len(held) == 0 || len(held) != len(c.held) {
		return false
	}
	for i := range held {
		c.held[i].Held = held[i]
	}
	return true
}

// keep leaves the claims for a Change with a later version.
func (c *Change) keep(result Result) Result {
	for _, h := range c.held {
		result.Behind = h.Token
		c.Held = append(c.Held, h.Held)
	}
	result.Behind = later(result.Behind, c.met)
	c.ID = decide.Claimed
	return result
}

// fences is the timestamp from which on the fence of a delete stops an insert. The version of one that is Claimed is
// later than its claims, and a fence between these may be of another entity's write, which has taken the ID.
func (c *Change) fences() int64 {
	switch {
	case c.ID != decide.Claimed:
		return entity.Timestamp(c.Swap.Version)
	case c.Sent || len(c.Held) == 0:
		return 0 // it is not known when the claims were made
	}
	return entity.Timestamp(c.Held[0].Token)
}

// renew gives every claim a new token. A claim of the ID that was lost may have been another entity's.
func (c *Change) renew(ctx context.Context) error {
	lost := false
	for i := range c.held {
		var taken *TakenError // which says it
		if err := c.held[i].claim(ctx, c); errors.As(err, &taken) {
			return err
		} else if err != nil { // the results of a write list only tables with rows of the entity
			return fmt.Errorf("%s: %w", c.held[i].key, err)
		}
		lost = lost || c.held[i].lost
	}
	if c.ID == decide.Claimed && lost {
		return errEarlier
	}
	return nil
}

// Finish says in the row that the query tables have the change. It gives up the keys that the row no longer has, if
// their Tokens are known. What fails of it is done by whoever meets it next.
func (c *Change) Finish(ctx context.Context) {
	_ = finish(ctx, c.Store, c.Swap.After != nil, entity.Pending{Version: c.Swap.Version, Keys: c.Swap.Keys})
	for i, token := range c.Tokens {
		if token != (gocql.UUID{}) {
			free(ctx, c.Store, c.Releases[i], token)
		}
	}
}
