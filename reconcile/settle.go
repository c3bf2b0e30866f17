package reconcile

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/tablerow"
)

// lookers is how many suspects are looked at at a time, as far as the pace allows.
const lookers = 64

// settleAll looks at suspects until the scan has ended and none is left.
func (j *job) settleAll(ctx context.Context) {
	for {
		due := j.queue.take(ctx, lookers)
		if len(due) == 0 {
			return
		}
		var group sync.WaitGroup
		for _, s := range due {
			group.Go(func() { j.settleOne(ctx, s) })
		}
		group.Wait()
	}
}

// unlooked notes an entity that could not be looked at again, because of err or because the run has ended.
func (j *job) unlooked(ctx context.Context, err error) {
	if ctx.Err() != nil {
		err = errUnsettled
	}
	j.report.uncovered(err)
}

// settleOne looks at a suspect once.
func (j *job) settleOne(ctx context.Context, s *suspect) {
	if j.stored != nil {
		j.stored.lookToo(s)
	}
	l, began, err := j.lookSoon(ctx, s, j.level())
	if err != nil {
		j.unlooked(ctx, err)
		j.settled(ctx, s, false, err)
		return
	}
	differed := j.one == nil || s.sighting.Looks > 0 // one entity is looked at whether it differs or not
	certainty, next := s.sighting.Look(began, time.Now(), l.Findings(), j.patience(l))
	switch {
	case certainty == repair.Agrees:
		unheld := j.unheld(s, l, began)
		next, err = j.stamp(ctx, l, began)
		if !next.IsZero() && s.tries < mostTries {
			s.tries++
			j.queue.again(s, next)
			return
		}
		if err != nil {
			j.unlooked(ctx, err)
		}
		var repaired []Finding
		if err == nil && j.stored != nil {
			j.stored.looked(j.report, s.entity, nil)
			repaired = j.stored.finished(s.entity, nil)
			j.report.add(repaired)
			if err = j.remember(ctx, s.entity, began, repaired, stepDone); err != nil && ctx.Err() == nil {
				j.fail(err)
			}
		}
		j.settled(ctx, s, differed && len(repaired) == 0 && !unheld, err)
	case certainty == repair.InFlight && s.tries >= mostTries:
		j.report.uncovered(errBusy)
		j.settled(ctx, s, false, errBusy)
	case certainty == repair.InFlight:
		s.tries++
		j.queue.again(s, next)
	default:
		j.unheld(s, l, began)
		err := j.conclude(ctx, s, l, began, certainty)
		if err != nil && ctx.Err() == nil {
			j.fail(err)
		}
		j.settled(ctx, s, false, err)
	}
}

var errBusy = fmt.Errorf("an entity differed at each of %d looks, and was written between them: repair it by Entity when it rests", mostTries)

// conclude reports what a suspect's looks agree on, and repairs it.
func (j *job) conclude(ctx context.Context, s *suspect, l repair.Look, began time.Time, c repair.Certainty) (err error) {
	if j.store != nil {
		if c, err = j.recall(ctx, s, &l, began, c); err != nil {
			return err
		}
	}
	found := j.found(s, l, c)
	if j.counts != nil {
		found = j.counts.own(found)
	}
	if j.repairs {
		if j.stored != nil && !j.dryRun { // or a process that continues the run may not look at what this one has left in the middle
			if err = j.remember(ctx, s.entity, began, found, stepBegun); err != nil {
				return err
			}
		}
		j.repair(ctx, s, l, found)
	}
	if j.stored != nil {
		found = append(found, j.stored.finished(s.entity, found)...)
		j.stored.looked(j.report, s.entity, found)
	}
	j.report.add(found)
	j.tracedFindings(ctx, found)
	if j.store == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return j.remember(ctx, s.entity, began, found, stepDone)
}

// mostTries bounds how often an entity that is written all the time is looked at.
const mostTries = 20

func (j *job) patience(l repair.Look) repair.Patience {
	versioned := j.base().version >= 0 && !l.Version.Pending
	return repair.Patience{Settle: j.settle, Horizon: j.horizon(), At: j.at, Versioned: versioned}
}

// found makes findings of what a suspect's looks agree on.
func (j *job) found(s *suspect, l repair.Look, c repair.Certainty) []Finding {
	var out []Finding
	for _, f := range s.sighting.Findings {
		found := j.finding(s.entity, f)
		found.Certainty, found.FirstSeen, found.Reason = c, s.sighting.First, l.OtherUnit()
		if f.Class == repair.Shared {
			if found.other, found.Reason = l.Holder(f), heldByTwo; !j.table(f.Table).Unique() {
				found.Reason = repair.SharedID
			}
		}
		if f.Class == repair.Ahead {
			found.Reason = l.HeldBack()
		}
		out = append(out, found)
	}
	return out
}

// finding makes a finding of what a look at an entity has found.
func (j *job) finding(entity string, f repair.Finding) Finding {
	t := j.table(f.Table)
	return Finding{
		Class: f.Class, Table: t.qualified(), Column: f.Column, BaseTime: moment(f.BaseAt), RowTime: moment(f.RowAt),
		key: f.Key, entity: entity, t: t,
	}
}

func moment(microseconds int64) time.Time {
	if microseconds == 0 {
		return time.Time{}
	}
	return time.UnixMicro(microseconds).UTC()
}

// micros is the inverse of moment.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func (j *job) table(name string) *table {
	return j.tables[slices.IndexFunc(j.tables, func(t *table) bool { return t.Name() == name })]
}

// look reads what all tables have of an entity: the base row, at a level of its own, the rows that a scan has found,
// and those that may be where these rows say, also under the other values of columns that are OneOf. The next look
// reads all of these, too: once the entity has moved, no row may say where it was.
func (j *job) look(ctx context.Context, s *suspect, base gocql.Consistency) (repair.Look, error) {
	l := repair.Look{BaseTable: j.base().Layout, Tables: j.layouts(), All: base == gocql.All, Adopt: j.adopt, Ahead: j.ahead(s)}
	b, err := j.row(ctx, j.base(), s.entity, base)
	if err != nil {
		return l, err
	}
	delete(s.places, place{j.base(), s.entity})
	todo := slices.DeleteFunc(slices.Collect(maps.Keys(s.places)), func(p place) bool { return p.t.Unique() })
	if b != nil {
		if l.Base = &b.Row; j.ending(b) {
			j.leftOut(j.base())
			return repair.Look{BaseTable: l.BaseTable}, nil
		}
		if todo, err = j.places(b, s.places, todo); err != nil {
			return l, err
		}
	}
	for len(todo) > 0 {
		p := todo[0]
		todo = todo[1:]
		r, err := j.row(ctx, p.t, p.key, j.level())
		switch {
		case err != nil:
			return l, err
		case r == nil:
			continue
		case r.Entity() != s.entity:
			if err = j.lookAtNamesake(ctx, &l, p, r); err != nil {
				return l, err
			}
			continue
		case j.ending(r):
			l.Tables = slices.DeleteFunc(l.Tables, func(t tablerow.Layout) bool { return t.Name() == p.t.Name() })
			continue
		}
		l.Rows = append(l.Rows, r.Row)
		if todo, err = j.places(r, s.places, todo); err != nil {
			return l, err
		}
	}
	if j.base().version >= 0 {
		err = j.lookVersioned(ctx, s, &l)
	}
	l.FillExpiries()
	return l, err
}

// lookAtNamesake notes that another base row, r or the one that r leads to, has the ID of an entity with a base row. r
// is at p.
func (j *job) lookAtNamesake(ctx context.Context, l *repair.Look, p place, r *row) (err error) {
	other := r.Entity()
	if l.Base == nil || other == "" {
		return nil
	}
	if p.t != j.base() {
		if r, err = j.row(ctx, j.base(), other, j.level()); err != nil || r == nil || j.ending(r) {
			return err
		}
	}
	for _, q := range j.queries {
		key, there := l.Base.KeyIn(q.Layout)
		if there && (p.t == j.base() || p == place{q, key}) {
			l.Claims = append(l.Claims, repair.Claim{Table: q.Name(), Key: key, Owner: other, At: r.At, Held: true})
			return nil
		}
	}
	return nil
}

// places adds the places in which query tables may have rows of the entity of a row to those that are known, and to be
// read.
func (j *job) places(r *row, known map[place]bool, todo []place) ([]place, error) {
	for _, q := range j.queries {
		keys, err := r.Places(q.Layout)
		if err != nil {
			return nil, fmt.Errorf("a row of %s cannot be placed in %s: %w", r.Table(), q.qualified(), err)
		}
		for _, key := range keys {
			if p := (place{q, key}); !known[p] {
				known[p] = true
				todo = append(todo, p)
			}
		}
	}
	return todo, nil
}

// ahead is a time, in microseconds, that no clock which is right has reached, or had when an earlier run saw the
// entity. What is later is left, unless a person has decided to keep it.
func (j *job) ahead(s *suspect) int64 {
	at := time.Now().Add(j.settle).UnixMicro()
	switch {
	case j.keepAhead:
		return math.MaxInt64
	case s.held != 0:
		return min(at, s.held)
	}
	return at
}

// lookSoon is look, and says when it began. One that took so long, as in a run that was paused, is repeated: what it
// has read first may have been deleted since, and the tombstones be purged.
func (j *job) lookSoon(ctx context.Context, s *suspect, base gocql.Consistency) (l repair.Look, began time.Time, err error) {
	for {
		began = time.Now()
		if l, err = j.look(ctx, s, base); err != nil || time.Since(began) <= staleAfter {
			return l, began, err
		}
	}
}
