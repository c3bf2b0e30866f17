// Package reconcile finds where the tables of a set disagree, and makes them agree, while the service goes on writing.
//
//	r, err := reconcile.New(s) // of session.Open
//	report, err := r.Verify(ctx, Orders)
//	report, err = r.Repair(ctx, Orders, reconcile.OnRemoval(keep))
//	for f := range report.Findings() {
//		log.Print(f)
//	}
//
// Tables disagree after a service died in the middle of a fan-out and nobody resumed the error. They also disagree
// after a table was restored from a backup, or if rows were written before the library was used.
//
// # What is found
//
// [Reconciler.Verify] reads all rows of all tables, and compares the rows of each entity. A row that differs may be a
// write in flight, so a difference is reported only if several reads, [Settle] apart, found the same. Two reads are
// enough if all of the difference was older than Settle at the first; otherwise it takes three. Each [Finding] has a
// [Class], which says in what way the row disagrees with the base row, and a [Certainty].
//
// # What is repaired
//
// A repair invents no writes. It sends the mutations of an earlier write again, with the same values and the same
// timestamp. That changes nothing for a write that is complete, and finishes one that is not. A repair may therefore be
// late, run twice at the same time, or be based on stale reads: it undoes no acknowledged write of others. Some kinds
// of repair do more, and take care:
//
//   - A row without a base row is left by a create that was not completed, or by a delete. It is put into the base
//     table with its own timestamp, and the base row is read back from all replicas. If the base row is not there, a
//     delete covers it, and the row is removed everywhere. A row older than 3/4 of gc_grace_seconds is left, as that
//     tombstone may be purged. [Rewrite] puts it into the base table. [State], MaxRemovals and OnRemoval together
//     remove it half of gc_grace_seconds after it was first seen.
//   - In a Versioned set nothing is put into the base table. A row without a base row is removed if the base table has
//     its delete, and otherwise left. A row of a later version than its base row is left too. Each may be the only
//     copy.
//   - A newer write that was never completed may have deleted a row. The tombstone covers the row, so it cannot be put
//     back with its own timestamp. The row is reported as [Shadowed], and the option [Rewrite] writes the entity again.
//   - A write whose timestamp is more than [Settle] in the future is not carried out. It is reported as [Ahead], and a
//     person chooses [KeepAhead] or [RemoveAhead].
//
// A row is removed only after all replicas of the base row have answered and the row was given to [OnRemoval]. In a
// Versioned set a quorum is enough: the row or delete in the base table is at least as late as what is removed. A run
// that would remove too many rows ends ([MaxRemovals]).
//
// # Unique keys
//
// In a Versioned set with tables of unique keys, each unique key of a base row must be claimed for it. Otherwise
// another entity could get the key. Repair claims the others, as a writer does ([Unclaimed]). It reports two base rows
// with the same key, and leaves them ([Shared]). Claims for keys that no base row has are only counted ([TableReport]).
//
// Two base rows with one [tables.ID] are both [Shared], and neither is repaired. With [Lookup], and on Temporal, only
// one is found, and only if both belong under one key of a query table.
//
// # A new query table
//
// [Reconciler.Backfill] puts the rows of the base table into a query table that is new to the set, and verifies it.
// Declare the table Hidden, so that nobody reads it, until Backfill returns no error.
//
// Backfill replaces the option Tables, and rejects DryRun: use Verify. The table needs a gc_grace_seconds of an hour or
// more, and the default_time_to_live of the base table or none. The time of Writers must be past. Backfill rejects a
// set that takes Patch and has ExpiresAt, or in this table a map or set column that is not frozen. Each row keeps its
// remaining TTL. With [State] two runs are stored, and the report has the first. A call with [Resume] of that run
// continues it, or verifies again.
//
// # Tables from before the library
//
// [Reconciler.Adopt] takes over tables that were written without the library. Their rows have no stamp, and the rows of
// one entity have a different timestamp in each table. Adopt compares them by value, gives them stamps, and makes them
// agree with the base table.
//
// Rows that agree get the largest WRITETIME of them as stamp, written at that time, so that a newer write or delete
// wins. If rows disagree, the base row is right. It is put into the other tables at its own time, or, if their rows are
// newer, by [Rewrite]. A row that the base row does not confirm is removed at its own time. Rows that the library wrote
// are repaired as by Repair. In a set with ExpiresAt a row with a TTL gets the smallest TTL of its columns as expiry,
// rounded down.
//
// In a Versioned set each base row gets its first version by a transaction. Adopt also claims the row's unique keys
// that are free, and puts the row into all query tables. Until then writers reject updates and deletes of the row. A
// second run, of kind repair and with the same options, then repairs the tables. Its findings name the keys that others
// have. With DryRun the report says how many base rows would get a version, and which rows of query tables would be
// put. Rows under other keys are not looked for. [Copy] is a run before these, of kind copy; with DryRun it is the only
// one.
//
// In a set with Compare, Adopt only counts the rows that writers cannot change ([Report.Uncovered]). They expire, have
// a time in the future, or have null in a compared column whose field cannot be nil. Adopt rejects option Tables, a
// call without Writers, and a time of Writers in the future.
//
// # Stored runs
//
// With [State], runs are stored in tables of their own ([StateSchema]). [Resume] continues a run whose process has
// died. Two runs of one kind over a set exclude each other within a datacentre. [Reconciler.Runs], Pause, Continue,
// SetRate and Stop control a run from another process. A finding keeps the time when it was first seen, in any run.
// Once nothing sent before that time can still be delivered, the finding is [Proven]. A repair may then remove rows for
// which there is no other proof. The table denorm_finding has keys of rows: protect it as you protect the rows.
//
// [Reconciler.Watch] verifies a set again and again. With State, one process in each datacentre does the work, and the
// others stand by.
//
// # Limits
//
// With [Tables], [Report.NotCompared] names the tables that were left out: nothing is known of them.
//
// A set whose rows never move takes patches, and is repaired column by column. After two writes that were never
// completed, a row may have columns of both. Its map and set columns that are not frozen are compared, but not
// repaired.
//
// Sets with counters or Transactional, or with tables that rotate or have the same name in different keyspaces, are
// rejected with [ErrInvalid]. Except for Adopt, tables must be written by this library, or by code that gives a write
// the same timestamp in all tables. Adopt needs a set with Stamp, Versioned or Compare.
//
// A row that is newer than its base row is put into all tables as a whole, with null for each column without a value.
// It is left if, by its stamp, other code wrote it. Do not repair while a column is rolled out. A process that does not
// know the column may have written the row, and the null would remove an older value.
//
// Without [MaxRemovals], a run first reads a sample of each query table that it would change. It ends with ErrTooMuch
// if nearly all of these rows are under another key than their base row has. Before a removal, rows without a base row
// count too. A DryRun checks, too. Entity, and sets whose rows take patches, are not checked for other keys.
//
// A run reads all tables once, and [Reconciler.Estimate] says how much that is. The run keeps as many requests in
// flight as the cluster answers without slowing down ([InFlight], [Target], [Rate]).
package reconcile
