package versioned

import (
	"context"
	"errors"
	"slices"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// Result says what has become of a swap. The zero value is one of which nothing is known.
type Result struct {
	// Outcome is Applied, Unknown or NotApplied, which is a promise: the swap has not changed the row, and no attempt that is still under
	// way will.
	Outcome retry.Outcome
	// Conflict says that another write was first, and Row is what it has left, the zero Row if it could not be read. If
	// the outcome is then Unknown, the row may have had this write's version in between.
	Conflict bool
	Row      Row
	// Behind is not zero if an insert has met the fence of a delete that is not older than its own version: the rows
	// in the query tables would be covered by their tombstones. The outcome is NotApplied; the insert is to be begun
	// again with a version above this one.
	Behind gocql.UUID
	// Err is why the outcome is not Applied, where a conflict or a fence does not say it.
	Err error
}

// ErrKept is the error of a change that gave up over an entry of pending that was there in each round, though it had been removed: as
// keys of entries never recur, the clock of the server that made it is further ahead than removals reach.
var ErrKept = errors.New("what an earlier write of the entity left can be removed only when the clocks are right: that of a server is probably " +
	"more than an hour ahead of this machine's")

// rounds bounds how often a change begins again because of what it has met. Each time it was another writer's progress.
const rounds = 8

// Settle carries out a compare-and-set, and finishes what it finds unfinished on its way: it sends the swap again while
// the answer is not known or while nothing but an unfinished write prevents it.
//
// An insert, whose Before is zero, is also carried out over the fence of a delete; before it is sent with the fence
// as its condition, renew is called, and an error of it ends the insert. Claims of unique keys need
// that: see [Change].
func Settle(ctx context.Context, store Store, swap Swap, insert bool, renew func(context.Context) error) Result {
	s := settlement{store: store, swap: swap, renew: renew, tried: retry.NotApplied}
	return s.settle(ctx, insert)
}

// settlement is a swap under way.
type settlement struct {
	store Store
	swap  Swap
	renew func(context.Context) error
	sent  bool          // an earlier call may have sent the swap
	tried retry.Outcome // Unknown if some attempt of this call may have been applied, or may yet be; else NotApplied
	first bool          // the swap was applied by this call: until then the row had Before
}

func (s *settlement) settle(ctx context.Context, insert bool) Result {
	store, swap := s.store, s.swap
	var earlier Row // whose pending was removed
	kept := false   // and was there again
	for range rounds {
		if err := ctx.Err(); err != nil {
			return s.stop(err)
		}
		reply, err := s.send(ctx)
		switch {
		case err != nil:
			return s.stop(err)
		case reply.Applied:
			s.first = true
			return Result{Outcome: retry.Applied}
		case reply.Version == swap.Version || slices.Contains(reply.Pending, swap.Version):
			return Result{Outcome: retry.Applied}
		case reply.Err != nil:
			return s.stop(reply.Err)
		case reply.Version != s.swap.Before && !insert:
			row, _, err := Try(ctx, store, store.Read)
			return s.conflict(ctx, row, err)
		}
		row, _, err := Try(ctx, store, store.Read)
		if err != nil {
			return s.stop(err)
		}
		if row.has(swap.Version) {
			return Result{Outcome: retry.Applied}
		}
		if insert {
			if row.Present {
				return s.conflict(ctx, row, nil)
			}
			if fence := row.Current(); decide.Timestamp(fence) >= decide.Timestamp(swap.Version) {
				return s.behind(fence, row)
			}
		}
		if err := RollForward(ctx, store, row); err != nil {
			return s.stop(err)
		}
		kept = keeps(row, earlier)
		earlier = row
		if insert {
			// A fence becomes the condition of the insert. The claims are renewed even if it has expired meanwhile: whoever has set it may
			// have been after one of them.
			s.swap.Before = row.Version
			if err := s.renew(ctx); err != nil {
				return s.stop(err)
			}
		}
	}
	if kept {
		return s.stop(ErrKept)
	}
	return s.stop(decide.ErrRounds)
}

// keeps says whether the row has an entry of pending that it had earlier.
func keeps(row, earlier Row) bool {
	for v := range row.Pending {
		if _, there := earlier.Pending[v]; there {
			return true
		}
	}
	return false
}

func (s *settlement) send(ctx context.Context) (Reply, error) {
	reply, failed, err := Try(ctx, s.store, func(ctx context.Context) (Reply, error) { return s.store.Swap(ctx, s.swap) })
	s.tried = s.tried.Then(failed)
	return reply, err
}

// outcome of a swap that was not seen to be applied. After an attempt of which nothing is known, neither a rejected one
// nor a read proves anything: it may have been applied and overwritten, or be applied after the read.
func (s *settlement) outcome() retry.Outcome {
	if s.sent {
		return retry.Unknown
	}
	return s.tried
}

func (s *settlement) stop(err error) Result { return Result{Outcome: s.outcome(), Err: err} }

// conflict ends a swap that another write has forestalled, err being why its row could not be read. If that write is
// unfinished it is finished, as its client may be gone; should that fail, the next one to meet it does it.
func (s *settlement) conflict(ctx context.Context, row Row, err error) Result {
	if err != nil {
		return Result{Outcome: s.outcome(), Conflict: true, Err: err}
	}
	if row.has(s.swap.Version) {
		return Result{Outcome: retry.Applied}
	}
	_ = RollForward(ctx, s.store, row)
	return Result{Outcome: s.outcome(), Conflict: true, Row: row}
}

// behind ends an insert below a fence. If it may have been applied, that fence may be the delete of what it inserted.
func (s *settlement) behind(fence gocql.UUID, row Row) Result {
	if s.outcome() == retry.Unknown {
		return Result{Conflict: true, Row: row}
	}
	return Result{Outcome: retry.NotApplied, Behind: fence}
}

// has says whether the row is or was at the version, as far as can be seen.
func (r Row) has(version gocql.UUID) bool {
	_, pending := r.Pending[version]
	return pending || r.Version == version
}
