package versioned_test

import (
	"github.com/denorm-go/denorm/internal/decide/versioned"
)

// modelPlan says how a model differs from the real protocol. The zero value does not.
type modelPlan struct {
	ttl   int64                                 // of fences, 0: fenceTTL
	age   int64                                 // of an insert that is sent again, 0: kept
	keys  int                                   // of the unique table that are asked for, 0: as drawn
	exact bool                                  // a change that comes from the queue after "not applied" counts as not sent
	bare  bool                                  // swaps leave nothing in pending
	clear func(version, clock int64) int64      // timestamp of the delete of an entry, nil: ahead of both
	store func(versioned.Store) versioned.Store // what changes and reads work on
	base  func(versioned.Store) versioned.Store // what claimers fence
	key   func(*key) versioned.Key              // what claims work on

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
