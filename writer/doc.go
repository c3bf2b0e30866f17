// Package writer carries out logical writes: every change of an entity reaches all of its query tables, at one
// timestamp, in the cheapest way that keeps the promise, retried until each table has acknowledged it or the limits are
// met, with an error that says table by table what is known.
//
//	s, err := session.Open(gocql.NewCluster("10.0.0.1"), session.LocalDC("dc1"))
//	w, err := writer.New(s)
//	err = w.Check(ctx, Orders) // at start: do the live tables agree with the declaration?
//	res, err := w.Write(ctx, "createOrder", Orders.Insert(order))
//	order.UpdatedAt = res.Timestamp
//	res, err = w.Write(ctx, "payOrder", Orders.Update(order, paid))
//
// A [Writer] is made once and is safe for concurrent use. [Writer.With] derives one with other options for some calls.
//
// # Modes
//
// The writer chooses how the statements of a write are sent, and [Writer.Explain] prints what it chooses and what that
// means, without sending anything:
//
//   - [Single] and [SamePartition]: one request, all of it or nothing.
//   - [FanOut]: one request per partition, at the same time, the default for an insert. If the client dies, some tables
//     have the write.
//   - [LoggedBatch]: where deletes are sent over several partitions, several entities change, or a set is declared
//     Atomic. The server completes what the batchlog has stored; readers may still see one table before another.
//   - [Fallback]: a fan-out in place of a logged batch while no batchlog can be written. [Logged] and sets that are Atomic
//     fail instead.
//   - [Conditional]: a lightweight transaction of the base row first, then the query tables. For sets with
//     [tables.Versioned] or [tables.Compare].
//   - [Counter]: additions to counters, in requests of their own, which are never sent again once they may have been
//     counted.
//
// [Auto] is the default; [Logged] and [Concurrent] choose otherwise. All mutations of a write but those of counters have
// one timestamp, which [Result] gives back: it is the new stamp of the rows.
//
// # Read, change, write
//
// [Modify] reads an entity, calls a function that changes it, and writes it; after a conflict it begins again. [Load]
// reads the base row alone. With [Writer.Write] the before-image of an update is yours, and has to be the row as it was
// read or written: the keys under which the entity has rows are taken from it.
//
// # Errors
//
// The error of a failed write is an [*Error], with a [TableResult] for each table:
//
//	var failed *writer.Error
//	if errors.As(err, &failed) && failed.Resumable() {
//		_, err = w.Resume(ctx, failed) // same values, same timestamp, only to tables not known to have them
//	}
//
// [OutcomeOf] is one value for a switch: [Applied], [Unknown], [NotApplied], [Conflict], [Taken], [Invalid] or
// [NotFound]; [ErrInvalid] and the other sentinels are for errors.Is. What may have happened is never said not to have
// happened: a timeout that is followed by a clean error is still unknown. [Current] gives the row that a conflict met.
//
// [Error.MarshalBinary] stores a failed write, with its values, so that any process can resume it within half of
// gc_grace_seconds. A request that may be repeated from the start is given its timestamp by [At].
//
// # Limits
//
// A call ends with its context, or after [Timeout]. Failed requests are repeated as [Retry] says, within the budget of the
// session (session.Budget), so that an outage is not multiplied. [Hedge] sends a slow request once more, to another
// replica. A writer starts no goroutine that outlives a call, but for a driver that does not return in time; what it is
// still doing is counted ([session.OperationEnd]).
//
// # Observing
//
// [Trace] takes a [session.Tracer]; package tracing has those for OpenTelemetry and log/slog. No error, trace or log line holds a
// bound value.
//
// # Guarantees
//
// docs/guarantees.md in the repository says, for each mode and each fault, what a reader of the tables can see, what to do
// about it, and which tests prove it, and docs/README.md lists what else there is to read.
package writer
