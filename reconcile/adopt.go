package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/decide/versioned"
	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/tables"
)

// Adopt takes over tables that were written without the library. It gives their rows stamps, and makes tables that
// disagree agree, while the service writes through the library. First add the column of [tables.Stamp] or
// [tables.Versioned], and deploy the set in every process that writes. [Writers] is required. docs/adopt.md has the
// steps, and what is done to each row. [OnRemoval], [MaxRemovals] and [DryRun] are as for [Reconciler.Repair];
// [Rewrite] is implied. With [Copy], lists are copied first. It may be called again at any time; with [State], [Resume]
// continues it.
//
// The error is as from [Report.Err]. ErrDrift: rows were left. ErrUnsafe: rows end by a TTL. ErrIncomplete: rows could
// not be read, have no time, or were written without the library after Writers. ErrInvalid: nothing was sent. The call
// is not valid, as in Repair, or a table has gc_grace_seconds below an hour. The report is nil if the run could not
// begin.
func (r *Reconciler) Adopt(ctx context.Context, set tables.Described, options ...Option) (*Report, error) {
	j, err := r.open(ctx, set, options)
	if err != nil {
		return nil, err
	}
	j.kind, j.repairs, j.rewrite = "adopt", true, true
	if err := j.checkAdopt(); err != nil {
		return nil, err
	}
	j.adopt = j.writers.Add(j.settle).UnixMicro()
	if err := j.waitForWriters(ctx); err != nil {
		j.report.uncovered(err)
		j.finish()
		return j.report, err
	}
	switch {
	case len(j.copies) > 0:
		j.kind, j.each = "copy", j.copyRow
	case j.base().version >= 0:
		j.each = j.giveVersion
	case len(j.set.Compared) > 0:
		j.each = j.checkCompared
	}
	given, err := j.run(ctx)
	if given == nil || len(j.copies) == 0 && (j.base().version < 0 || len(j.tables) == 1) {
		return given, err
	}
	for _, t := range j.queries {
		given.NotCompared = append(given.NotCompared, t.qualified()+otherKeys)
	}
	for _, t := range j.uniques {
		given.NotCompared = append(given.NotCompared, t.qualified())
	}
	given.Tables = given.Tables[:1+len(j.queries)]
	if j.dryRun || given.stopped != nil || ctx.Err() != nil {
		return given, err
	}
	next, then := (*Reconciler).Repair, func(c *config) { c.adopted = j.adopt }
	if len(j.copies) > 0 {
		next, then = (*Reconciler).Adopt, func(c *config) { c.copies = nil }
	}
	report, failed := next(r, ctx, set, append(slices.Clip(options), Resume(gocql.UUID{}), then)...)
	if report == nil {
		given.uncovered(failed)
		return given, errors.Join(err, failed)
	}
	report.Began, report.Run, report.Stamped = given.Began, given.Run, given.Stamped+report.Stamped
	report.Copied, report.Kept = given.Copied, given.Kept
	report.add(given.findings)
	report.Uncovered += given.Uncovered
	report.failures = append(given.failures, report.failures...)
	return report, cmp.Or(ctx.Err(), report.Err())
}

func (j *job) checkAdopt() error {
	switch {
	case j.unfit != nil && !j.dryRun:
		return j.unfit
	case j.writers.IsZero():
		return invalid("Adopt: say with option Writers when the last process that wrote without the library had ended")
	case j.writers.After(time.Now()):
		return invalid("Adopt: the time of Writers is in the future: processes that write without the library may still write")
	case j.base().version < 0 && j.set.Stamp < 0 && len(j.set.Compared) == 0:
		return invalid("Adopt: set %s has neither Stamp nor Versioned: declare one of them, and add its column to the tables",
			j.entity)
	case len(j.only) > 0:
		return invalid("Adopt: the stamp of a row follows from all tables of the set: leave out option Tables")
	}
	if i := slices.IndexFunc(j.tables, func(t *table) bool { return t.live.GCGrace < leastGrace }); i >= 0 {
		return invalid("Adopt: gc_grace_seconds of table %s is less than an hour, so a delete could be purged before the stamp "+
			"of its row is put: raise it first", j.tables[i].qualified())
	}
	return j.checkCopies()
}

// giveVersion gives a base row of a set with Versioned its first version, which claims its unique keys and puts it into
// all query tables.
func (j *job) giveVersion(ctx context.Context, u *unit, r *row) error {
	if r.At != 0 {
		return nil
	}
	if why, _ := j.base().underived(r.Row.Row); why != nil {
		j.leave(u, why)
		return nil
	}
	for _, w := range r.Written {
		switch {
		case w.Ends != 0:
			j.leave(u, fmt.Errorf("a row of %s got no version: it expires, and a row with a version does not: write it without TTL, or delete it",
				j.base().qualified()))
			return nil
		case tablerow.Unit(w.At) == tablerow.Nanoseconds:
			j.leave(u, fmt.Errorf("a row of %s got no version: %s", j.base().qualified(), repair.InNanoseconds))
			return nil
		case tablerow.Micros(w.At) > j.adopt:
			j.leave(u, errUnended)
			return nil
		}
	}
	for _, q := range j.queries { // the version puts the row into them
		if lacking, err := j.lacks(ctx, q, r); err != nil || lacking != "" {
			if lacking != "" {
				j.leave(u, fmt.Errorf("a row of %s got no version: %s", j.base().qualified(), lacking))
			}
			return err
		}
		if err := j.checkSample(ctx, q, false); err != nil {
			return errors.New(err.Error()) // it is of the sample, not of what is read here
		}
	}
	var wrong []Finding
	if j.dryRun {
		var err error
		if wrong, err = j.wrong(ctx, r); err != nil {
			j.leave(u, err)
			return nil
		}
	} else {
		b := j.baseOf(r.Entity())
		read, _, err := decide.Try(ctx, b, b.Read)
		if err != nil || !read.Present || read.Current() != (gocql.UUID{}) { // somebody has written or deleted it meanwhile
			return err
		}
		var claims []versioned.Key
		if stored, ok := read.Columns.(*entity.Row); ok {
			if _, err := b.Base.Base.QueryTableMutations(*stored, nextVersion(0), nil); err != nil { // it would be pending for good
				j.leave(u, fmt.Errorf("a row of %s got no version, as it cannot be put into all query tables: %w", j.base().qualified(), err))
				return nil
			}
			if wrong, err = j.wrong(ctx, r); err != nil {
				return err
			}
			if claims, err = j.freeKeys(ctx, b, tablerow.OfBase(b.Base.Base, *stored)); err != nil {
				return err
			}
		}
		result := versioned.Reclaim(ctx, b, read, claims, nextVersion, j.settle)
		if taken := (*versioned.TakenError)(nil); errors.As(result.Err, &taken) { // a moment ago
			result = versioned.Reclaim(ctx, b, read, nil, nextVersion, j.settle)
		}
		if result.Outcome != retry.Applied {
			return result.Err // nil if somebody else was first
		}
		for i := range wrong {
			wrong[i].Outcome = Repaired
		}
	}
	j.report.add(wrong)
	j.tracedFindings(ctx, wrong)
	j.report.count(&j.report.Stamped, 1)
	return nil
}

// checkCompared notes a row that a change with Compare cannot change: there is nothing to write to the others.
func (j *job) checkCompared(_ context.Context, u *unit, r *row) error {
	var why error
	if r.flaw != nil {
		why = r.flaw.why
	}
	for _, w := range r.Written {
		switch {
		case w.Ends != 0:
			why = fmt.Errorf("a row of %s expires, and what Compare writes does not: write it without TTL, or delete it",
				j.base().qualified())
		case tablerow.Unit(w.At) == tablerow.Nanoseconds:
			why = fmt.Errorf("a row of %s cannot be changed: %s", j.base().qualified(), repair.InNanoseconds)
		case w.At > j.ahead(&suspect{}): // a transaction has the time of its coordinator, and would be covered
			why = errUnended
		}
	}
	if why != nil {
		j.leave(u, why)
	}
	return nil
}

// wrong finds the rows of query tables that a base row without a version is to replace or add. Rows that are ahead
// stay, and the repair finds them.
func (j *job) wrong(ctx context.Context, r *row) (out []Finding, err error) {
	began := time.Now()
	l, err := j.first(ctx, j.base(), r)
	if err != nil {
		return nil, err
	}
	for _, q := range l.Rows {
		j.report.rows(j.table(q.Table()), 1)
	}
	for _, f := range l.Findings() {
		if f.RowAt < began.UnixMicro() {
			found := j.finding(r.Entity(), f)
			found.Certainty, found.FirstSeen = Settled, began.UTC()
			out = append(out, found)
		}
	}
	return out, nil
}

// lacks says why a base row cannot be put into a query table that does not have it, or "".
func (j *job) lacks(ctx context.Context, q *table, r *row) (string, error) {
	key, there := r.KeyIn(q.Layout)
	column := r.Unwritten(q.Layout)
	if !there || column == "" {
		return "", nil
	}
	have, err := j.row(ctx, q, key, j.level())
	if err != nil || have != nil {
		return "", err
	}
	return repair.Unwritten(q.Name(), column), nil
}

// freeKeys are the unique keys of a base row that nobody else has claimed. The repair after it claims the others, or
// says why it does not.
func (j *job) freeKeys(ctx context.Context, b versionedBase, row tablerow.Row) (free []versioned.Key, err error) {
	for _, t := range j.uniques {
		key, there := row.KeyIn(t.Layout)
		if !there {
			continue
		}
		k := j.claim(place{t, key}, row.Entity())
		claim, _, err := decide.Try(ctx, b, k.Read)
		switch {
		case errors.Is(err, versioned.ErrOwnerless):
		case err != nil:
			return nil, err
		case claim.Owner == "" || claim.Owner == row.Entity():
			free = append(free, k)
		}
	}
	return free, nil
}

// stamp gives rows that agree their stamps. Where that would make the base row newer than it is, a look must have begun
// when no write in flight could be older: next says when that is.
func (j *job) stamp(ctx context.Context, l repair.Look, began time.Time) (next time.Time, err error) {
	sent, next, err := j.putStamps(ctx, l, began)
	if sent {
		j.report.count(&j.report.Stamped, 1)
	}
	return next, err
}

// putStamps is stamp, and says whether it gave any, or would have, in place of counting that.
func (j *job) putStamps(ctx context.Context, l repair.Look, began time.Time) (sent bool, next time.Time, err error) {
	at, send, err := l.Stamps(j.keyspace)
	switch settled := time.UnixMicro(at).Add(j.settle); {
	case err != nil || len(send) == 0:
		return false, next, err
	case at == 0:
		return false, next, unstampable("a row of " + j.base().qualified() + " got no stamp: it has a key alone, so nothing says when it was written: Update it through " +
			"its set, which gives it one")
	case l.OtherUnit() != "":
		return false, next, unstampable("a row of " + j.base().qualified() + " got no stamp: " + l.OtherUnit())
	case l.Unended(), at > j.ahead(&suspect{}):
		return false, next, errUnended
	case at > l.Base.At && began.Before(settled):
		return false, settled, nil
	}
	if !j.dryRun {
		if err := j.send(ctx, send); err != nil {
			return false, next, err
		}
	}
	for _, q := range l.Rows {
		if q.At != l.Base.At {
			j.report.count(&j.report.OtherTimes, 1)
		}
	}
	return true, next, nil
}

// unstampable says why a row cannot get a stamp.
type unstampable string

func (u unstampable) Error() string { return string(u) }

const errUnended = unstampable("a row was written without the library after the time of Writers, or by a clock that was ahead: find the process that " +
	"wrote it, and adopt again")

// stampScanned is stamp of a row that a unit has found. It says whether that is done; else the entity is looked at
// later.
func (j *job) stampScanned(ctx context.Context, u *unit, l repair.Look, began time.Time) (bool, error) {
	next, err := j.stamp(ctx, l, began)
	if no := unstampable(""); errors.As(err, &no) { // the rows after it get theirs
		u.failed.Store(true)
		j.report.uncovered(err)
		err = nil
	}
	return next.IsZero(), err
}
