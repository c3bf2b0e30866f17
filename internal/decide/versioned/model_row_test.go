package versioned_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/denorm-go/denorm/internal/cassandra/merge"
	"github.com/denorm-go/denorm/internal/decide/versioned"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/gocql/gocql"
)

// columns of an entity. They are never changed once they are in a row.
type columns struct {
	places [2]uint8 // its key in each of the query tables, 0: it is not in that table
	keys   [2]uint8 // its key in each of the unique tables, 0: none
	count  int      // what each update adds 1 to
}

// before is what pending says: where the row was.
func (c *columns) before() []byte {
	if c == nil {
		return nil
	}
	return c.places[:]
}

// value is the row as the query tables have it.
func (c *columns) value() []byte {
	return []byte{c.places[0], c.places[1], c.keys[0], c.keys[1], byte(c.count)}
}

func (c *columns) String() string {
	if c == nil {
		return "absent"
	}
	return fmt.Sprintf("{places %d keys %d count %d}", c.places, c.keys, c.count)
}

// row is a base row. Its cells are written by lightweight transactions, whose ballots rise, so that the last one to
// be applied is what stands there; but done is written by plain writes, which have timestamps of their own.
type row struct {
	version gocql.UUID
	expires int64 // when version becomes null, 0: never
	columns *columns
	pending *entity.Pending
	recent  entity.Recent
	forgets int64 // when recent becomes null, 0: never
	done    cell
	partial cell // of a write of done that fewer than a quorum have: some reads see it
	ballot  int64
	applied []gocql.UUID

	before *row // as it was before the last transaction
}

// cell is a value and the timestamp of its write.
type cell struct {
	value gocql.UUID
	at    int64
}

func (r *row) reset() {
	*r = row{applied: r.applied[:0], ballot: merge.NoTimestamp}
}

// seen is the row as a read at SERIAL or a rejected transaction sees it: with a paxos_variant without linearizable
// reads and rejected writes, sometimes as it was before the last transaction.
func (w *world) seen(r *row) *row {
	if r.before != nil && w.now < r.ballot+delay && w.chance(w.chaos.stale) {
		w.coverage.stale = true
		return r.before
	}
	return r
}

// done is the column as a read at a quorum sees it.
func (w *world) done(r *row) gocql.UUID {
	if r.partial.at > r.done.at && w.chance(512) {
		return r.partial.value
	}
	return r.done.value
}

func (r *row) current(now int64) gocql.UUID {
	if r.expires != 0 && now >= r.expires {
		return gocql.UUID{}
	}
	return r.version
}

// swap is the transaction of a Swap.
func (w *world) swap(e int, s versioned.Swap) versioned.Reply {
	r := &w.rows[e]
	for _, as := range []*row{w.seen(r), r} {
		reply, unfinished := versioned.Reply{Version: as.current(w.now)}, as.pending != nil
		if s.Live {
			unfinished = w.done(as) != s.Before && !s.Finished
		}
		if reply.Version != s.Before || unfinished && !w.plan.bare {
			w.coverage.unfinished = w.coverage.unfinished || reply.Version == s.Before
			return reply
		}
	}
	after, _ := s.After.(*columns)
	if r.columns == nil && after != nil && s.Before != (gocql.UUID{}) {
		w.coverage.over = true
	}
	w.judge(e, r, after, s)
	if w.chaos.stale > 0 {
		before := *r
		before.before, before.recent = nil, maps.Clone(r.recent)
		r.before = &before
	}
	r.ballot = max(w.now, r.ballot+1)
	r.version, r.columns, r.expires = s.Version, after, 0
	if after == nil {
		r.expires = w.now + w.plan.fenceTTL()
	}
	if after != nil || s.Live {
		r.pending = &entity.Pending{Version: s.Version, Keys: s.Keys}
	}
	written, whole := entity.Follow(s.Before, s.Version, s.Live, after == nil)
	if whole {
		r.recent, r.forgets = make(entity.Recent), r.expires
	}
	for _, slot := range written {
		if !w.plan.ownless || slot.Number < 16 {
			r.recent[slot.Number] = slot.Version
		}
	}
	if w.plan.doneBySwap {
		r.done, r.partial = cell{at: r.ballot}, cell{}
	}
	r.applied = append(r.applied, s.Version)
	w.judgeClaims()
	return versioned.Reply{Applied: true}
}

// judge says what must not happen in any history.
func (w *world) judge(e int, r *row, after *columns, s versioned.Swap) {
	switch {
	case slices.Contains(r.applied, s.Version):
		w.failf("entity %d: %s is applied twice", e, short(s.Version))
	case r.columns == nil && after != nil && after.count != 1:
		w.failf("entity %d: %s brings a deleted row back", e, short(s.Version))
	case r.columns != nil && after != nil && *after != *r.columns && after.count != r.columns.count+1:
		w.failf("entity %d: %s loses an update: %s, then %s", e, short(s.Version), r.columns, after)
	}
}

// judgeClaims says whether every unique key that a base row has is claimed for it.
func (w *world) judgeClaims() {
	if w.plan.reclaim != nil && w.plan.reclaim.lose {
		return
	}
	for e := range w.rows {
		c := w.rows[e].columns
		for u := range w.claims {
			if c != nil && c.keys[u] != 0 && w.claims[u][c.keys[u]].Owner != owner(e) {
				w.failf("entity %d has key %d of table %d, the claim is %q's", e, c.keys[u], u, w.claims[u][c.keys[u]].Owner)
			}
		}
	}
}

// put and remove write a query table.
func (w *world) put(table, e int, c *columns, timestamp int64) {
	r := w.tables[table].Row(w.place(c.places[table], e))
	r.Mark(merge.Liveness{Timestamp: timestamp})
	r.Set(0, merge.Cell{Timestamp: timestamp, Value: c.value()})
}

func (w *world) remove(table, e int, place uint8, timestamp int64) {
	w.tables[table].Row(w.place(place, e)).Delete(timestamp)
}

// place is the key of an entity's row in a query table.
func (*world) place(place uint8, e int) []byte {
	if place == sharedPlace {
		return []byte{place}
	}
	return []byte{place, byte(e)}
}
