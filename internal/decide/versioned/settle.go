package versioned

import (
	"context"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// Result says what has become of a swap. The zero value is one of which nothing is known.
type Result struct {
	// Outcome is Applied, Unknown or NotApplied, which is a promise: the swap has not changed the row, and no attempt that
	// is still under way will.
	Outcome retry.Outcome
	// Never says, with NotApplied, that earlier calls have not changed the row either.
	Never bool
	// Past says, with Applied, that other changes have followed, so all query tables have had this one.
	Past bool
	// Conflict says that another write was first, and Row is what it has left, the zero Row if it could not be read. If
	// the outcome is then Unknown, the row may have had this write's version in between.
	Conflict bool
	Row      Row
	// Behind is not zero if an insert has met the fence of a delete that is not older than its own version: the rows
	// in the query tables would be covered by their tombstones. Or it is a claim that its version has to follow, see
	// [Change.ID]. The outcome is NotApplied; the insert is to be begun again with a version above this one.
	Behind gocql.UUID
	// Err is why the outcome is not Applied, where a conflict or a fence does not say it.
	Err error
}

// rounds bounds how often a change begins again because of what it has met. Each time it was another writer's progress.
const rounds = 8

// Settle carries out a compare-and-set, and finishes what it finds unfinished on its way: it sends the swap again while
// the answer is not known or while nothing but an unfinished write prevents it.
//
// An insert, whose Before is zero, is also carried out over the fence of a delete; before it is sent with the fence
// as its condition, renew is called, and an error of it ends the insert. Claims of unique keys need
// that: see [Change].
func Settle(ctx context.Context, store Store, swap Swap, insert bool, renew func(context.Context) error) Result {
	s := settlement{
		store: store, swap: swap, renew: renew, tried: retry.NotApplied, fences: entity.Timestamp(swap.Version),
	}
	return s.settle(ctx, insert)
}

// settlement is a swap under way.
type settlement struct {
	store Store
	swap  Swap
	renew func(context.Context) error
	sent  bool          // an earlier call may have sent the swap
	tried retry.Outcome // Unknown if some attempt of this call may have been applied, or may yet be; else NotApplied
	mixed bool          // not all attempts that may have been applied had the same Before
	first bool          // the swap was applied by this call: until then the row had Before

	fences int64 // an insert is not sent over a fence that is not before this timestamp
}

func (s *settlement) settle(ctx context.Context, insert bool) Result {
	store, swap := s.store, s.swap
	for range rounds {
		if err := ctx.Err(); err != nil {
			return s.stop(ctx, err)
		}
		reply, err := s.send(ctx)
		switch {
		case err != nil:
			return s.stop(ctx, err)
		case reply.Applied:
			s.first = true
			return Result{Outcome: retry.Applied}
		case reply.Version == swap.Version:
			return Result{Outcome: retry.Applied}
		case reply.Err != nil:
			return s.stop(ctx, reply.Err)
		}
		row, _, err := decide.Try(ctx, store, store.Read)
		switch {
		case reply.Version != s.swap.Before && !insert:
			return s.conflict(ctx, row, err)
		case err != nil:
			return s.ended(err)
		case row.has(swap.Version):
			return s.applied(row)
		case insert && row.Present:
			return s.conflict(ctx, row, nil)
		}
		if fence := row.Current(); insert && entity.Timestamp(fence) >= s.fences {
			return s.behind(fence, row)
		}
		if err := RollForward(ctx, store, row); err != nil {
			return s.ended(err)
		}
		s.swap.Finished = row.Live() && row.Version == s.swap.Before
		if insert {
			// A fence becomes the condition of the insert. The claims are renewed even if it has expired meanwhile: whoever has
			// set it may have been after one of them.
			s.mixed = s.mixed || s.tried != retry.NotApplied && s.swap.Before != row.Version
			s.swap.Before = row.Version
			if err := s.renew(ctx); err != nil {
				return s.ended(err)
			}
		}
	}
	return s.stop(ctx, decide.ErrRounds)
}

func (s *settlement) applied(row Row) Result { // by an earlier attempt
	return Result{Outcome: retry.Applied, Past: row.Current() != s.swap.Version}
}

func (s *settlement) send(ctx context.Context) (Reply, error) {
	reply, failed, err := decide.Try(ctx, s.store, func(ctx context.Context) (Reply, error) {
		return s.store.Swap(ctx, s.swap)
	})
	s.tried = s.tried.Then(failed)
	return reply, err
}

// outcome of a swap that was not seen to be applied. After an attempt of which nothing is known a rejected one proves
// nothing: the first may have been applied and overwritten, or be applied later.
func (s *settlement) outcome() retry.Outcome {
	if s.sent {
		return retry.Unknown
	}
	return s.tried
}

// lost says whether a row shows that another change has followed Before, so that this one was not applied and never
// will be. Of an update or delete Before is a version, and a row has that once. An insert's Before, no row or a deleted
// one, comes again when the version of a deleted row expires. That is longer than this call and its attempts take, and
// what earlier calls have sent is not known.
func (s *settlement) lost(row Row) bool {
	if s.swap.Live {
		return row.Recent.Missed(s.swap.Before, s.swap.Version, row.Version)
	}
	first, before := row.Recent.First()
	return !s.sent && !s.mixed && first != (gocql.UUID{}) && first != s.swap.Version && before == s.swap.Before
}

// ended is the end of a swap without another look at the row.
func (s *settlement) ended(err error) Result { return Result{Outcome: s.outcome(), Err: err} }

// stop ends a swap that an error has ended. If it may have been applied, the row may say.
func (s *settlement) stop(ctx context.Context, err error) Result {
	if s.outcome() == retry.NotApplied || ctx.Err() != nil {
		return s.ended(err)
	}
	row, _, failed := decide.Try(ctx, s.store, s.store.Read)
	switch {
	case failed == nil && row.has(s.swap.Version):
		return s.applied(row)
	case failed == nil && s.lost(row):
		return s.conflict(ctx, row, nil)
	}
	return s.ended(err)
}

// look ends a swap that must not be sent any more: the row says whether it was applied.
func (s *settlement) look(ctx context.Context) Result {
	row, _, err := decide.Try(ctx, s.store, s.store.Read)
	if err != nil {
		return s.ended(err)
	}
	result := s.conflict(ctx, row, nil)
	if result.Conflict && !row.Present {
		result.Err = errUnseen
	}
	return result
}

// conflict ends a swap that another write has forestalled, err being why its row could not be read. If that write is
// unfinished it is finished, as its client may be gone; should that fail, the next one to meet it does it.
func (s *settlement) conflict(ctx context.Context, row Row, err error) Result {
	out := Result{Outcome: s.outcome(), Conflict: true, Row: row, Err: err}
	switch {
	case err != nil:
		out.Row = Row{}
		return out
	case row.has(s.swap.Version):
		return s.applied(row)
	case s.lost(row):
		out.Outcome, out.Never = retry.NotApplied, true
	}
	_ = RollForward(ctx, s.store, row)
	return out
}

// behind ends an insert below a fence. If it may have been applied, that fence may be the delete of what it inserted.
func (s *settlement) behind(fence gocql.UUID, row Row) Result {
	if s.outcome() == retry.Unknown {
		return Result{Conflict: true, Row: row}
	}
	return Result{Outcome: retry.NotApplied, Behind: fence}
}
