// Package writer carries out logical writes: every change of an entity reaches all of its query tables, at one
// timestamp. A write is sent in the cheapest way that keeps this promise, and retried until each table has acknowledged
// it or the limits are met. The error of a failed write says table by table what is known.
//
//	w, err := writer.New(s) // of session.Open; schema.Validate compares the live tables, Writer.Warm reads ahead
//	res, err := w.Write(ctx, "createOrder", Orders.Insert(order))
//	switch writer.OutcomeOf(err) {
//	case writer.Applied: // every table has it
//		order.UpdatedAt = res.Timestamp
//	case writer.Unknown: // it may have happened: store the error, and resume it if it is Resumable
//	case writer.NotApplied: // nothing happened: make the request again, but not after ErrRefused or ErrTooLarge
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
// [OutcomeOf] returns one value for a switch; errors.Is matches [ErrInvalid] and the other sentinels. A write that may
// have been applied is never reported as not applied: a timeout followed by a clean error is still Unknown. [Current]
// returns the row that a conflict met. [Error.MarshalBinary] stores a failed write, with its values, so that any
// process can resume it: [ErrExpired] has the limit. [At] fixes the timestamp of a request that clients may repeat.
//
// [OutcomeOf] takes an error of any call of this package, of an item of package bulk, or of package reader, also
// wrapped. Other errors in the same tree are ignored. If several errors of the library are joined and disagree, the
// outcome is Unknown if one of them is Unknown, otherwise NotApplied. A partial write, [ErrExpired] and a *bulk.Error
// are Unknown. A conflict is Unknown if an earlier attempt may have been applied. An Error read by UnmarshalBinary is
// Unknown: it may have been resumed since.
//
// # Resume
//
// [Writer.Resume] fails with [ErrExpired] if the write is too old. If the schema of a table cannot be read, or a table
// is missing, a later Resume may succeed. A default_time_to_live counts from the timestamp of the write: a resumed row
// gets what is left of it.
//
// A stored error may have been written by others. Resume rejects it with [ErrInvalid]
//
//   - without [Resumes], if it has a keyspace that neither the session nor [session.Keyspaces] names;
//   - with Resumes, if none of its sets could have made it: by keyspaces, tables, primary keys, columns, types and
//     expiry;
//   - if its timestamp is further ahead than [MaxClockSkew]. A clock that was set back may reject all.
//
// The writer may be at fault: it has an invalid option, or sets of an older release. So the returned error keeps the
// tables' results. It is Resumable if the write is at most 5 days old: keep it, and look at its text. If no writer may
// send it, it is not Resumable.
//
// Without Resumes, a forged error may name any table in the writer's keyspaces. It may then make all later writes of a
// Versioned entity fail.
//
// # Repeated requests
//
// With [At] a repeated request is the same write: docs/failures.md. Two different writes of an entity at one timestamp
// mix their columns. So the writer rejects an update or delete whose before-image has this timestamp as its stamp or
// version. With Stamp it accepts an update that changes nothing. It cannot check changes without a before-image.
//
// The writer does not check whether a repeat is too late. It only rejects an insert into a Versioned or Compare set
// after 12 hours. With At, a failed write of such a set is Unknown, even after a conflict: an earlier try may have been
// applied. It is NotApplied only if the row of a Versioned set shows that another change won.
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
// Package explain prints what is chosen for a write, without sending anything. [Auto] is the default; [Logged] and
// [Concurrent] override it. All mutations of a write, except of counters, have one timestamp: the new stamp of the rows,
// in [Result].
//
// # Limits
//
// A call ends with its context, or after [Timeout]. [Retry] sets how failed requests are retried. The budget of the
// session (session.Budget) keeps retries from multiplying the load in an outage. [Hedge] sends a slow request once
// more, to another replica. Requests that the driver ends late can outlive a call ([session.OperationEnd] counts them).
// So can the work that [Writer.Wait] awaits, and a schema read of [Group].
//
// No text of an [*Error] and no log line holds a bound value. Errors of the driver and the server, which an Error
// wraps, may quote values.
//
// # Guarantees
//
// docs/ref/guarantees.md in the repository says, for each mode and each fault, what a reader of the tables can see and
// what to do about it. docs/README.md lists the other documents.
package writer
