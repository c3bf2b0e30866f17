package writer

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/denorm-go/denorm/tables"
)

// floors remembers the last timestamp of each entity that was written ahead of the clock, so that a later change of the same entity gets a
// later one. Timestamps of other entities do not move. Its memory is constant. A floor is forgotten when the clock has passed it.
type floors struct {
	latest  atomic.Int64 // of all floors: once the clock has passed it, there is nothing to look up
	mu      sync.Mutex
	buckets []floorBucket // nil until the first floor
}

const (
	floorBuckets   = 512
	floorsInBucket = 8
)

// floorBucket has the floors of entities whose hashes share their last bits.
type floorBucket struct {
	entities [floorsInBucket]struct {
		hash  uint64
		floor int64
	}
	rest int64 // of entities that found no place: a floor of the whole bucket
}

var floorSeed = maphash.MakeSeed()

// hashes names the entities of changes.
func hashes(changes []tables.Change, physical func(string) string) []uint64 {
	all := make([]uint64, 0, len(changes))
	for _, c := range changes {
		if keyspace, table, key := c.Internal().Identity(); key != "" {
			var h maphash.Hash
			h.SetSeed(floorSeed)
			for _, part := range []string{physical(keyspace), table, key} {
				_, _ = h.WriteString(part) // never fails
				_ = h.WriteByte(0)
			}
			all = append(all, h.Sum64())
		}
	}
	return all
}

// above returns the greatest floor of the entities that lies between now and end, or 0. Beyond end a floor is of a clock that has been set back.
func (f *floors) above(entities []uint64, now, end int64) (floor int64) {
	if f.buckets == nil {
		return 0
	}
	live := func(k int64) int64 {
		if k <= now || k > end {
			return 0
		}
		return k
	}
	for _, h := range entities {
		b := &f.buckets[h%floorBuckets]
		floor = max(floor, live(b.rest))
		for _, e := range b.entities {
			if e.hash == h {
				floor = max(floor, live(e.floor))
			}
		}
	}
	return floor
}

// raise sets the floor of the entities.
func (f *floors) raise(entities []uint64, floor, now, end int64) {
	if f.buckets == nil {
		f.buckets = make([]floorBucket, floorBuckets)
	}
	for _, h := range entities {
		f.buckets[h%floorBuckets].raise(h, floor, now, end)
	}
	if latest := f.latest.Load(); floor > latest || latest > end {
		f.latest.Store(floor)
	}
}

// raise takes the place of the entity, or of a floor that no longer counts, or of the lowest, which then is a floor of the whole bucket.
func (b *floorBucket) raise(hash uint64, floor, now, end int64) {
	if b.rest > end {
		b.rest = 0
	}
	least := &b.entities[0]
	for i := range b.entities {
		e := &b.entities[i]
		if e.floor <= now || e.floor > end {
			e.hash, e.floor = 0, 0
		}
		if e.hash == hash {
			e.floor = max(e.floor, floor)
			return
		}
		if e.floor < least.floor {
			least = e
		}
	}
	b.rest = max(b.rest, least.floor)
	least.hash, least.floor = hash, floor
}
