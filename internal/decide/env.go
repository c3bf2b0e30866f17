package decide

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/entity"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/statement"
)

// Env is what one call makes decisions with: how its requests are sent, and its clock.
type Env struct {
	Op          string
	Session     Session
	Retrier     *request.Retrier
	Tracer      request.Tracers
	Consistency gocql.Consistency
	Timeout     time.Duration // of what goes on after the call
	Silence     time.Duration // how long an attempt must wait for its end to say something of the host

	Now  func() time.Time
	Skew time.Duration                             // how far ahead of the clock a timestamp may be
	Next func(above int64) int64                   // a timestamp of now that is used for nothing else, above another one
	Pace func(context.Context, func() error) error // of attempts; nil for none

	Grace time.Duration // the age from which a claim without a row may be taken; 0 for the default
	Ends  *Ends

	// FanOut makes one attempt at each of these mutations of a row that was read at a time, and says how many requests it has sent.
	FanOut func(ctx context.Context, op string, read time.Time, mutations []*statement.Mutation) (sent int, err error)

	Sent atomic.Int32 // requests
}

// Partition is for the requests to a partition.
func (e *Env) Partition(keyspace string, key []byte, local bool, level gocql.Consistency) Partition {
	return Partition{
		Session: e.Session, Options: Options{Key: key, Consistency: level, Local: local}, Retrier: e.Retrier, Pace: e.Pace,
		Request: request.New(keyspace, key, e.Silence), Sent: &e.Sent,
	}
}

// Base is a base row.
func (e *Env) Base(base *entity.Base) BaseRow {
	keyspace, _, key := base.Place()
	return BaseRow{Partition: e.Partition(keyspace, key, base.Local(), base.Level(e.Consistency)), Base: base}
}

// NewVersion is a version that nothing else has, above a timestamp.
func (e *Env) NewVersion(above int64) gocql.UUID {
	return entity.Owned(Version(e.Next(above), rand.Uint64()), e.Ends.Number) //nolint:gosec // it tells writers apart, it hides nothing
}
