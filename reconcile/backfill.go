package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/repair"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// Writers says that by t, which must be past, all old processes had ended. These do not write the new table
// ([Reconciler.Backfill]), or write without the library ([Reconciler.Adopt]). Errors that they stored had been resumed
// or discarded. If one writes later, the table lacks rows or has stale ones.
func Writers(t time.Time) Option { return func(c *config) { c.writers = t } }

// Backfill puts the rows of the base table into a query table that is new to the set, while writers write. Then it
// verifies that table. When it returns no error, readers may use the table. First create the table, and deploy the set
// with it, [tables.Table.Hidden], in every process that writes. [Writers] is required. Backfill puts each row with its
// own timestamp and remaining TTL, so newer writes win. It may be called again at any time.
//
// The error matches [ErrIncomplete] if a row could not be read or put: call Backfill again. It matches [ErrDrift] if
// rows still differ: repair the table with [Tables], then call Backfill again. It matches ErrInvalid, and nothing was
// sent, if the call or the set is not valid. docs/change-schema.md has the steps. Verify the table once more after half
// of gc_grace_seconds: hints and stored errors may deliver older writes until then. The report describes the check or,
// if that did not begin, the rows that were put. It is nil if the run could not begin.
func (r *Reconciler) Backfill(ctx context.Context, set tables.Described, table string, options ...Option) (*Report, error) {
	options = append(slices.Clone(options), Tables(table))
	j, err := r.open(ctx, set, options)
	if err != nil {
		return nil, err
	}
	j.kind, j.each = "backfill", j.fillRow
	if err := j.checkFill(); err != nil {
		return nil, err
	}
	if err := j.waitForWriters(ctx); err != nil {
		j.report.uncovered(err)
		j.finish()
		return j.report, err
	}
	filled, err := j.run(ctx)
	if err != nil {
		return filled, err
	}
	report, err := r.Verify(ctx, set, append(slices.Clip(options), Resume(gocql.UUID{}))...)
	if report == nil {
		filled.uncovered(err)
		return filled, err
	}
	report.Began, report.Run, report.Put = filled.Began, filled.Run, filled.Put
	return report, err
}

// leastGrace is the gc_grace_seconds of a table below which what writers remove could be purged before an older row is
// put.
const leastGrace = time.Hour

func (j *job) checkFill() error {
	if len(j.queries) == 0 {
		return invalid("Backfill: table %s is of unique keys: Repair claims those that rows have", j.uniques[0].Name())
	}
	t := j.queries[0]
	why := tablerow.Unfillable(t.Layout)
	switch {
	case j.writers.IsZero():
		return invalid("Backfill: say with option Writers when the last process that did not write %s had ended", t.Name())
	case j.writers.After(time.Now()):
		return invalid("Backfill: the time of Writers is in the future: processes that do not write %s may still write", t.Name())
	case j.dryRun:
		return invalid("Backfill: DryRun has no effect: Verify says what the table lacks")
	case why != "":
		return invalid("Backfill: table %s cannot be filled: %s", t.Name(), why)
	case t.live.GCGrace < leastGrace:
		return invalid("Backfill: gc_grace_seconds of table %s is less than an hour, so removed rows could come back: set it as in "+
			"the base table", t.Name())
	}
	return nil
}

// waitForWriters waits until what old writers have sent is applied, and says so about every second.
func (j *job) waitForWriters(ctx context.Context) error {
	until := j.writers.Add(j.settle)
	why := "writes that began before Writers may be applied until " + until.UTC().Format(time.RFC3339)
	for wait := time.Until(until); wait > 0; wait = time.Until(until) {
		if j.onProgress != nil {
			bound, _ := j.throttle.state()
			j.onProgress(Progress{InFlight: bound, Waits: why})
		}
		if err := waitUntil(ctx, time.Now().Add(min(wait, time.Second))); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func waitUntil(ctx context.Context, t time.Time) error { return request.Sleep(ctx, time.Until(t)) }

// staleAfter is how long after it was read a row may be put: what writers remove must not be purged before that.
const staleAfter = 10 * time.Minute

// visitEach calls each with rows of the base table that have just been read.
func (j *job) visitEach(ctx context.Context, u *unit, rows []row) error {
	read := time.Now()
	return j.together(rows, func(r *row) error {
		if time.Since(read) > staleAfter {
			again, err := j.row(ctx, j.base(), r.Entity(), j.level())
			if err != nil || again == nil {
				return err
			}
			r = again
		}
		return j.each(ctx, u, r)
	})
}

// leave notes a row of a unit with which nothing can be done: a run that is continued comes to it again.
func (j *job) leave(u *unit, err error) {
	u.failed.Store(true)
	j.report.uncovered(err)
}

// fillRow puts a row of the base table into the new one. The other rows are put where one cannot be.
func (j *job) fillRow(ctx context.Context, u *unit, r *row) error {
	t := j.queries[0]
	send, why := j.filling(t, r)
	if why != nil {
		j.leave(u, fmt.Errorf("a row of %s was not put into %s: %w", j.base().qualified(), t.qualified(), why))
		return nil
	}
	if len(send) == 0 {
		return nil
	}
	if err := j.send(ctx, send); err != nil {
		return err
	}
	j.report.count(&j.report.Put, 1)
	return nil
}

// filling are the mutations that put a row of the base table into another one, or why it cannot be put.
func (j *job) filling(t *table, r *row) ([]statement.Mutation, error) {
	if why, _ := j.base().underived(r.Row.Row); why != nil {
		return nil, why
	}
	switch name := r.Unwritten(t.Layout); {
	case r.At == 0 && j.base().version >= 0:
		return nil, errors.New("it was written without the library and has no version: Adopt (denorm adopt) gives it one")
	case r.At == 0:
		return nil, errors.New("nothing says when it was written")
	case tablerow.Unit(r.At) == tablerow.Nanoseconds:
		return nil, errors.New(repair.InNanoseconds)
	case name != "":
		return nil, errors.New(repair.Unwritten(t.Name(), name))
	case r.At > j.ahead(&suspect{}):
		return nil, errors.New("its time is more than Settle in the future: see KeepAhead (--ahead keep)")
	}
	// In a set that takes Patch a column that is null may have been so before the rest was written.
	nulls := !r.Patchable() && (j.at || time.Since(time.UnixMicro(tablerow.Micros(r.At))) < j.horizon())
	send, err := r.Redeliver(r.At, r.Written, nulls, j.keyspace)
	if err != nil {
		return nil, err
	}
	send = slices.DeleteFunc(send, func(m statement.Mutation) bool { return m.Table != t.Name() || m.Kind == statement.Remove })
	if overdue(send, r.Row) {
		return nil, errors.New(expired)
	}
	return send, nil
}
