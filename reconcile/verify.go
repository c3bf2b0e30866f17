package reconcile

import (
	"context"

	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/tables"
)

// Verify compares the query tables of a set with its base table, while writers write, and changes nothing. It reads
// each table once, and compares hashes of the rows ([Spool]). Entities that differ are read again, at least [Settle]
// apart, until they agree or no write in flight can explain the difference. If any entity differs, Verify takes at
// least that long. With [Lookup] it needs no temporary file, and takes many times as long.
//
// In a set with a single table it reads the rows, and counts those that writers cannot change: see [Report.Unadopted]
// and [Report.Uncovered].
//
// The error is as from [Report.Err], or ErrInvalid, or the error of ctx. With [State] it may match [ErrRunning], or say
// that the state cannot be read. The report is never nil once the run has begun.
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

// Repair compares like [Reconciler.Verify], and makes the tables agree. It reads the entities that differ row by row,
// and sends the mutations of earlier writes again. The package documentation says what is repaired, and how.
//
// A row that is missing or differs is put with the timestamp of the base row. A row that is newer than the base row is
// put into all tables with its own timestamp. A row without a base row is put into the base table with its own
// timestamp, and removed if a delete covers it there. In a Versioned set it is removed if the base table has its
// delete, and otherwise left. A row under a former key is removed with its own timestamp.
//
// Except for a [DryRun], the error matches ErrInvalid if the clocks of this machine and a node differ by more than 10
// s. A set with LocalSerial in several datacentres needs session.LocalDC.
func (r *Reconciler) Repair(ctx context.Context, set tables.Described, options ...Option) (*Report, error) {
	j, err := r.open(ctx, set, options)
	if err != nil {
		return nil, err
	}
	j.kind, j.repairs = "repair", true
	return j.runDigest(ctx)
}

// Entity is [Reconciler.Repair] for one entity; with [DryRun] it only compares. It uses the columns of row that
// identify the entity. If the entity may have no base row, set the key columns of query tables as well: Entity looks
// for its rows there. It looks under the keys of row, of rows found, and of [tables.OneOf]. Rows under other keys are
// left to Repair; [Report.NotCompared] names their tables.
func Entity[T any](ctx context.Context, r *Reconciler, set *tables.Set[T], row T, options ...Option) (*Report, error) {
	j, err := r.open(ctx, set, options)
	if err != nil {
		return nil, err
	}
	given, err := tablerow.Of(set.Internal(), row)
	if err != nil {
		return nil, err
	}
	if given.Entity() == "" {
		return nil, invalid("the row lacks columns of the key of %s", j.base().qualified())
	}
	for _, q := range j.queries {
		if !q.FollowsKey() {
			j.report.NotCompared = append(j.report.NotCompared, q.qualified()+otherKeys)
		}
	}
	j.kind, j.repairs = "repair", true
	j.one = &given
	return j.run(ctx)
}
