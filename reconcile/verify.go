package reconcile

import (
	"context"

	"github.com/denorm-go/denorm/tables"
)

// Verify compares the query tables of a set with its base table, while writers write, and changes nothing. It reads each table once, and
// compares hashes of the rows ([Spool]). What differs is looked at again, at least [Settle] apart, until it agrees or no write in flight
// can explain it. So Verify takes at least that long where something differs. With [Lookup] it needs no temporary file, and takes many times
// as long.
//
// The error is that of [Report.Err], or ErrInvalid, or that of ctx. With [State] it may be [ErrRunning], or that the state cannot be read. The
// report is never nil once the run has begun.
func (r *Reconciler) Verify(ctx context.Context, set tables.Described, options ...Option) (*Report, error) {
	j, err := r.open(ctx, set, options)
	if err != nil {
		return nil, err
	}
	j.kind = "verify"
	return j.runDigest(ctx)
}

// runDigest runs the job by digests, unless Lookup was asked for.
func (j *job) runDigest(ctx context.Context) (*Report, error) {
	if !j.lookup {
		j.digest = newDigest(j, j.spool)
		defer j.digest.spool.close()
	}
	return j.run(ctx)
}

// Repair is [Reconciler.Verify], and makes the tables agree. Entities that differ are read row by row, and for these it sends mutations of
// writes that were attempted again, with the same values and the same timestamps, and so undoes no write of others: a row that is missing or
// differs is put at the time of the base row; a row that is newer than the base row is put into all tables at its own time; a row without a
// base row is put into the base table at its own time, and is removed only if a delete covers it there; a row under a former key is removed at
// its own time. A set whose rows never move is repaired column by column: the newer of two values is put into the other table at its own time.
func (r *Reconciler) Repair(ctx context.Context, set tables.Described, options ...Option) (*Report, error) {
	j, err := r.open(ctx, set, options)
	if err != nil {
		return nil, err
	}
	j.kind, j.repairs = "repair", true
	return j.runDigest(ctx)
}

// Entity is [Reconciler.Repair] of one entity, or with [DryRun] a look at it. Of the row, the columns are used that identify the entity; where
// it may have no base row, those of query tables' keys say where else rows of it are looked for.
func Entity[T any](ctx context.Context, r *Reconciler, set *tables.Set[T], row T, options ...Option) (*Report, error) {
	j, err := r.open(ctx, set, options)
	if err != nil {
		return nil, err
	}
	given, err := set.Internal().TableRow(row)
	if err != nil {
		return nil, err
	}
	if given.Entity() == "" {
		return nil, invalid("the row lacks columns of the key of %s", j.base().qualified())
	}
	j.kind, j.repairs = "repair", true
	j.one = &given
	return j.run(ctx)
}
