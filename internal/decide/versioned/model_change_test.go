package versioned_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/decide/versioned"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// operate is one call of a client: it looks at an entity, or remembers it, and changes it.
func (p *process) operate() {
	w, e := p.w, p.w.rand.IntN(entities)
	if w.contended {
		e = 0
	}
	p.deadline = w.now + lifetime
	if w.plan.repair != nil && w.chance(400) {
		p.repair(e)
		return
	}
	if w.plan.reclaim != nil && w.chance(300) {
		p.reclaim(e, 0, 1)
		return
	}
	if w.chance(128) {
		p.skew = -p.skew // the clock is put right, or wrong
	}
	if len(w.queue) > 0 && w.chance(512) {
		p.resume()
		return
	}
	if im := &p.images[e]; !im.known || w.chance(512) {
		row, ok := p.look(e)
		if !ok {
			return
		}
		*im = image{true, row.Version, nil}
		im.columns, _ = row.Columns.(*columns)
	}
	im := p.images[e]
	if w.chance(256) {
		p.wait(struct{}{})
		p.deadline = w.now + lifetime // it has thought before it has called
	}
	n := w.rand.IntN(10)
	if w.contended && w.chance(960) { // it lives long
		n = 9
	}
	switch {
	case im.columns == nil || n == 0:
		version := p.next(0)
		if w.chance(256) && w.plan.id == nil {
			w.tokens++
			version = entity.Version(entity.Timestamp(version)-w.rand.Int64N(w.plan.kept()), w.tokens)
		}
		p.insert(e, version, p.draw(nil))
	case n < 3:
		p.replace(e, im, nil)
	default:
		p.replace(e, im, p.draw(im.columns))
	}
}

// look reads an entity, and like any reader it may finish what it finds unfinished.
func (p *process) look(e int) (row versioned.Row, ok bool) {
	s := p.store(e)
	_, err := s.Try(p, func(ctx context.Context) error {
		var err error
		row, err = s.Read(ctx)
		return err
	})
	if err == nil && p.w.chance(256) {
		_ = versioned.RollForward(p, s, row)
	}
	return row, err == nil
}

// draw is the row of an insert, or what an update makes of one.
func (p *process) draw(before *columns) *columns {
	w, c := p.w, &columns{count: 1}
	if before != nil {
		*c = *before
		c.count++
	}
	for t := range c.places {
		if before == nil || w.chance(512) {
			c.places[t] = uint8(w.rand.IntN(4))
		}
	}
	for u := range c.keys {
		if w.unique > 0 && (before == nil || w.chance(512)) {
			c.keys[u] = uint8(w.rand.IntN(w.unique + 1))
		}
	}
	if w.plan.id != nil {
		c.places[1], c.keys[0] = sharedPlace, sharedKey
	}
	return c
}

// insert begins again when it is behind a fence, and once it has claimed its ID.
func (p *process) insert(e int, version gocql.UUID, c *columns) versioned.Result {
	var held []decide.Held
	for {
		what := &stored{e: e, kind: "insert", swap: versioned.Swap{Version: version, After: c}, after: c}
		what.id, what.held = p.w.plan.id.begin(held), held
		result := p.change(what, false)
		held = what.held
		if result.Behind == (gocql.UUID{}) || p.dead {
			return result
		}
		p.w.coverage.behind = true
		p.deadline = p.w.now + lifetime
		version = p.next(entity.Timestamp(result.Behind))
	}
}

// replace is an update, or without columns a delete.
func (p *process) replace(e int, im image, c *columns) versioned.Result {
	version := p.next(entity.Timestamp(im.version))
	if version = entity.Linked(version, im.version); p.w.plan.unlinked {
		version[len(version)-1] = byte(p.w.rand.IntN(256))
	}
	swap := versioned.Swap{Before: im.version, Live: true, Version: version, Keys: im.columns.before()}
	if c == nil {
		return p.change(&stored{e: e, kind: "delete", swap: swap, before: im.columns}, false)
	}
	swap.After = c
	return p.change(&stored{e: e, kind: "update", swap: swap, before: im.columns, after: c}, false)
}

// resume sends a change again that has failed: the same bytes, under the same version. A queue delivers a change at
// least once, in any order. Inserts that are too old for a fence to have stopped them are given up.
func (p *process) resume() {
	w := p.w
	i := w.rand.IntN(len(w.queue))
	s := w.queue[i]
	if w.chance(512) {
		w.queue = slices.Delete(w.queue, i, i+1)
	}
	if s.kind == "insert" && p.w.now+p.skew-entity.Timestamp(s.swap.Version) > p.w.plan.kept() {
		return
	}
	s.deliveries++
	w.coverage.resumed = true
	w.coverage.twice = w.coverage.twice || s.deliveries > 1
	w.coverage.together = w.coverage.together || s.busy > 0
	s.busy++
	p.change(s, true)
	s.busy--
}

// change does what a writer does with a change.
// It may be one that was sent before.
func (p *process) change(what *stored, resumed bool) versioned.Result {
	e, kind, swap, before, after := what.e, what.kind, what.swap, what.before, what.after
	w, s := p.w, p.store(e)
	change := versioned.Change{
		Store: s, Swap: swap, Insert: kind == "insert", Sent: resumed && (!w.plan.exact || what.outcome != retry.NotApplied),
		Next: p.next, Grace: time.Duration(grace) * time.Microsecond,
		ID: what.id,
	}
	if !resumed {
		change.Held = what.held
	}
	var had, has [2]uint8
	if before != nil {
		had = before.keys
	}
	if after != nil {
		has = after.keys
	}
	for u := range has {
		if has[u] != had[u] && has[u] != 0 {
			change.Claims = append(change.Claims, p.key(e, u, has[u]))
		}
		if has[u] != had[u] && had[u] != 0 {
			change.Releases = append(change.Releases, p.key(e, u, had[u]))
		}
	}
	c := &call{process: p.number, entity: e, kind: kind, version: swap.Version, stored: what, resumed: resumed}
	w.calls = append(w.calls, c)
	w.logf("client %d: %s %d: %s -> %s, version %s", p.number, kind, e, before, after, swap.Version)
	result := change.Commit(p)
	if !resumed {
		what.held, what.id = change.Held, w.plan.id.end(what.id, change.ID, p.dead)
	}
	if !slices.Contains(w.queue, what) && (p.dead || what.keep(&result)) {
		if !resumed && !p.dead {
			what.outcome = result.Outcome
		}
		w.queue = append(w.queue, what)
	}
	if p.dead {
		return result
	}
	c.result, c.ended = result, true
	w.coverage.note(&result)
	w.coverage.never = w.coverage.never || resumed && result.Never
	w.logf("client %d: %s %d: %s", p.number, kind, e, tell(&result))
	switch {
	case result.Outcome == retry.Applied:
		row := versioned.Row{Version: swap.Version, Present: after != nil}
		if after != nil {
			row.Columns = after
		}
		if _, err := s.Try(p, func(ctx context.Context) error {
			return (&store{p, e}).ApplyToQueryTables(ctx, row, swap.Version, swap.Keys)
		}); err == nil {
			change.Finish(p)
		}
		p.images[e] = image{true, swap.Version, after}
	case result.Conflict && result.Err == nil:
		p.images[e] = image{known: true, version: result.Row.Version}
		p.images[e].columns, _ = result.Row.Columns.(*columns)
	case errors.Is(result.Err, versioned.ErrTaken):
	default:
		p.images[e].known = w.chance(512)
	}
	return result
}

// keep says whether a service sends the change again: not after a "no" that was final.
func (*stored) keep(r *versioned.Result) bool {
	return r.Outcome != retry.Applied && !r.Conflict && r.Behind == (gocql.UUID{}) && !errors.Is(r.Err, versioned.ErrTaken)
}

func tell(r *versioned.Result) string {
	out := [...]string{"unknown", "applied", "not applied"}[r.Outcome]
	if r.Conflict {
		out += ", conflict"
	}
	if r.Behind != (gocql.UUID{}) {
		out += ", behind " + short(r.Behind)
	}
	if r.Err != nil {
		out += ", " + r.Err.Error()
	}
	return out
}
