package session

import (
	"context"
	"time"

	"github.com/denorm-go/denorm/retry"
)

// Tracer is told of every Write, Resume and Modify of a writer and of every query of a reader, not of Load, Warm and
// Explain. It may also implement [RequestTracer], [RetryTracer] and [LinkTracer]; that is checked once. Methods are
// called on the goroutines of the operation and must be safe for concurrent use. Only the fields Err and Buckets hold
// values of rows. A nil context that a method returns stands for the one it was given.
type Tracer interface {
	// TraceStart is called when an operation begins; for a read, when its rows are ranged over. The operation and
	// TraceEnd get the context that it returns.
	TraceStart(ctx context.Context, data OperationStart) context.Context
	TraceEnd(ctx context.Context, data OperationEnd)
}

// RequestTracer is told of every request with all its attempts. A request is the mutations of a write that are sent
// together, the pages of one partition of a read, or a reader.Transaction. The read of a base row by Modify or Load is
// also one. In a read with Confirm the reads of base rows for a page are one more request, within the request of the
// partition.
//
// The transaction of a set with conditions is a request of the base table alone. Its Host is not known, its repetitions
// are not told, and OperationEnd.Requests does not count it.
type RequestTracer interface {
	// TraceRequestStart is called before the first attempt of a request, on its goroutine. The request's attempts,
	// retries and TraceRequestEnd get the context that it returns.
	TraceRequestStart(ctx context.Context, data RequestStart) context.Context
	TraceRequestEnd(ctx context.Context, data RequestEnd)
}

// RetryTracer is told of every attempt that failed and is followed by another, in the context of its request.
type RetryTracer interface {
	TraceRetry(ctx context.Context, data Retry)
}

// LinkTracer links a Resume to the write that it finishes. What TraceLink returns for a failed write is kept in its
// error, also when the error is stored. Every Resume of the write reports it as [OperationStart].Link.
type LinkTracer interface {
	// TraceLink returns the W3C traceparent (version 00) of the Write or Resume whose context ctx is; empty if there is
	// nothing to link to. It is called once a Write or Resume has failed, before its TraceEnd. Anything else than a
	// traceparent is ignored.
	TraceLink(ctx context.Context) string
}

// Operation is a kind of call that is reported to a [Tracer].
type Operation uint8

// The operations of writer and reader.
const (
	OperationWrite Operation = iota // a Write or Resume, and the writes of a Modify, which are within it
	OperationModify
	OperationRead
)

// OperationStart is what is known when an operation begins. For a Modify that is Operation and Op. Fields of other
// operations are zero.
type OperationStart struct {
	Operation Operation
	Op        string // its name, such as createOrder

	// Of a write:

	Changes int // how many entities change; 0 for a Resume
	Resume  bool
	// Link is the traceparent of the write that a Resume finishes, as a [LinkTracer] returned it. If the write was not
	// traced, it is of an earlier Resume that has sent something and failed. It is empty if none is known. For a stored
	// error it is the stored text: trust it as far as the storage.
	Link string

	// Of a read:

	Table     string // as declared; of reader.Transaction all of them, with commas between
	Limit     int    // 0 for none
	Continued bool   // it continues at a token
}

// OperationEnd is what is known when an operation has ended. Fields of other operations are zero.
type OperationEnd struct {
	Operation Operation
	Op        string
	Err       error // that of the call: nil, a *writer.Error, a *reader.Error and so on

	// Of a write:

	Timestamp int64  // microseconds; 0 if the write was rejected before it had one
	Mode      string // text of writer.Mode, such as fan-out
	Requests  int    // planned; a group counts as one
	Groups    int    // of requests that were sent together: see writer.Group
	Counters  int    // requests of counters among them; in a Resume they are not sent
	Attempts  int    // over all requests
	// Stragglers is the number of requests that had not ended when the call did: the driver does not check the context
	// everywhere. Their TraceRequestEnd comes later. In a busy process a request may not even have begun; it then sends
	// nothing, and its TraceRequestStart may come later, too.
	Stragglers int

	// Of a Modify:

	// Rounds is the number of calls of the function that changes the row. It is one more than the conflicts that were
	// retried, and 0 if no row was read.
	Rounds   int
	Declined bool // Err is the error of that function, and nothing was written

	// Of a read:

	Keyspace   string // physical; empty if the query was rejected
	Partitions int    // of the query; not all need have been asked. Of reader.Transaction the number of its queries
	Rows       int    // given to the caller
	// Unconfirmed is how many rows a query with Confirm has left out, up to the last one that was given.
	Unconfirmed int
}

// RequestStart is what is known when a request begins. Slices must not be changed.
type RequestStart struct {
	Op          string
	Keyspace    string   // physical; of the first mutation, if a batch spans several
	Tables      []string // without repeats, in declared order; physical
	Statements  []string // CQL texts with ? for every value; for a read only the first one
	Consistency Consistency

	// Idempotent says whether the request may be sent twice without harm. It is false for counters and for the
	// transactions of conditions.
	Idempotent bool

	// Of a write:

	Mode string // text of writer.Mode, or counter
	// Group is the number of requests that are sent together in this one: see writer.Group. It is 0 if this is not a
	// group. If the group fails, each of them becomes a request of its own. The tracer is told of each after the end of
	// this one, if it is sent or if the retry budget does not allow that.
	Group int

	// Of a read:

	// Partition is its number, from 1, in the order of the query. It is 1 of reader.Transaction, Modify and Load, and 0
	// of a write.
	Partition int
	Buckets   []Bucket
}

// RequestEnd is what is known when a request has ended.
type RequestEnd struct {
	Attempts    int
	Host        Host   // coordinator of the last attempt; zero if none was reached, see also [Trace]
	Reason      string // of the last failure, as retry.Verdict has it, or "conflict"; empty if there was none
	BudgetSpent bool   // another attempt was due, but the retry budget was spent
	Err         error
	Hedges      int // of the Attempts: those that were sent because another one had no answer yet, see writer.Hedge

	// Outcome is what is known from the attempts of a request of a write; for a read it is always Unknown. In a write
	// with a condition the error may know more. There a query table that was not reached is Pending as soon as the base
	// row of its entity has the change.
	Outcome retry.Outcome
	// Tables holds, for a group, what is known after it about each table in [RequestStart].Tables, in the same order. It
	// is nil if the request is not a group.
	Tables []retry.Outcome

	// Of a read:

	Rows, Pages int // fetched, which may be more than the caller was given; with Confirm, rows that are confirmed
	// rows that the server has returned, also of deleted entities, and rows that are not confirmed
	Returned int
	PageSize int // the largest that was asked for, in rows; a read begins with smaller ones
}

// Retry is what is known when an attempt has failed and another will follow.
type Retry struct {
	Attempt int           // that failed, from 1
	Verdict retry.Verdict // how Err was classified
	Wait    time.Duration // until the next attempt
	Host    Host          // coordinator of the attempt; zero if none was reached
	// Err is what the attempt failed with. Errors of gocql and of the server may quote the statement and bound values. Do
	// not put it in a span or log without thought: Verdict.Reason belongs there.
	Err error
}

// Bucket is the value of one derived column of a partition key.
type Bucket struct{ Column, Value string }
