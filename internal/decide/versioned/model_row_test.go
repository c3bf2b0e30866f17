package versioned_test

import (
	"fmt"
	"slices"

	"github.com/denorm-go/denorm/internal/cassandra/merge"
	"github.com/denorm-go/denorm/internal/decide/versioned"
	"github.com/gocql/gocql"
)

// columns of an entity. They are never changed once they are in a row.
type columns struct {
	places [2]uint8 // its key in each of the query tables, 0: it is not in that table
	keys   [2]uint8 // its key in each of the unique tables, 0: none
	count  int      // what each update adds 1 to
}

// entry is that of pending: where the row was.
func (c *columns) entry() []byte {
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
// be applied is what stands there; but pending is also written by plain deletes, which have timestamps of their own.
type row struct {
	version gocql.UUID
	expires int64 // when version becomes null, 0: never
	columns *columns
	pending []entry
	ballot  int64
	applied []gocql.UUID
}

// entry is an element of pending.
type entry struct {
	version gocql.UUID
	keys    []byte
	written int64 // ballot
	cleared int64 // the largest timestamp of a delete that a quorum has
	partial int64 // of one that fewer have: some reads see it
}

func (r *row) reset() {
	*r = row{pending: r.pending[:0], applied: r.applied[:0], ballot: merge.NoTimestamp}
}

func (r *row) current(now int64) gocql.UUID {
	if r.expires != 0 && now >= r.expires {
		return gocql.UUID{}
	}
	return r.version
}

// visible are the entries that a read at a quorum sees.
func (w *world) visible(r *row) []entry {
	var out []entry
	for _, e := range r.pending {
		if e.written > max(e.cleared, e.partial) || e.written > e.cleared && w.chance(512) {
			out = append(out, e)
		}
	}
	return out
}

func (r *row) entry(version gocql.UUID) *entry {
	i := slices.IndexFunc(r.pending, func(e entry) bool { return e.version == version })
	if i < 0 {
		i = len(r.pending)
		const never = merge.NoTimestamp
		r.pending = append(r.pending, entry{version: version, written: never, cleared: never, partial: never})
	}
	return &r.pending[i]
}

// swap is the transaction of a Swap.
func (w *world) swap(e int, s versioned.Swap) versioned.Reply {
	r := &w.rows[e]
	pending := w.visible(r)
	reply := versioned.Reply{Version: r.current(w.now)}
	for _, p := range pending {
		reply.Pending = append(reply.Pending, p.version)
	}
	if reply.Version != s.Before || len(pending) > 0 {
		w.coverage.unfinished = w.coverage.unfinished || reply.Version == s.Before
		return reply
	}
	after, _ := s.After.(*columns)
	if r.columns == nil && after != nil && s.Before != (gocql.UUID{}) {
		w.coverage.over = true
	}
	w.judge(e, r, after, s)
	r.ballot = max(w.now, r.ballot+1)
	r.version, r.columns, r.expires = s.Version, after, 0
	if after == nil {
		r.expires = w.now + w.plan.fenceTTL()
	}
	if !w.plan.bare && (!w.lean || after != nil || s.Keys != nil) {
		p := r.entry(s.Version)
		p.keys, p.written = s.Keys, r.ballot
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

// clearEntry is the delete of an entry of pending.
func (w *world) clearEntry(e int, version gocql.UUID, timestamp int64, partial bool) {
	p := w.rows[e].entry(version)
	if partial {
		p.partial = max(p.partial, timestamp)
		return
	}
	p.cleared = max(p.cleared, timestamp)
}

// put and remove write a query table.
func (w *world) put(table, e int, c *columns, timestamp int64) {
	r := w.tables[table].Row([]byte{c.places[table], byte(e)})
	r.Mark(merge.Liveness{Timestamp: timestamp})
	r.Set(0, merge.Cell{Timestamp: timestamp, Value: c.value()})
}

func (w *world) remove(table, e int, place uint8, timestamp int64) {
	w.tables[table].Row([]byte{place, byte(e)}).Delete(timestamp)
}
