// Package temporal runs [reconcile.Reconciler.Verify] and [reconcile.Reconciler.Backfill] on Temporal, for clusters
// where they take longer than one process should: many workers share the ranges of the ring, and any of them may die,
// or be deployed again, at any time.
//
// A service has its worker do the work, in its own binary, which knows the sets and has the session:
//
//	w := worker.New(client, "denorm", worker.Options{WorkerStopTimeout: 10 * time.Second})
//	err := temporal.Register(w, session, []tables.Described{Orders})
//	err = w.Run(worker.InterruptCh())
//
// [Start] starts a run from anywhere, as does the command temporal with a [Run] as JSON:
//
//	run, err := temporal.Start(ctx, client, "denorm", temporal.Run{Kind: temporal.Verify, Set: "order"})
//	var report temporal.Report
//	err = run.Get(ctx, &report)
//	err = report.Err()
//
// # How it works
//
// A run is a workflow of type denorm.reconcile. It cuts the ring into equal ranges, which follow from their number, so
// that no plan is stored. An activity reads a range of a table, as [reconcile.Lookup] does. Its heartbeats say up to
// which token all is read and settled, and what was counted until then. If its worker dies, another one goes on from
// that token. An activity ends after some minutes, and the workflow cuts the rest of its range in halves. The workflow
// continues as new before its history becomes long.
//
// The workflow takes the signals pause, resume and rate; rate has the requests a second of all workers together, 0 for
// no bound. The query progress returns a [Progress]. Canceling the workflow does no harm: a row is put at its own time,
// whenever it arrives.
//
// # What Temporal is told
//
// The arguments, results and heartbeats have names of sets and tables, settings, ranges of tokens and counts: no rows,
// keys, or hashes of these. Texts of errors stay in the log of the worker.
//
// The guide is docs/temporal.md.
package temporal
