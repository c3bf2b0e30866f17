package reader

import (
	"context"
	"reflect"
	"time"

	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
)

// Tracer is told of every read. A Tracer may also implement [PartitionTracer] and [RetryTracer]; the reader looks once,
// when it is made. Methods are called on the goroutines of the read and must be safe for concurrent use. What they are
// told never holds a bound value, buckets excepted (see [Error]); errors are those of the driver. A nil context that
// one returns stands for the one it was given.
type Tracer interface {
	// TraceReadStart is called when the rows of a query are ranged over. The context it returns is that of the read and of
	// TraceReadEnd.
	TraceReadStart(ctx context.Context, data ReadStart) context.Context
	TraceReadEnd(ctx context.Context, data ReadEnd)
}

// PartitionTracer is told of every partition that is read.
type PartitionTracer interface {
	// TracePartitionStart is called before the first request, on the partition's goroutine. The context it returns is that
	// of its requests, retries and TracePartitionEnd.
	TracePartitionStart(ctx context.Context, data PartitionStart) context.Context
	TracePartitionEnd(ctx context.Context, data PartitionEnd)
}

// RetryTracer is told of every request that failed and is repeated.
type RetryTracer interface {
	TraceReadRetry(ctx context.Context, data RetryData)
}

// ReadStart is what is known when a read begins.
type ReadStart struct {
	Op        string
	Table     string // as declared
	Limit     int    // 0 for none
	Continued bool   // it continues at a token
}

// ReadEnd is what is known when a read has ended.
type ReadEnd struct {
	Op         string
	Keyspace   string // physical; empty if the query was rejected
	Partitions int    // of the query; not all need have been asked
	Rows       int    // given
	Err        error
}

// PartitionStart is what is known when a partition begins. Slices must not be changed.
type PartitionStart struct {
	Op              string
	Keyspace, Table string // physical
	Statement       string // the first one, with ? for every value
	Partition       int    // from 1, in the order of the query
	Buckets         []Bucket
	Consistency     session.Consistency
}

// PartitionEnd is what is known when a partition has ended.
type PartitionEnd struct {
	Rows, Pages int // fetched, which may be more than was given
	Attempts    int
	Host        session.Host // coordinator of the last request; zero if none was reached
	Reason      string       // of the failure, as retry.Verdict has it; empty if there was none
	Refused     bool         // another attempt was due, but the retry budget was spent
	Err         error
}

// RetryData is what is known when a request has failed and will be repeated.
type RetryData struct {
	Attempt int // that failed, from 1
	Class   retry.Outcome
	Reason  string
	Wait    time.Duration
	Host    session.Host
	Err     error
}

// tracers is a Tracer with what else it implements.
type tracers struct {
	read      Tracer
	partition PartitionTracer
	retry     RetryTracer
}

func newTracers(t Tracer) tracers {
	if v := reflect.ValueOf(t); t == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return tracers{}
	}
	ts := tracers{read: t}
	ts.partition, _ = t.(PartitionTracer)
	ts.retry, _ = t.(RetryTracer)
	return ts
}

// orOuter is the context that a tracer has made of outer, or outer if the tracer has made none.
func orOuter(outer, inner context.Context) context.Context {
	if inner == nil {
		return outer
	}
	return inner
}

// These do nothing, and allocate nothing, without a tracer.

func (t tracers) readStart(ctx context.Context, data ReadStart) context.Context {
	if t.read == nil {
		return ctx
	}
	return orOuter(ctx, t.read.TraceReadStart(ctx, data))
}

func (t tracers) readEnd(ctx context.Context, data ReadEnd) {
	if t.read != nil {
		t.read.TraceReadEnd(ctx, data)
	}
}

func (t tracers) partitionStart(ctx context.Context, op string, p *plan, x *partition, level session.Consistency) context.Context {
	if t.partition == nil {
		return ctx
	}
	return orOuter(ctx, t.partition.TracePartitionStart(ctx, PartitionStart{
		Op: op, Keyspace: p.keyspace, Table: x.table, Statement: x.scans[0].statement, Partition: x.number, Buckets: x.shown,
		Consistency: level,
	}))
}

func (t tracers) partitionEnd(ctx context.Context, data PartitionEnd) {
	if t.partition != nil {
		t.partition.TracePartitionEnd(ctx, data)
	}
}

// observer is nil without a tracer of retries. ctx is that of the partition.
func (t tracers) observer(ctx context.Context, end *PartitionEnd) func(request.Event) {
	if t.retry == nil {
		return nil
	}
	return func(e request.Event) {
		t.retry.TraceReadRetry(ctx, RetryData{
			Attempt: e.Attempt, Class: e.Verdict.Outcome, Reason: e.Verdict.Reason, Wait: e.Wait, Host: end.Host, Err: e.Err,
		})
	}
}
