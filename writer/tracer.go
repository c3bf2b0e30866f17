package writer

import (
	"context"
	"reflect"
	"time"

	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
)

// Tracer is told of every logical write. A Tracer may also implement [RequestTracer], [RetryTracer] and [ModifyTracer];
// the writer looks once, when it is made. Methods are called on the goroutines of the write and must be safe for
// concurrent use. What they are told never holds a bound value; errors are those of the driver. A nil context that one
// returns stands for the one it was given.
type Tracer interface {
	// TraceWriteStart is called when Write, Resume or the write of Modify begins. The context it returns is that of
	// the write and of TraceWriteEnd.
	TraceWriteStart(ctx context.Context, data WriteStart) context.Context
	TraceWriteEnd(ctx context.Context, data WriteEnd)
}

// RequestTracer is told of every request: mutations of a write that travel together, with all attempts.
type RequestTracer interface {
	// TraceRequestStart is called before the first attempt of a request, on its goroutine. The context it returns is that of
	// the request's attempts, retries and TraceRequestEnd.
	TraceRequestStart(ctx context.Context, data RequestStart) context.Context
	TraceRequestEnd(ctx context.Context, data RequestEnd)
}

// RetryTracer is told of every attempt that failed and is followed by another.
type RetryTracer interface {
	TraceRetry(ctx context.Context, data RetryData)
}

// ModifyTracer is told of every Modify.
type ModifyTracer interface {
	// TraceModifyStart is called when Modify begins. The context it returns is that of its writes and of TraceModifyEnd.
	TraceModifyStart(ctx context.Context, data ModifyStart) context.Context
	TraceModifyEnd(ctx context.Context, data ModifyEnd)
}

// ModifyStart is what is known when a Modify begins.
type ModifyStart struct {
	Op string
}

// ModifyEnd is what is known when a Modify has ended.
type ModifyEnd struct {
	Op       string
	Rounds   int  // calls of the function that changes the row: one more than the conflicts that were retried; 0 if no row was read
	Declined bool // Err is the error of that function, and nothing was written
	Err      error
}

// WriteStart is what is known when a write begins.
type WriteStart struct {
	Op      string // the name of the logical write, such as createOrder
	Changes int    // how many entities change; 0 for a Resume
	Resume  bool
}

// WriteEnd is what is known when a write has ended.
type WriteEnd struct {
	Op        string
	Timestamp int64 // microseconds; 0 if the write was rejected before it had one
	Mode      Mode
	Requests  int
	Counters  int // requests of counters among them; in a Resume they are not sent
	Attempts  int // over all requests
	// Stragglers is how many requests had not ended when the call did: the driver does not look at the context everywhere, and
	// a busy process may not come to run a request at all, which then sends nothing. Their TraceRequestEnd comes later, and of the latter
	// perhaps TraceRequestStart too.
	Stragglers int
	Err        error
}

// RequestStart is what is known when a request begins. Slices must not be changed.
type RequestStart struct {
	Op          string
	Mode        Mode     // of the write, or Counter
	Keyspace    string   // physical; of the first mutation, if a batch spans several
	Tables      []string // without repeats, in declared order
	Statements  []string // CQL texts with ? for every value
	Consistency session.Consistency
}

// RequestEnd is what is known when a request has ended.
type RequestEnd struct {
	// Outcome is what the attempts of the request say. Where a condition comes first, the error may know more: a query table that was
	// not reached is Pending as soon as its entity's base row has the change.
	Outcome  Outcome
	Attempts int
	Host     session.Host // coordinator of the last attempt; zero if none was reached, see also Trace
	Reason   string       // of the last failure, as retry.Verdict has it, or "conflict"; empty if there was none
	Refused  bool         // another attempt was due, but the retry budget was spent
	Err      error
}

// RetryData is what is known when an attempt has failed and another will follow.
type RetryData struct {
	Attempt int // that failed, from 1
	Class   retry.Outcome
	Reason  string
	Wait    time.Duration // until the next attempt
	Host    session.Host
	Err     error
}

// tracers is a Tracer with what else it implements.
type tracers struct {
	write   Tracer
	request RequestTracer
	retry   RetryTracer
	modify  ModifyTracer
}

func newTracers(t Tracer) tracers {
	if v := reflect.ValueOf(t); t == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return tracers{}
	}
	ts := tracers{write: t}
	ts.request, _ = t.(RequestTracer)
	ts.retry, _ = t.(RetryTracer)
	ts.modify, _ = t.(ModifyTracer)
	return ts
}
