package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/runtrace"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/tablerow"
)

// promotable is the part of gc_grace_seconds below which a row is young enough to be put into the base table: a
// tombstone that covers it is not purged yet.
const promotable = 0.75

// rounds bounds how often one repair leads to another: a row that completes a move shows rows under former keys.
const rounds = 5

// repair makes the tables agree about an entity, and says of each finding what came of it.
func (j *job) repair(ctx context.Context, s *suspect, l repair.Look, found []Finding) {
	unit := runtrace.UnitStart{Kind: j.kind, Table: j.base().qualified(), Repair: true}
	ctx = j.tracer.TraceUnitStart(ctx, unit)
	outcome, reason := j.repairEntity(ctx, s, l, found[0].Certainty)
	j.tracer.TraceUnitEnd(ctx, runtrace.UnitEnd{Kind: unit.Kind, Table: unit.Table, Outcome: outcome.String()})
	left := -1
	if why := (leftError{}); errors.As(reason, &why) && why.removal {
		left = slices.IndexFunc(found, func(f Finding) bool { return f.Class == Ghost })
	}
	for i := range found {
		if found[i].Class == Shared { // which nothing repairs
			continue
		}
		found[i].Outcome, found[i].Reason = outcome, errorText(reason)
		if left >= 0 && found[i].Class != Ghost { // an entity is repaired as a whole
			found[i].Reason = "not repaired, because the ghost of the same entity in " + found[left].Table + " is left: " + errorText(reason)
		}
	}
}

// leftError says why an entity is left as it is, though no request has failed.
type leftError struct {
	error
	removal bool // because a row of it cannot be removed
	written bool // because of what may be half of a write
}

func (e leftError) Unwrap() error { return e.error }

func left(why string) error { return leftError{error: errors.New(why)} }

// repairable are the findings of a look that a repair is about.
func repairable(l repair.Look) []repair.Finding {
	return slices.DeleteFunc(l.Findings(), func(f repair.Finding) bool { return f.Class == Shared })
}

func (j *job) repairEntity(ctx context.Context, s *suspect, l repair.Look, c repair.Certainty) (outcome Outcome, reason error) {
	tried, would := false, false
	unstamped := j.adopt != 0 && l.Base != nil && tablerow.HasStamp(l.BaseTable) && l.Base.Stamp() == 0
	defer func() {
		if unstamped && (outcome == Repaired || would) {
			j.report.count(&j.report.Stamped, 1)
		}
		switch end := ctx.Err(); {
		case end == nil || outcome == Repaired || !errors.Is(reason, end): // or it is of something else
		case tried:
			outcome, reason = Failed, errors.New("not completed: the run had stopped")
		default:
			outcome, reason = Found, errors.New("not attempted: the run had stopped")
		}
	}()
	rules := repair.Rules{
		Old: c == repair.Proven, Unproven: j.maxRemovals > 0, Promotable: time.Now().Add(-time.Duration(promotable * float64(j.base().live.GCGrace))).UnixMicro(),
		Before:   time.Now().Add(-j.settle).UnixMicro(),
		Adopt:    j.adopted,
		Undo:     j.removeAhead,
		Keyspace: j.keyspace,
	}
	if !j.at {
		rules.Delivered = time.Now().Add(-j.horizon()).UnixMicro()
	}
	if j.rewrite && j.adopt == 0 { // a person says that the base table has lost rows
		rules.Unproven, rules.Promotable = false, 0
	}
	var began time.Time
	again := false // written again, by Rewrite
	waited := false
	before := repairable(l)
	if len(before) == 0 {
		return Found, nil
	}
	shared := len(l.Findings()) - len(before)
	for round := range rounds {
		rules.Old = rules.Old && repair.Same(l.Findings(), s.sighting.Findings) // what is new is not proven
		sent, err := j.step(ctx, s, l, began, rules)
		tried = tried || sent > 0 && !j.dryRun
		why := leftError{}
		isLeft := errors.As(err, &why)
		wait := isLeft && why.written && round < rounds-1
		look := j.lookSoon
		switch {
		case wait:
			look = j.lookLater
		case isLeft:
			return Found, err
		case err != nil:
			return Failed, err
		case j.dryRun:
			would = true
			return Found, fmt.Errorf("DryRun: would be repaired with %d statements", sent)
		}
		if l, began, err = look(ctx, s, j.level()); err != nil {
			return Failed, err
		}
		if after := repairable(l); !wait && !waited && len(after) > 0 && repair.Same(before, after) && !repair.Same(after, s.sighting.Findings) {
			waited = true // a delete may still reach the other tables
			if l, began, err = j.lookLater(ctx, s, j.level()); err != nil {
				return Failed, err
			}
		}
		after := repairable(l)
		switch {
		case len(l.Findings())-len(after) > shared: // somebody else has claimed it meanwhile
			return Found, errTaken
		case len(after) == 0 && j.dryRun:
			return Changed, errChanged
		case len(after) == 0:
			return j.agreed(ctx, l, began)
		case wait || !repair.Same(before, after):
			before = after
			continue
		case slices.ContainsFunc(after, func(f repair.Finding) bool { return f.Class == repair.Ghost && f.RowAt == 0 }):
			return Found, errors.New("a row with a key alone, of which nothing says when it was written, is newer than what the base row has replaced")
		case j.base().version >= 0:
			return Shadowed, errors.New("a delete of a later version covers the row: delete the entity again, or Modify it with no change")
		case !j.rewrite || l.Base == nil:
			return Shadowed, errors.New("a delete of a newer, incomplete write covers the row: Rewrite (--rewrite) writes the entity again")
		case again:
			return Shadowed, errors.New("a delete later than Settle ago covers the row that was written again: repair again after that time")
		}
		if l, began, err = j.lookSoon(ctx, s, gocql.All); err != nil { // what is above another data centre's write must show it
			return Found, fmt.Errorf("an entity is written again only when all replicas of the base row have answered: %w", err)
		}
		if after = repairable(l); !repair.Same(before, after) {
			before = after
			continue
		}
		if err = j.writeAgain(ctx, l, began.Add(-j.settle)); err != nil {
			return Failed, err
		}
		again = true
		if l, began, err = j.lookSoon(ctx, s, j.level()); err != nil {
			return Failed, err
		}
		if before = repairable(l); len(before) == 0 {
			return j.agreed(ctx, l, began)
		}
	}
	return Changed, errChanged
}

var errChanged = errors.New("the entity was written meanwhile")

// agreed is what has become of an entity in which nothing differs any more.
func (j *job) agreed(ctx context.Context, l repair.Look, began time.Time) (Outcome, error) {
	_, next, err := j.putStamps(ctx, l, began)
	switch {
	case err != nil:
		return Failed, err
	case !next.IsZero():
		return Changed, errChanged
	}
	return Repaired, nil
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// unrepairable says why rows cannot be repaired whatever the rules say.
func (j *job) unrepairable(l repair.Look) error {
	if l.Unended() {
		return errUnended
	}
	if l.Adopt != 0 {
		return nil
	}
	for _, f := range l.Findings() {
		if f.Class == repair.Undatable {
			return errors.New("nothing says when the row was written, so it cannot be said which row is newer")
		}
	}
	return nil
}

// step carries out what the rules say of a look that began then. It gives how many statements were sent, or would be. A
// [leftError] says why nothing is done.
func (j *job) step(ctx context.Context, s *suspect, l repair.Look, began time.Time, rules repair.Rules) (sent int, err error) {
	if why := j.mayBeElsewhere(l); why != "" {
		return 0, j.leaves(s, l, began, errors.New(why))
	}
	if why := j.unrepairable(l); why != nil {
		return 0, j.leaves(s, l, began, why)
	}
	d, err := repair.Decide(l, rules)
	if d.ReadAll {
		began = time.Now()
		if l, err = j.lookAtAll(ctx, s); err != nil || len(repairable(l)) == 0 {
			return 0, err
		}
		rules.Old = rules.Old && repair.Same(l.Findings(), s.sighting.Findings)
		d, err = repair.Decide(l, rules)
	}
	if err != nil || d.Reason != "" {
		return 0, cmp.Or(err, j.leaves(s, l, began, errors.New(d.Reason+j.later(s, d))))
	}
	rows := l.Rows
	if l.Base != nil {
		rows = append(slices.Clone(rows), *l.Base)
	}
	if overdue(slices.Concat(d.Send, d.Promote), rows...) {
		return 0, left(expired)
	}
	if d.RollForward {
		if j.dryRun {
			return 1, nil
		}
		return 1, j.rollForward(ctx, s.entity)
	}
	if len(d.Promote) > 0 {
		if j.dryRun {
			return len(d.Promote), nil
		}
		if err = j.brake(1); err != nil {
			return 0, err
		}
		sent = len(d.Promote)
		if err = j.sendRow(ctx, d.Promote); err != nil {
			return sent, err
		}
		promoted := d.Promoted
		began = time.Now()
		if l, err = j.lookAtAll(ctx, s); err != nil {
			return sent, err
		}
		l.Promoted, rules.Old = promoted, false
		if d, err = repair.Decide(l, rules); err != nil || d.Reason != "" {
			return sent, cmp.Or(err, j.leaves(s, l, began, errors.New(d.Reason)))
		}
	}
	if err = j.checkSamples(ctx, d); err != nil {
		return sent, err
	}
	if err = j.handOut(l, d.Removes); err != nil {
		return sent, err
	}
	if j.dryRun {
		return len(d.Send) + len(d.Claim), nil
	}
	if l.Base != nil && slices.ContainsFunc(d.Send, func(m statement.Mutation) bool {
		return m.Table == j.base().Name() && m.Kind == statement.Put && m.Timestamp > l.Base.At
	}) {
		if err = j.brake(1); err != nil { // another base row takes the place of this one
			return sent, err
		}
	}
	if err = j.send(ctx, d.Send); err == nil && len(d.Claim) > 0 {
		err = j.reclaim(ctx, s.entity, d.Claim)
	}
	return sent + len(d.Send), err
}

// mayBeElsewhere says why the base row that a look has not found may be there, "" if it is not. Rows by hand may be under
// another key than tables.Derive gives, where a scan of the whole table alone finds them.
func (j *job) mayBeElsewhere(l repair.Look) string {
	j.report.mu.Lock()
	defer j.report.mu.Unlock()
	switch {
	case l.Base != nil || !slices.ContainsFunc(j.base().Table.Key, j.base().isDerived):
		return ""
	case j.one != nil:
		return "its base row may be under a key that tables.Derive does not give: Repair the set, which reads the whole base table"
	case j.keyless.elsewhere.Load():
		return "it may be of a base row under a key that tables.Derive does not give: correct that row first"
	case j.report.Uncovered > 0:
		return "not all base rows were compared, and one may be under a key that tables.Derive does not give: run it again"
	}
	return ""
}

// leaves says why an entity is left, and whether that may be for half of a write: for what is younger than Settle, and
// was not settled.
func (j *job) leaves(s *suspect, l repair.Look, began time.Time, why error) error {
	from, to := began.Add(-j.settle).UnixMicro(), time.Now().Add(j.settle).UnixMicro()
	now := l.Findings()
	young := slices.ContainsFunc(now, func(f repair.Finding) bool {
		at := max(f.BaseAt, f.RowAt)
		return from < at && at < to
	})
	gone := l.Base == nil && slices.ContainsFunc(s.sighting.Findings, func(f repair.Finding) bool { return f.BaseAt != 0 })
	return leftError{error: why, written: (young || gone || j.at) && !repair.Same(now, s.sighting.Findings)}
}

// soon is when an entity is looked at again that was written meanwhile. Most writes have ended then.
const soon = time.Second

func (j *job) lookLater(ctx context.Context, s *suspect, base gocql.Consistency) (l repair.Look, began time.Time, err error) {
	if err = request.Sleep(ctx, min(soon, j.settle)); err != nil {
		return l, began, err
	}
	return j.lookSoon(ctx, s, base)
}

// expired is why a row is not put that has outlived its expiry, as other code wrote it without a TTL.
const expired = "the expiry of the row has passed, and it has no TTL: delete it, or give it a later expiry"

// overdue says whether one of the mutations would put a row whose expiry has passed, though nothing in the rows ends.
func overdue(send []statement.Mutation, rows ...repair.Row) bool {
	now := time.Now()
	return slices.ContainsFunc(send, func(m statement.Mutation) bool {
		at, ends := m.ExpiresAt()
		return ends && m.Kind == statement.Put && !at.After(now)
	}) && !slices.ContainsFunc(rows, ends)
}

// later says from when on something that is left may be removed, and how.
func (j *job) later(s *suspect, d repair.Repair) string {
	how := "with OnRemoval (--removed) and MaxRemovals (--max-removals)"
	if j.rewrite && j.adopt == 0 {
		how += " and without Rewrite (--rewrite)"
	}
	switch horizon := j.horizon(); {
	case !d.Later:
		return ""
	case j.store == nil:
		return fmt.Sprintf("; a write that is still to be delivered may explain it until %v after it was first seen, which is not stored: repair with State "+
			"(--state) now, and "+how+" after that time, which removes it", horizon)
	default:
		return "; a write that is still to be delivered may explain it until " + s.sighting.First.Add(horizon).UTC().Format(time.RFC3339) +
			": a repair after that time, " + how + ", removes it"
	}
}

// lookAtAll looks with the base row as all replicas have it, or says why it cannot.
func (j *job) lookAtAll(ctx context.Context, s *suspect) (l repair.Look, err error) {
	l, _, err = j.lookSoon(ctx, s, gocql.All)
	if err != nil {
		err = leftError{error: fmt.Errorf("rows are removed only when all replicas of the base row have answered: %w", err), removal: true}
	}
	return l, err
}

// handOut gives the rows that are about to be removed, or to lose values, to the caller, or says why they cannot be
// removed.
func (j *job) handOut(l repair.Look, rows []repair.Row) error {
	classes := make(map[[2]string]repair.Class)
	for _, f := range l.Findings() {
		classes[[2]string{f.Table, f.Key}] = f.Class
	}
	for _, q := range rows {
		if j.onRemoval == nil {
			return leftError{error: errors.New("rows are removed only if they are handed out before: give OnRemoval, or --removed of the command"), removal: true}
		}
		if j.dryRun {
			continue
		}
		if err := j.brake(1); err != nil {
			return err
		}
		class, found := classes[[2]string{q.Table(), q.Key()}]
		switch {
		case found:
		case l.Ahead != 0 && q.At > l.Ahead:
			class = repair.Ahead
		default: // it only has a column of another table's key that the base row does not have
			class = repair.Differing
		}
		if err := j.onRemoval(Removal{Class: class, Table: j.table(q.Table()).qualified(), Values: q.Texts()}); err != nil {
			return leftError{error: fmt.Errorf("the row is not removed, as it could not be handed out before: %w", err), removal: true}
		}
	}
	return nil
}

// brake counts rows that are removed or put into the base table, and ends the run when there are too many.
func (j *job) brake(rows int64) error {
	most := int64(j.maxRemovals)
	if most == 0 {
		most = min(defaultMaxRemovals, max(100, j.read.Load()/100))
	}
	if j.removed.Add(rows) <= most {
		return nil
	}
	err := fmt.Errorf("%w: %d so far; look at the base table first, and raise MaxRemovals (--max-removals) if it is right", ErrTooMuch, most)
	j.fail(err)
	return leftError{error: err}
}

// writeAgain writes the base row to all tables at a time Settle before it was read: all writes of before then, it
// shows.
func (j *job) writeAgain(ctx context.Context, l repair.Look, then time.Time) error {
	at := then.UnixMicro()
	if at <= l.Base.At {
		return errors.New("the entity was written less than Settle ago: repair it again later")
	}
	now := time.Now()
	mutations, err := l.Base.Rewrite(at, func(w statement.Written) int64 { return j.base().surveyor.Again(w, at, now) }, j.keyspace)
	switch {
	case err != nil:
		return err
	case overdue(mutations, *l.Base):
		return errors.New(expired)
	}
	return j.send(ctx, mutations)
}

// ends says whether a row has values that expire.
func ends(r repair.Row) bool {
	for _, w := range r.Written {
		if w.Ends != 0 {
			return true
		}
	}
	return false
}
