package versioned

import (
	"context"
	"errors"
	"fmt"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/fanout"
	"github.com/denorm-go/denorm/retry"
)

// Protocol is this kind of decision.
var Protocol = decide.Protocol{
	Mode:     "conditional",
	Versions: true,
	Followed: true,
	Unmet:    "if the row is not the one that was read",
	Join:     join,
	Texts:    decide.ConditionTexts,
	Names:    decide.BaseTable,
	Decide:   commit,
	Conclude: conclude,
	Abandon:  abandon,
}

// join says that two changes cannot be decided together.
func join(first, next *entity.Conditional) error {
	if err := decide.OneTable(first, next); err != nil {
		return err
	}
	return fmt.Errorf("two entities %s in one write: in a Versioned set each has a transaction of its own; %s",
		first.Condition.Entity, decide.Apart)
}

// commit claims the keys of a change and carries out its transaction.
func commit(ctx context.Context, env *decide.Env, d *decide.Decision, earlier decide.Known) decide.Known {
	c, cond := d.Parts[0], d.First()
	change := &Change{
		Store: NewBase(env, cond.Base()), Insert: cond.Kind == entity.Insert, Grace: env.Grace, Next: env.NewVersion,
		Sent:   earlier.Outcome == retry.Unknown,
		ID:     earlier.ID,
		Held:   earlier.Held,
		Swap:   swapOf(cond),
		Claims: keysOf(env, cond.Base(), c.Claims), Releases: keysOf(env, cond.Base(), c.Releases),
	}
	result := change.Commit(ctx)
	known := decide.Known{
		Outcome: result.Outcome, Never: result.Never, Past: result.Past, Err: result.Err,
		Conflict: result.Conflict || errors.Is(result.Err, errEarlier), Tokens: change.Tokens,
		ID: change.ID,
	}
	if change.left {
		atEnd(ctx, env, d, change, (*Change).release)
	}
	var taken *TakenError
	if errors.As(result.Err, &taken) {
		known.Conflict = true
		if key, ok := taken.Key.(*UniqueKey); ok {
			known.Taken, known.Err = key.Claim, decide.TakenError(key.Table)
		}
	}
	if result.Behind != (gocql.UUID{}) {
		known.Conflict, known.Above, known.Held = true, entity.Timestamp(result.Behind), change.Held
	}
	if known.Conflict && known.Err == nil {
		known.Err = decide.ConflictError(0, d.Parts, result.Row.Present)
	}
	if row, ok := result.Row.Columns.(*entity.Row); ok {
		row.Version = result.Row.Current()
		known.Current, _ = d.First().Base().Decode(*row)
	}
	return known
}

// swapOf is the compare-and-set of a condition.
func swapOf(c *entity.Condition) Swap {
	s := c.Swap()
	out := Swap{Before: s.Before, Live: s.Live, Version: s.Version, Keys: s.Keys}
	if s.After != nil {
		out.After = s.After
	}
	return out
}

// conclude says in the row that the query tables have the change, and gives up keys. Nobody waits for it, unless the
// change gives up unique keys: others may want these at once.
func conclude(ctx context.Context, env *decide.Env, d *decide.Decision, known decide.Known) {
	// Where the tokens of the keys that are given up are not known, these are left to whoever claims them next.
	base := d.First().Base()
	change := &Change{
		Store: NewBase(env, base), Swap: swapOf(d.First()), Releases: keysOf(env, base, d.Parts[0].Releases),
		Tokens: known.Tokens,
	}
	if len(change.Releases) == 0 && atEnd(ctx, env, d, change, (*Change).Finish) {
		return
	}
	_, _ = fanout.Detached(ctx, func() (struct{}, error) {
		change.Finish(ctx)
		return struct{}{}, nil
	})
}

// abandon gives back the keys that an insert has claimed for a plan that is not carried out.
func abandon(ctx context.Context, env *decide.Env, d *decide.Decision, known decide.Known) {
	base := d.First().Base()
	change := &Change{Store: NewBase(env, base), Claims: keysOf(env, base, d.Parts[0].Claims)}
	for i, held := range known.Held {
		change.held = append(change.held, holding{key: change.Claims[i], Held: held})
	}
	atEnd(ctx, env, d, change, (*Change).release)
}

// atEnd does a last step of a change as one of the ends: the next change of the entity waits for it. It says whether
// there is room for it. Where there is none to give keys back, the next one to want such a key takes it.
func atEnd(ctx context.Context, env *decide.Env, d *decide.Decision, change *Change,
	step func(*Change, context.Context),
) bool {
	end, ok := env.Ends.Begin(d.Row())
	if !ok {
		return false
	}
	go func() {
		defer end()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), env.Timeout)
		defer cancel()
		step(change, ctx)
	}()
	return true
}

// keysOf are keys on behalf of the entity of own.
func keysOf(env *decide.Env, own *entity.Base, claims []*entity.Claim) []Key {
	keys := make([]Key, len(claims))
	for i, c := range claims {
		keys[i] = NewKey(env, c, own, func(owner *entity.Base) Store {
			base := NewBase(env, owner)
			base.claimed = c.Table
			return base
		})
	}
	return keys
}
