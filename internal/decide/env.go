package decide

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// Env is what one call makes decisions with: how its requests are sent, and its clock.
type Env struct {
	Op          string
	Session     Session
	Retrier     *request.Retrier
	Tracer      request.Tracers
	Consistency gocql.Consistency
	Timeout     time.Duration // of what goes on after the call

	Now  func() time.Time
	Skew time.Duration                             // how far ahead of the clock a timestamp may be
	Next func(above int64) int64                   // a timestamp of now that is used for nothing else, above another one
	Pace func(context.Context, func() error) error // of attempts; nil for none

	Grace time.Duration // the age from which a claim without a row may be taken; 0 for the default
	Ends  *Ends

	// FanOut makes one attempt at each of these mutations of a row that was read at a time, and says how many requests it
	// has sent.
	FanOut func(ctx context.Context, op string, read time.Time, mutations []*statement.Mutation) (sent int, err error)

	Sent atomic.Int32 // requests
}

// Partition is for the requests to a partition.
func (e *Env) Partition(keyspace string, key []byte, local bool, level gocql.Consistency) Partition {
	serial := gocql.Serial
	if local {
		serial = gocql.LocalSerial
	}
	return Partition{
		Session: e.Session, Options: Options{key, level, serial}, Retrier: e.Retrier, Pace: e.Pace,
		Request: request.New(keyspace, key), Sent: &e.Sent,
	}
}

// Base is a base row.
func (e *Env) Base(base *entity.Base) BaseRow {
	keyspace, _, key := base.Place()
	return BaseRow{Partition: e.Partition(keyspace, key, base.Set.LocalSerial, base.Set.Level(e.Consistency)), Base: base}
}

// Read reads a base row, with all attempts. It returns nil if there is no row. A tracer is told of it as of a read.
func (e *Env) Read(ctx context.Context, base *entity.Base, plain bool) (row *entity.Row, err error) {
	at := e.Base(base)
	at.Plain = plain
	var told *request.Reading
	if e.Tracer.Any() {
		level := at.Options.Consistency
		if !plain {
			level = gocql.Consistency(at.Options.Serial)
		}
		_, table, _ := base.Place()
		text, _, _ := base.Select()
		ctx, told = e.Tracer.Read(ctx, at.Request, e.Op, table, text.Text, level)
	}
	result, err := e.Retrier.Do(ctx, retry.Swap, func(ctx context.Context, _ int) (err error) {
		row, err = at.Row(ctx)
		return err
	}, told.Observer())
	told.End(row != nil && row.Present, result, err)
	return row, err
}

// NewVersion is a version that nothing else has, above a timestamp.
func (e *Env) NewVersion(above int64) gocql.UUID {
	return entity.Owned(entity.Version(e.Next(above), rand.Uint64()), e.Ends.Number) //nolint:gosec // it tells writers apart, it hides nothing
}

// Partition sends the requests that a condition takes, for one partition, and counts them.
type Partition struct {
	Session Session
	Options Options
	Retrier *request.Retrier
	Request *request.Request
	Pace    func(context.Context, func() error) error // of attempts; nil for none
	Sent    *atomic.Int32
}

// begin begins a request, and returns the context that it is sent with.
func (p *Partition) begin(ctx context.Context) context.Context {
	p.Sent.Add(1)
	p.Request.Begin(ctx)
	return p.Request
}

// Transact makes one attempt at a transaction, see [Session].
func (p *Partition) Transact(ctx context.Context, statements ...statement.Bound) (applied bool, row map[string]any,
	err error,
) {
	applied, row, err = p.Session.Swap(p.begin(ctx), statements, p.Options)
	return applied, row, p.Request.End(err) //nolint:contextcheck // begin has made it from the caller's
}

// Commit makes one attempt at a transaction of Cassandra 6.
func (p *Partition) Commit(ctx context.Context, t *entity.Transaction) (*entity.Found, error) {
	found, err := p.Session.Commit(p.begin(ctx), t, p.Options)
	return found, p.Request.End(err) //nolint:contextcheck // begin has made it from the caller's
}

// Exec makes one attempt at a statement without condition.
func (p *Partition) Exec(ctx context.Context, s statement.Bound) error {
	return p.Request.End(p.Session.Exec(p.begin(ctx), s, p.Options)) //nolint:contextcheck // begin has made it from the caller's
}

// Read makes one attempt at reading a row, at SERIAL or, if plain, at the level of the commit.
func (p *Partition) Read(ctx context.Context, s statement.Bound, dest []any, plain bool) (found bool, err error) {
	found, err = p.Session.Read(p.begin(ctx), s, dest, plain, p.Options)
	return found, p.Request.End(err) //nolint:contextcheck // begin has made it from the caller's
}

// Try makes attempts, see [Try].
func (p *Partition) Try(ctx context.Context, attempt func(context.Context) error) (failed retry.Outcome, err error) {
	failed = retry.NotApplied
	once := func(ctx context.Context, _ int) error {
		err := attempt(ctx)
		if err != nil && retry.Classify(err, retry.Swap).Outcome != retry.NotApplied {
			failed = retry.Unknown
		}
		return err
	}
	if p.Pace == nil {
		_, err = p.Retrier.Do(ctx, retry.Swap, once, nil)
		return failed, err
	}
	err = p.Pace(ctx, func() error {
		_, err := p.Retrier.Do(ctx, retry.Swap, once, nil)
		return err
	})
	return failed, err
}

// Trier makes attempts: a [Partition], or what has one.
type Trier interface {
	Try(ctx context.Context, attempt func(context.Context) error) (failed retry.Outcome, err error)
}

// Try makes attempts until one succeeds or is not worth another. failed is what is known of the attempts that failed:
// Unknown if what one of them sent may still have an effect, now or later, also if a later one succeeded; else
// NotApplied.
func Try[T any](ctx context.Context, by Trier, attempt func(context.Context) (T, error)) (value T, failed retry.Outcome,
	err error,
) {
	failed, err = by.Try(ctx, func(ctx context.Context) (err error) {
		value, err = attempt(ctx)
		return err
	})
	return value, failed, err
}

// BaseRow is the base row of an entity on the cluster.
type BaseRow struct {
	Partition
	Base  *entity.Base
	Plain bool // reads are at the level of the commit: what is decided, but not yet committed, they may not see
}

// Row makes one attempt at reading the row. It returns nil if there is no row.
func (b *BaseRow) Row(ctx context.Context) (*entity.Row, error) {
	text, dest, row := b.Base.Select()
	if found, err := b.Read(ctx, text, dest, b.Plain); err != nil || !found {
		return nil, err
	}
	read, err := row()
	return &read, request.Stop(err)
}
