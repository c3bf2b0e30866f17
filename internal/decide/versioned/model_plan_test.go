package versioned_test

import (
	"github.com/denorm-go/denorm/internal/decide/versioned"
	"github.com/denorm-go/denorm/internal/entity"
)

// modelPlan says how a model differs from the real protocol. The zero value does not.
type modelPlan struct {
	ttl   int64 // of fences, 0: fenceTTL
	age   int64 // of an insert that is sent again, 0: kept
	keys  int   // of the unique table that are asked for, 0: as drawn
	exact bool  // a change that comes from the queue after "not applied" counts as not sent
	bare  bool  // swaps do not ask whether the row is finished

	chaos      *chaos                            // of each run, nil: as drawn
	contended  bool                              // each run, not only some
	unlinked   bool                              // versions do not have the slot after their predecessor's
	ownless    bool                              // changes do not write the slot of their writer
	doneBySwap bool                              // transactions write the column done
	dropAny    bool                              // what is pending of a deleted row is dropped, whatever it is
	recent     func(entity.Recent) entity.Recent // what reads see of the column recent, nil: what it is

	store func(versioned.Store) versioned.Store // what changes and reads work on
	base  func(versioned.Store) versioned.Store // what claimers fence
	key   func(*key) versioned.Key              // what claims work on

	id      *idPlan      // the entities have one ID, nil: they have not
	repair  *repairPlan  // nil: nobody repairs
	reclaim *reclaimPlan // nil: nobody claims keys again
}

func (p *modelPlan) kept() int64 {
	if p.age == 0 {
		return kept
	}
	return p.age
}

func (p *modelPlan) fenceTTL() int64 {
	if p.ttl == 0 {
		return fenceTTL
	}
	return p.ttl
}
