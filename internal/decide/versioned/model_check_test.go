package versioned_test

import (
	"errors"
	"slices"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/decide/versioned"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// conclude lets the network come to rest, reads every entity once as anybody would, and then holds the world to its
// promises.
func (w *world) conclude() {
	w.advance(delay)
	w.logf("quiescence")
	w.judgeCalls()
	p := w.processes[0]
	p.reset(0, 0)
	p.calm = true
	old := w.chance(256)
	if old {
		w.advance(2 * fenceTTL)
	}
	w.chaos.stale = 0
	for e := range w.rows {
		w.settle(p, e)
		if r := &w.rows[e]; old && r.columns == nil && (r.current(w.now) != gocql.UUID{} || r.pending != nil ||
			r.done.value != gocql.UUID{} || w.now < r.forgets) {
			w.failf("entity %d is deleted and its row does not vanish", e)
		}
	}
	if w.plan.repair != nil && w.plan.repair.damage {
		w.repairAll(p)
	}
	if w.plan.reclaim != nil && w.plan.reclaim.lose {
		w.reclaimAll(p)
		return
	}
	w.judgeTables()
	if w.plan.id != nil {
		return
	}
	for e := range w.rows {
		w.rewrite(p, e)
	}
	w.judgeTables()
	if w.unique == 0 || w.wrong != "" {
		return
	}
	w.advance(grace + 4*skew)
	for k := uint8(1); k <= keys; k++ {
		w.reclaim(p, w.rand.IntN(2), k)
	}
	w.judgeTables()
}

// settle rolls forward until nothing is left to be done. What a minority says is done is said again when it is not
// seen.
func (w *world) settle(p *process, e int) {
	for range 8 {
		if err := versioned.RollForward(p, p.store(e), w.read(e)); err != nil {
			w.failf("entity %d: %v", e, err)
		}
	}
	row := w.read(e)
	if err := versioned.RollForward(p, p.store(e), row); err != nil || row.Unfinished() && w.read(e).Unfinished() {
		w.failf("entity %d stays unfinished: %v", e, err)
	}
}

// judgeCalls holds what was reported to what has happened, now that nothing more can.
func (w *world) judgeCalls() {
	quiet := w.chaos == chaos{}
	for _, c := range w.calls {
		if !c.ended {
			continue
		}
		applied := slices.Contains(w.rows[c.entity].applied, c.version)
		r := &c.result
		switch {
		case r.Outcome == retry.Applied && !applied:
			w.failf("client %d: %s %s of %d is reported applied and was not", c.process, c.kind, short(c.version), c.entity)
		case r.Outcome == retry.NotApplied && c.resumed && !r.Never && !w.plan.exact:
			w.failf("client %d: %s %s of %d is resumed and reported not applied", c.process, c.kind, short(c.version), c.entity)
		case r.Outcome == retry.NotApplied && applied && (r.Never || c.resumed || c.stored.deliveries == 0):
			w.failf("client %d: %s %s of %d is reported not applied and was", c.process, c.kind, short(c.version), c.entity)
		case quiet && r.Outcome == retry.Unknown && !c.resumed:
			w.failf("client %d: %s %s of %d is unknown without any fault: %v", c.process, c.kind, short(c.version), c.entity,
				r.Err)
		case quiet && r.Outcome == retry.NotApplied && !r.Conflict && r.Behind == (versioned.Result{}.Behind) &&
			!errors.Is(r.Err, versioned.ErrTaken) && !errors.Is(r.Err, decide.ErrRounds):
			w.failf("client %d: %s %s of %d fails without any fault: %v", c.process, c.kind, short(c.version), c.entity, r.Err)
		}
	}
}

// judgeTables wants every query table to be the projection of the base rows.
func (w *world) judgeTables() {
	for t, table := range w.tables {
		rows := 0
		for e := range w.rows {
			c := w.rows[e].columns
			if c == nil || c.places[t] == 0 {
				continue
			}
			rows++
			got := table.Row(w.place(c.places[t], e)).Value(0, 0)
			if !slices.Equal(got, c.value()) {
				w.failf("table %d: entity %d is %s, the row is %v", t, e, c, got)
			}
		}
		for r := range table.Visible(0) {
			if rows--; rows < 0 {
				w.failf("table %d: a ghost, among others under %q", t, r.Key())
				return
			}
		}
		if rows > 0 {
			w.failf("table %d: %d rows are missing", t, rows)
		}
	}
}

// rewrite wants the entity to be as good as new.
func (w *world) rewrite(p *process, e int) {
	c := w.rows[e].columns
	if c == nil {
		w.want(retry.Applied, e, p.insert(e, p.next(0), &columns{places: [2]uint8{1, 2}, count: 1}))
		return
	}
	after := *c
	after.places[0], after.count = 1+c.places[0]%3, c.count+1
	w.want(retry.Applied, e, p.replace(e, image{true, w.rows[e].version, c}, &after))
}

// reclaim wants a key that no base row has to be free for either entity, and one that a base row has to be taken.
func (w *world) reclaim(p *process, u int, k uint8) {
	holder := slices.IndexFunc(w.rows[:], func(r row) bool { return r.columns != nil && r.columns.keys[u] == k })
	e := w.rand.IntN(entities)
	want := retry.Applied
	if holder >= 0 {
		e, want = 1-holder, retry.NotApplied
	} else if o := w.claims[u][k].Owner; o != "" && w.chance(768) {
		w.coverage.leaked = true
		if o == owner(e) {
			e = 1 - e
		}
	}
	after := *w.rows[e].columns
	after.keys[u] = k
	after.count++
	result := p.replace(e, image{true, w.rows[e].version, w.rows[e].columns}, &after)
	w.want(want, e, result)
	if want == retry.NotApplied && !errors.Is(result.Err, versioned.ErrTaken) {
		w.failf("key %d is entity %d's, but not for %d: %v", k, holder, e, result.Err)
	}
}

func (w *world) want(want retry.Outcome, e int, r versioned.Result) {
	if r.Outcome != want {
		w.failf("entity %d, without any fault: %s", e, tell(&r))
	}
}

// coverage is what a run has met. A model in which something never happens proves nothing about it.
type coverage struct {
	crash, delayed, stale, unfinished, over, expired, behind, evicted, leaked, resumed, twice, together, never bool

	applied, notApplied, unknown, conflict, doubtful, taken bool
}

func (c *coverage) note(r *versioned.Result) {
	c.applied = c.applied || r.Outcome == retry.Applied
	c.notApplied = c.notApplied || r.Outcome == retry.NotApplied
	c.unknown = c.unknown || r.Outcome == retry.Unknown
	c.conflict = c.conflict || r.Conflict
	c.doubtful = c.doubtful || r.Conflict && r.Outcome == retry.Unknown
	c.taken = c.taken || errors.Is(r.Err, versioned.ErrTaken)
}

// coverageNames are the fields of coverage, and in how many runs of a thousand each must be.
var coverageNames = []struct {
	name  string
	least int
	of    func(*coverage) bool
}{
	{"a client crashes", 200, func(c *coverage) bool { return c.crash }},
	{"a request is delayed", 200, func(c *coverage) bool { return c.delayed }},
	{"a read or a rejected swap sees an earlier row", 100, func(c *coverage) bool { return c.stale }},
	{"a swap meets another's unfinished write", 100, func(c *coverage) bool { return c.unfinished }},
	{"an insert goes over a fence", 50, func(c *coverage) bool { return c.over }},
	{"a fence has expired while something is pending", 1, func(c *coverage) bool { return c.expired }},
	{"an insert is behind a fence", 1, func(c *coverage) bool { return c.behind }},
	{"a claim is taken from another entity", 20, func(c *coverage) bool { return c.evicted }},
	{"a claim has leaked", 10, func(c *coverage) bool { return c.leaked }},
	{"a change is resumed", 50, func(c *coverage) bool { return c.resumed }},
	{"a change is resumed again", 20, func(c *coverage) bool { return c.twice }},
	{"a change is resumed by two at the same time", 1, func(c *coverage) bool { return c.together }},
	{"a resumed change is known never to be applied", 10, func(c *coverage) bool { return c.never }},
	{"a change is applied", 900, func(c *coverage) bool { return c.applied }},
	{"a change is not applied", 300, func(c *coverage) bool { return c.notApplied }},
	{"an outcome is unknown", 100, func(c *coverage) bool { return c.unknown }},
	{"a conflict", 200, func(c *coverage) bool { return c.conflict }},
	{"a conflict of unknown outcome", 10, func(c *coverage) bool { return c.doubtful }},
	{"a key is taken", 50, func(c *coverage) bool { return c.taken }},
}
