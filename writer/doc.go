// Package writer carries out logical writes: every change of an entity reaches all of its query tables, at one
// timestamp. A write is sent in the cheapest way that keeps this promise, and retried until each table has acknowledged
// it or the limits are met. The error of a failed write says table by table what is known.
//
//	s, err := session.Open(gocql.NewCluster("10.0.0.1"), session.LocalDC("dc1"))
//	w, err := writer.New(s)
//	err = schema.Validate(ctx, s, schema.Sets(Orders)) // at start: do the live tables agree with the declaration?
//	err = w.Warm(ctx, Orders)                          // and what the first write would have to read
//	res, err := w.Write(ctx, "createOrder", Orders.Insert(order))
//	order.UpdatedAt = res.Timestamp
//	res, err = w.Write(ctx, "payOrder", Orders.Update(order, paid))
//
// A [Writer] is made once and is safe for concurrent use. [Writer.With] derives one with other options for some calls.
//
// # Modes
//
// The writer chooses how the statements of a write are sent: as one request, as one request per partition ([FanOut]),
// through the batchlog ([LoggedBatch]), or after a lightweight transaction ([Conditional]). [Mode] has each with what
// it means, and [Writer.Explain] prints what is chosen for a write, without sending anything. [Auto] is the default;
// [Logged] and [Concurrent] override it. All mutations of a write but increments have one timestamp. [Result]
// returns it: it is the new stamp of the rows.
//
// # Read, change, write
//
// [Modify] reads an entity, calls a function that changes it, and writes it; after a conflict it begins again. [Load]
// reads the base row alone. With [Writer.Write] you supply the before-image of an update. It must be the row as it was
// read or written, because the writer takes from it the keys under which the entity has rows. Package bulk writes many
// changes.
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
// # Limits
//
// A call ends with its context, or after [Timeout]. Failed requests are retried as [Retry] says, within the budget of
// the session (session.Budget), so that retries do not multiply the load in an outage. [Hedge] sends a slow request
// once more, to another replica. Goroutines outlive a call in three cases only: a driver that does not return in time,
// whose requests are counted ([session.OperationEnd]); what [Writer.Wait] waits for; and the schema read of [Group].
// [session.Trace] takes a [session.Tracer]. No error, trace or log line holds a bound value.
//
// # Guarantees
//
// docs/ref/guarantees.md in the repository says, for each mode and each fault, what a reader of the tables can see, what to do
// about it, and which tests prove it. docs/README.md lists the other documents.
package writer
