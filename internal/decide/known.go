package decide

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/internal/period"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
)

// Known is what is known of a decision. If it is not Applied, either Conflict and Err say why, or Err alone.
type Known struct {
	Outcome retry.Outcome
	// Never says, with NotApplied, that no attempt of any call was applied or will be.
	Never bool
	// Past says, with Applied, that the tables that follow the base row have had the change, and others since.
	Past bool
	// Conflict says that another write was first. With Unknown, a lost attempt of this one may have been applied before
	// that.
	Conflict bool
	Taken    *entity.Claim // with Conflict: the key that another entity has
	Current  any           // with Conflict: the row as it is, nil without a row or if it was not read
	Err      error         // why it is not Applied
	// with Conflict: the timestamp of what an insert has met, a deleted row or its own claim: it has to be planned again
	// above it
	Above int64
	Held  []Held // with Above: the keys that it has claimed, for what is planned again
	// of keys that are given up, as they were before the decision was first sent; none if that was another process
	Tokens   []gocql.UUID
	ID       IDClaim
	Attempts int // requests, in earlier calls too
	Sent     int // of this call
}

// Held is a claim of a unique key that a write has made. Alone says that no other write can rely on it.
type Held struct {
	Token gocql.UUID
	Alone bool
}

// IDClaim is what is known of an insert whose entity has an ID that is not all of the base key. An entity that had the
// ID before has another base row, so only the claim of the ID says that it is gone.
type IDClaim uint8

// What is known of it.
const (
	// NoIDClaim is of all other changes, and of inserts whose time the caller gives.
	NoIDClaim IDClaim = iota
	// Unclaimed: the version is not known to be later than the claim, or the claim may be gone. The change is not sent.
	Unclaimed
	// Claimed: the version was made after the claim, and this write has not given that back. Whoever took the ID since
	// then has left the fence of a delete in the base row.
	Claimed
)

// Errors of decisions.
var (
	ErrInvalid = errors.New("invalid")
	ErrTaken   = errors.New("taken by another entity")
	ErrChanged = errors.New("another write came first: the row is not what the before-image says")
	ErrExists  = errors.New("the entity exists already")
	ErrGone    = errors.New("the entity does not exist: it was deleted meanwhile, or never inserted")
	// ErrRounds ends a decision that has met other writers' changes so often that it has given up.
	ErrRounds = errors.New("other writers changed the entity again in each round: try again later, or with fewer " +
		"writers of it")
)

// TakenError is that another entity has a key in a table.
func TakenError(table string) error { return fmt.Errorf("%w: table %s", ErrTaken, table) }

// ConflictError says that the condition of one of several changes did not hold, and whether there is a row.
func ConflictError(i int, parts []*entity.Conditional, exists bool) error {
	err := ErrChanged
	switch {
	case !exists:
		err = ErrGone
	case parts[i].Condition.Kind == entity.Insert:
		err = ErrExists
	}
	if len(parts) == 1 {
		return err
	}
	return fmt.Errorf("change %d of the %d with conditions: %w", i+1, len(parts), err)
}

// ImageError says in which column a row differs from the before-image that has its version, nil if in none.
func ImageError(base *entity.Base, row entity.Row) error {
	column := base.Differing(row)
	if column == "" {
		return nil
	}
	keyspace, table, _ := base.Place()
	return fmt.Errorf("%w: the before-image has the version in %s.%s, and another %s: pass the row as it was read; if "+
		"it is, other code writes the table",
		ErrInvalid, keyspace, table, column)
}

// Make makes the decision, if it is not Applied yet, by requests that may outlive the call, and says what is known of
// it then.
func (d *Decision) Make(ctx context.Context, env *Env, earlier Known) Known {
	if earlier.Outcome == retry.Applied {
		return earlier
	}
	if d.Conclude != nil {
		env.Ends.Wait(ctx, d.Row())
	}
	known, err := fanout.Detached(ctx, func() (Known, error) { return d.traced(ctx, env, earlier), nil })
	switch {
	case errors.Is(err, fanout.ErrUnbegun):
		known = Known{
			Outcome: retry.NotApplied, Err: err, ID: earlier.ID.left(earlier.Outcome), Held: earlier.Held,
		}
		d.GiveUp(ctx, env, &known)
	case err != nil:
		known = Known{Outcome: retry.Unknown, Err: err, ID: earlier.ID.left(earlier.Outcome)}
	}
	if !known.Never {
		known.Outcome = earlier.Outcome.Then(known.Outcome)
	}
	known.Err = request.MarkRefused(period.Explain(fanout.WrapTimeout(ctx, known.Err), d.PlaceOf))
	if known.Tokens == nil {
		known.Tokens = earlier.Tokens
	}
	known.Sent = int(env.Sent.Load())
	known.Attempts = earlier.Attempts + known.Sent
	switch {
	case known.Outcome == retry.Applied:
		known.Conflict, known.Err, known.Above = false, nil, 0
	case known.Above > env.Now().Add(env.Skew).UnixMicro():
		d.GiveUp(ctx, env, &known)
		known.Above, known.Err = 0, fmt.Errorf(
			"the entity was deleted, or its ID claimed, by a clock more than %v ahead of this one: check the clocks of all "+
				"hosts", env.Skew)
	case known.Err == nil:
		known.Err = ErrChanged
	}
	return known
}

// left is what is known after a call that has not said what it did, by the outcome before it: a first call may have
// given the claim back, or may yet do so.
func (c IDClaim) left(outcome retry.Outcome) IDClaim {
	if outcome == retry.NotApplied {
		return min(c, Unclaimed)
	}
	return c
}

// GiveUp gives back what was claimed for a plan that is not carried out, so that known does not say Claimed any more.
func (d *Decision) GiveUp(ctx context.Context, env *Env, known *Known) {
	if len(known.Held) == 0 {
		return
	}
	if d.Abandon != nil {
		d.Abandon(ctx, env, d, *known)
	}
	known.Held, known.ID = nil, min(known.ID, Unclaimed)
}

// reasonConflict is what a tracer is told of a condition that did not hold.
const reasonConflict = "conflict"

// traced makes the decision. A tracer is told of it as if it were one request.
func (d *Decision) traced(ctx context.Context, env *Env, earlier Known) Known {
	if env.Tracer.Requests() {
		start := session.RequestStart{ // a statement with IF is not idempotent
			Op: env.Op, Mode: d.Mode, Keyspace: d.First().Keyspace, Tables: d.Names(d), Statements: d.Texts(d),
			Consistency: session.Consistency(d.First().Base().Set.Level(env.Consistency)),
		}
		ctx = env.Tracer.TraceRequestStart(ctx, start)
	}
	known := d.Decide(ctx, env, d, earlier)
	end := session.RequestEnd{Outcome: known.Outcome, Attempts: int(env.Sent.Load())}
	switch {
	case known.Outcome == retry.Applied || known.Err == nil:
	case known.Held != nil: // no other write was in the way: it is planned again
	case known.Conflict:
		end.Err, end.Reason = known.Err, reasonConflict
	default:
		end.Err, end.Reason = known.Err, retry.Classify(known.Err, retry.Swap).Reason
	}
	env.Tracer.TraceRequestEnd(ctx, end)
	return known
}
