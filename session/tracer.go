package session

import (
	"context"
	"time"

	"github.com/denorm-go/denorm/retry"
)

// Tracer is told of every Write, Resume and Modify of a writer and of every query of a reader. It is not told of Load, Check and
// Explain. It may also implement [RequestTracer], [RetryTracer] and [LinkTracer]; writer and reader look once, when they are made.
// Methods are called on the goroutines of the operation and must be safe for concurrent use. No field but Err and Buckets holds a value of
// a row. A nil context that a method returns stands for the one it was given.
type Tracer interface {
	// TraceStart is called when an operation begins: that of a read when its rows are ranged over. The context it
	// returns is that of the operation and of TraceEnd.
	TraceStart(ctx context.Context, data OperationStart) context.Context
	TraceEnd(ctx context.Context, data OperationEnd)
}

// RequestTracer is told of every request with all its attempts: mutations of a write that travel together, or the pages
// of one partition of a read; of a read with Confirm also the reads of base rows for a page, together, within that of the partition. The lightweight transaction of a set with conditions is a request of the base table alone; its Host
// is not known, its repetitions are not told, and OperationEnd.Requests does not count it.
type RequestTracer interface {
	// TraceRequestStart is called before the first attempt of a request, on its goroutine. The context it returns is
	// that of the request's attempts, retries and TraceRequestEnd.
	TraceRequestStart(ctx context.Context, data RequestStart) context.Context
	TraceRequestEnd(ctx context.Context, data RequestEnd)
}

// RetryTracer is told of every attempt that failed and is followed by another, in the context of its request.
type RetryTracer interface {
	TraceRetry(ctx context.Context, data Retry)
}

// LinkTracer links a Resume to the write that it finishes. What TraceLink returns of a write that has failed is kept in its error, also
// where that is stored, and every Resume of it is told by [OperationStart].Link.
type LinkTracer interface {
	// TraceLink returns the W3C traceparent (version 00) of the Write or Resume whose context ctx is; empty if there is nothing to link to.
	// It is called once a Write or Resume has failed, before its TraceEnd. Anything else than a traceparent is ignored.
	TraceLink(ctx context.Context) string
}

// Operation is a kind of call that a [Tracer] is told of.
type Operation uint8

// The operations of writer and reader.
const (
	OperationWrite Operation = iota // a Write or Resume, and the writes of a Modify, which are within it
	OperationModify
	OperationRead
)

// OperationStart is what is known when an operation begins. Of a Modify that is Operation and Op. Fields of other operations are zero.
type OperationStart struct {
	Operation Operation
	Op        string // its name, such as createOrder

	// Of a write:

	Changes int // how many entities change; 0 for a Resume
	Resume  bool
	// Link is the traceparent of the write that a Resume finishes: what a [LinkTracer] returned of it or, if that was not traced, of an
	// earlier Resume that has sent something and failed. Empty if none is known. For a stored error it is the stored text: trust it as far as the storage.
	Link string

	// Of a read:

	Table     string // as declared
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
	Requests  int    // in which it was planned; a group is one
	Groups    int    // of requests that have travelled together: see writer.Group
	Counters  int    // requests of counters among them; in a Resume they are not sent
	Attempts  int    // over all requests
	// Stragglers is how many requests had not ended when the call did: the driver does not look at the context
	// everywhere. Their TraceRequestEnd comes later. A busy process may not even have begun a request; it sends nothing then, and its
	// TraceRequestStart may come later, too.
	Stragglers int

	// Of a Modify:

	// Rounds is calls of the function that changes the row: one more than the conflicts that were retried; 0 if no row
	// was read.
	Rounds   int
	Declined bool // Err is the error of that function, and nothing was written

	// Of a read:

	Keyspace   string // physical; empty if the query was rejected
	Partitions int    // of the query; not all need have been asked
	Rows       int    // given
	// Unconfirmed is how many rows a query with Confirm has left out, up to the last one that was given.
	Unconfirmed int
}

// RequestStart is what is known when a request begins. Slices must not be changed.
type RequestStart struct {
	Op          string
	Keyspace    string   // physical; of the first mutation, if a batch spans several
	Tables      []string // without repeats, in declared order; physical
	Statements  []string // CQL texts with ? for every value; of a read the first one
	Consistency Consistency

	// Idempotent says whether the request may be sent twice without harm. It is false of counters and of the transactions of conditions.
	Idempotent bool

	// Of a write:

	Mode string // text of writer.Mode, or counter
	// Group is how many requests travel together in this one: see writer.Group. 0 if it is no group. If it fails, each of them goes on as a
	// request of its own, of which the tracer is told after the end of this one: if it is sent, or if the retry budget does not allow that.
	Group int

	// Of a read:

	Partition int // its number, from 1, in the order of the query; 0 of a write
	Buckets   []Bucket
}

// RequestEnd is what is known when a request has ended.
type RequestEnd struct {
	Attempts    int
	Host        Host   // coordinator of the last attempt; zero if none was reached, see also writer.Trace
	Reason      string // of the last failure, as retry.Verdict has it, or "conflict"; empty if there was none
	BudgetSpent bool   // another attempt was due, but the retry budget was spent
	Err         error
	Hedges      int // of the Attempts: those that were sent because another one had no answer yet, see writer.Hedge

	// Outcome is what the attempts of a request of a write say; of a read it is always Unknown. Where a condition comes first, the error may know more:
	// a query table that was not reached is Pending as soon as its entity's base row has the change.
	Outcome retry.Outcome
	// Tables is, of a group, what is known after it of each table in [RequestStart].Tables, in their order. Nil if the request is no group.
	Tables []retry.Outcome

	// Of a read:

	Rows, Pages int // fetched, which may be more than was given; with Confirm, rows that are confirmed
	Returned    int // rows that the server has returned, those of deleted entities and those that are not confirmed included
	PageSize    int // the largest that was asked for, in rows; a read begins with smaller ones
}

// Retry is what is known when an attempt has failed and another will follow.
type Retry struct {
	Attempt int           // that failed, from 1
	Verdict retry.Verdict // how Err was classified
	Wait    time.Duration // until the next attempt
	Host    Host          // coordinator of the attempt; zero if none was reached
	// Err is what the attempt failed with. Errors of gocql and of the server may quote the statement and bound values, so
	// it belongs in no span or log without thought; Verdict.Reason does.
	Err error
}

// Bucket is the value of one derived column of a partition key.
type Bucket struct{ Column, Value string }
