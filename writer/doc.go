// Package writer carries out logical writes: every change of an entity reaches all of its query tables, at one
// timestamp. A write is sent in the cheapest way that keeps this promise, and retried until each table has acknowledged
// it or the limits are met. The error of a failed write says table by table what is known.
//
//	w, err := writer.New(s) // of session.Open; schema.Validate compares the live tables, Writer.Warm reads ahead
//	res, err := w.Write(ctx, "createOrder", Orders.Insert(order))
//	switch writer.OutcomeOf(err) {
//	case writer.Applied: // every table has it
//		order.UpdatedAt = res.Timestamp
//	case writer.Unknown: // it may have happened: store the error and resume it
//	case writer.NotApplied: // nothing happened: the request may be made again
//	case writer.Conflict, writer.Taken: // another request came first
//	case writer.Invalid: // the call or the row is not valid
//	}
//	order, err = writer.Modify(ctx, w, "payOrder", Orders, order, func(o Order) (Order, error) {
//		o.Status = "paid"
//		return o, nil
//	}) // reads the base row, changes it, and moves its row in the tables keyed by status
//
// A [Writer] is made once and is safe for concurrent use. [Writer.With] derives one with other options for some calls.
//
// # Errors
//
// The error of a failed write is an [*Error], with a [TableResult] for each table but Unique ones:
//
//	var failed *writer.Error
//	if errors.As(err, &failed) && failed.Resumable() {
//		_, err = w.Resume(ctx, failed) // same values, same timestamp, only to tables not known to have them
//	}
//
// [OutcomeOf] is one value for a switch; [ErrInvalid] and the other sentinels are for errors.Is. A write that may have
// been applied is never reported as not applied: a timeout followed by a clean error is still Unknown. [Current]
// returns the row that a conflict met. [Error.MarshalBinary] stores a failed write, with its values, so that any
// process can resume it within half of gc_grace_seconds. [At] gives a request that may be repeated from the start its
// timestamp.
//
// [OutcomeOf] takes an error of any call of this package, of an item of package bulk, or of package reader, also
// wrapped. Other errors in the same tree are ignored. If several errors of the library are joined and disagree, the
// outcome is Unknown if one of them is, otherwise NotApplied. A partial write is Unknown, and so are [ErrExpired], a
// *bulk.Error, and a conflict where an earlier attempt may have been applied. So is an error from UnmarshalBinary, as
// it may have been resumed since.
//
// # Resume
//
// [Writer.Resume] fails with [ErrExpired] if the write is older than half the smallest gc_grace_seconds of its tables,
// but at least a minute old. An insert whose condition is not decided expires after 12 hours. If the schema of a table
// cannot be read, or a table is missing, that is the cause in the error of Resume. A later Resume may succeed. A
// default_time_to_live counts from the timestamp of the write.
//
// A stored error may have been written by others. Resume rejects it with [ErrInvalid]
//
//   - if its keyspaces are not the writer's: of its session, and what [session.Keyspaces] maps to;
//   - if none of the sets that [Resumes] names could have made it: by keyspaces, tables, primary keys, columns, types
//     and expiry;
//   - if its timestamp is further ahead than [MaxClockSkew]. That holds for every error if the clock was set back.
//
// The writer may be at fault, such as one with the sets of an older release, or with an invalid option. So the returned
// error says the same of the tables. It is Resumable until 5 days after the write: keep it, and look at its text. It is
// not Resumable if no writer may send it. Without Resumes an error may be of any table in the writer's keyspaces. A
// forged one of a Versioned entity may then leave a key from which no bucket follows, and every later write of the
// entity fails.
//
// Counters are never sent again: only the caller can say whether an addition that came late, or twice, would do harm.
// Resume does not return nil while one of them is not Applied. Once the rest is Applied, a Resume is rejected.
//
// # Repeated requests
//
// With [At] a repeated request is the same write: docs/failures.md. Two writes of an entity at one timestamp mix. In
// sets with Stamp and in Versioned sets the writer rejects an update or delete of a row that has this timestamp as its
// stamp. An update that changes nothing is not rejected. Of changes without a before-image it cannot tell.
//
// The writer does not check whether a repeat is too late, except that an insert with a condition is rejected after 12
// hours. A write with a condition that fails with At is Unknown, as an earlier try may have been applied. It is
// NotApplied only where the row of a Versioned set shows that another change won.
//
// # Read, change, write
//
// [Modify] reads an entity, calls a function that changes it, and writes it; after a conflict it begins again. [Load]
// reads the base row alone. Package reader reads lists. With [Writer.Write] you supply the before-image of an update.
// It must be the row as it was read or written, because the writer takes from it the keys under which the entity has
// rows. Package bulk writes many changes.
//
// # Modes
//
// The writer chooses how the statements of a write are sent. One request, one request per partition ([FanOut]), the
// batchlog ([LoggedBatch]) and a lightweight transaction ([Conditional]) are the usual ways; [Mode] lists all.
// [Writer.Explain] returns what is chosen for a write, without sending anything; package explain prints it. [Auto] is
// the default; [Logged] and [Concurrent] override it. All mutations of a write but increments have one timestamp.
// [Result] returns it: it is the new stamp of the rows.
//
// # Limits
//
// A call ends with its context, or after [Timeout]. Failed requests are retried as [Retry] says, within the budget of
// the session (session.Budget), so that retries do not multiply the load in an outage. [Hedge] sends a slow request
// once more, to another replica. Three kinds of goroutines can outlive a call:
//
//   - requests for which the driver does not return in time ([session.OperationEnd] counts them);
//   - what [Writer.Wait] waits for;
//   - the schema read of [Group].
//
// [session.Trace] takes a [session.Tracer]. No error, trace or log line holds a bound value.
//
// # Guarantees
//
// docs/ref/guarantees.md in the repository says, for each mode and each fault, what a reader of the tables can see and
// what to do about it. It also names the tests. docs/README.md lists the other documents.
package writer
