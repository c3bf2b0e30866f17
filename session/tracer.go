package session

import (
	"context"
	"time"

	"github.com/denorm-go/denorm/retry"
)

// Tracer is told of every Write, Resume and Modify of a writer and of every query of a reader, not of Load and
// Warm. It may also implement [RequestTracer], [RetryTracer] and [LinkTracer]; that is checked once. Methods are
// called on the goroutines of the operation and must be safe for concurrent use. Values of rows may be in Buckets, and
// in errors of gocql or the server that Err is or wraps. A method that returns a nil context keeps the one it was
// given.
type Tracer interface {
	// TraceStart is called when an operation begins; for a read, when its rows are ranged over. The operation and
	// TraceEnd get the context that it returns.
	TraceStart(ctx context.Context, data OperationStart) context.Context
	TraceEnd(ctx context.Context, data OperationEnd)
}

// RequestTracer is told of every request with all its attempts. A request is the mutations of a write that are sent
// together, the pages of one partition of a read, or a reader.Transaction. The read of a base row by Modify or Load is
// also a request; Load has no operation. With Confirm the reads of base rows for a page are one more request, within
// the request of the partition.
//
// The transaction of a Versioned or Compare set is a request of the base table alone. Its Host is not known, its
// retries are not reported, and OperationEnd.Requests does not count it.
type RequestTracer interface {
	// TraceRequestStart is called before the first attempt of a request, on its goroutine. The request's attempts,
	// retries and TraceRequestEnd get the context that it returns.
	TraceRequestStart(ctx context.Context, data RequestStart) context.Context
	TraceRequestEnd(ctx context.Context, data RequestEnd)
}

// RetryTracer is told of every failed attempt that is followed by another, in the context of its request.
type RetryTracer interface {
	TraceRetry(ctx context.Context, data Retry)
}

// LinkTracer links a Resume to the write that it finishes. What TraceLink returns for a failed write is kept in its
// error, also when the error is stored. Every Resume of the write reports it as [OperationStart].Link.
type LinkTracer interface {
	// TraceLink returns the W3C traceparent (version 00) of the Write or Resume under ctx; empty without one. It is
	// called when a Write or Resume has failed, before its TraceEnd. Other texts are ignored.
	TraceLink(ctx context.Context) string
}

// Operation names a kind of call that is reported to a [Tracer].
type Operation uint8

// The operations of writer and reader.
const (
	OperationWrite Operation = iota // a Write or Resume, and the writes of a Modify, which are within it
	OperationModify
	OperationRead
)

// OperationStart holds what is known when an operation begins; for a Modify only Operation and Op. Fields of other
// operations are zero.
type OperationStart struct {
	Operation Operation
	Op        string // its name, such as createOrder

	// Of a write:

	Changes int // how many entities change; 0 for a Resume
	Resume  bool
	// Link is the traceparent of the write that a Resume finishes, as a [LinkTracer] returned it. If the write was not
	// traced, Link is of an earlier Resume that sent something and failed, or empty. A stored error's Link is the stored
	// text: trust it as far as the storage.
	Link string

	// Of a read:

	Table     string // as declared; in reader.Transaction all tables, with commas between
	Limit     int    // 0 for none
	Continued bool   // it continues at a token
}

// OperationEnd holds what is known when an operation has ended. Fields of other operations are zero.
type OperationEnd struct {
	Operation Operation
	Op        string
	Err       error // of the call: nil, a *writer.Error, a *reader.Error and so on

	// Of a write:

	Timestamp int64  // microseconds; 0 if the write was rejected before it had one
	Mode      string // text of writer.Mode, such as fan-out
	Requests  int    // planned; a group counts as one
	Groups    int    // of requests that were sent together: see writer.Group
	Counters  int    // requests of counters among them; in a Resume they are not sent
	Attempts  int    // over all requests
	// Stragglers counts requests that had not ended when the call did: a write does not wait for them, and the driver may
	// ignore the context. Their TraceRequestEnd comes later. In a busy process a request may not have begun: it then sends
	// nothing, and its TraceRequestStart may come later, too.
	Stragglers int

	// Of a Modify:

	// Rounds is the number of calls of the function that changes the row. It is one more than the conflicts that were
	// retried, and 0 if no row was read.
	Rounds   int
	Declined bool // Err is the error of that function, and nothing was written

	// Of a read:

	Keyspace   string // physical; empty if the query was rejected
	Partitions int    // of the query, also those that were not read; in reader.Transaction its queries
	Rows       int    // given to the caller
	// Unconfirmed counts the rows that a query with Confirm left out, up to the last one that was given.
	Unconfirmed int
}

// RequestStart holds what is known when a request begins. Slices must not be changed.
type RequestStart struct {
	Op          string
	Keyspace    string   // physical; of the first mutation, if a batch spans several
	Tables      []string // without repeats, in declared order; physical
	Statements  []string // CQL texts with ? for every value; for a read only the first one
	Consistency Consistency

	// Idempotent says whether the request may be sent twice without harm. It is false for counters and for transactions of
	// Versioned and Compare sets.
	Idempotent bool

	// Of a write:

	Mode string // text of writer.Mode, or counter
	// Group is the number of requests that are sent together in this one: see writer.Group. It is 0 if this is not a
	// group. If the group fails, each becomes a request of its own. Each that is sent, or that the retry budget stops, is
	// traced after this one ends.
	Group int

	// Of a read:

	// Partition numbers the partitions of a query from 1. It is 1 in reader.Transaction, Modify and Load, 0 in a write.
	Partition int
	Buckets   []Bucket
}

// RequestEnd holds what is known when a request has ended.
type RequestEnd struct {
	Attempts    int
	Host        Host   // coordinator of the last attempt; zero if none was reached, see also [Trace]
	Reason      string // of the last failure, as retry.Verdict has it, or "conflict"; empty if there was none
	BudgetSpent bool   // another attempt was due, but the retry budget was spent
	Err         error
	Hedges      int // of the Attempts: those that were sent because another one had no answer yet, see writer.Hedge

	// Outcome is what the attempts of a write's request show; for a read it is always Unknown. With Versioned or Compare
	// the write's error may know more. In it, a query table that was not reached is Pending once the base row has the
	// change.
	Outcome retry.Outcome
	// Tables holds, for a group, the outcome of each table in [RequestStart].Tables, in the same order. Otherwise it is
	// nil.
	Tables []retry.Outcome

	// Of a read:

	Rows, Pages int // fetched, which may be more than the caller was given; with Confirm, rows that are confirmed
	// all rows that the server returned, also unconfirmed and deleted ones
	Returned int
	PageSize int // the largest that was asked for, in rows; a read begins with smaller ones
}

// Retry holds what is known when an attempt has failed and another will follow.
type Retry struct {
	Attempt int           // that failed, from 1
	Verdict retry.Verdict // how Err was classified
	Wait    time.Duration // until the next attempt
	Host    Host          // coordinator of the attempt; zero if none was reached
	// Err is what the attempt failed with. Errors of gocql and of the server may quote the statement and bound values. Put
	// Verdict.Reason into spans and logs, not Err.
	Err error
}

// Bucket is the value of one derived column of a partition key.
type Bucket struct{ Column, Value string }
