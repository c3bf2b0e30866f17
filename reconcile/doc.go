// Package reconcile compares the tables of a set that disagree, and makes them agree, while the service goes on writing.
//
//	r, err := reconcile.New(s) // of session.Open
//	report, err := r.Verify(ctx, Orders)
//	report, err = r.Repair(ctx, Orders, reconcile.OnRemoval(keep))
//	for f := range report.Findings() {
//		log.Print(f)
//	}
//
// Tables come to disagree where a service died in the middle of a fan-out and nobody resumed the error, where rows are from before
// the library, or where a table was restored from a backup.
//
// # What is found
//
// [Reconciler.Verify] reads all rows of all tables, and compares those of one entity. A row that differs may be a write in flight, so
// no difference is reported from one look: it must be the same twice, [Settle] apart, and all of it must have been older than Settle at the
// first look; where it was younger, three times. Each [Finding] has a [Class], which says in what way the row disagrees with the base row, and a
// [Certainty].
//
// # What is repaired
//
// A repair invents no writes. It sends mutations of a write that was attempted once more, with the same values at the same timestamp, which
// changes nothing for a write that is complete and finishes one that is not. So a repair may be late, may run twice at the same time,
// and may follow from reads that are out of date: no acknowledged write of others is undone. Two repairs do more, and take care:
//
//   - A row without a base row may be a create that was not completed, or what a delete has left. It is put into the base table at its own
//     time, and the base row is read back from all replicas: if it is not there, a delete covers it, and the row is removed everywhere.
//   - A row that is covered by a delete of a newer write that was never completed cannot be put back at its own time. It is reported as
//     [Shadowed], and the option [Rewrite] writes the entity again.
//
// Nothing is removed before all replicas of the base row have answered, and the row was given to [OnRemoval]; and a run that would remove
// too much ends ([MaxRemovals]).
//
// # Unique keys
//
// In a Versioned set with tables of unique keys each key of a base row must be claimed for it, or another entity could get it. Repair claims
// those that are not, as a writer does ([Unclaimed]); of two base rows with one key it says so and leaves them ([Shared]). Claims that no base row
// holds are no difference, and are counted ([TableReport]).
//
// # A new query table
//
// [Reconciler.Backfill] puts the rows of the base table into a query table that is new to the set, and verifies it. Until it returns no error,
// the table is declared Hidden, so that nobody reads it.
//
// # Tables from before the library
//
// [Reconciler.Adopt] takes over tables that were written without the library, whose rows have no stamp and in each table a time of their
// own: it compares them by value, gives them stamps, and makes them agree with the base table.
//
// # Stored runs
//
// With [State] runs are stored in tables of their own ([StateSchema]). One whose process has died is continued with [Resume], one process at
// a time works on a set, and [Reconciler.Runs], Pause, Continue, SetRate and Stop steer a run from another process. A finding keeps the time when
// the first run saw it: once that is longer ago than anything that was sent may still be delivered, it is [Proven], and a repair may remove
// what nothing else can prove. Whoever may read the table denorm_finding reads keys of rows: it needs the same care as the rows.
//
// [Reconciler.Watch] verifies a set again and again, in one of all replicas of a service.
//
// # Limits
//
// With [Tables], [Report.NotCompared] names the tables of which nothing is known.
//
// A set whose rows never move takes patches, and is repaired column by column: after two writes that were never completed, a row may have
// columns of both. Its maps and sets that are not frozen are compared, and not repaired.
//
// Sets with counters or with Compare, or with tables that rotate, are rejected with [ErrInvalid]. But for Adopt, tables must be written by
// this library, or by code that gives all tables of a write one timestamp. Adopt rejects sets with neither Stamp nor Versioned.
//
// A row that is newer than its base row is put into all tables whole, with null where it has nothing. So while a column is rolled out, do
// not repair: a process that does not know the column may have written the row, and an older value would go with it.
//
// A run reads everything once, and [Reconciler.Estimate] says how much that is. It keeps as many requests in flight as the cluster answers
// without slowing down ([InFlight], [Target], [Rate]).
package reconcile
