// Package request has the one loop of attempts: it chooses the host of each attempt, reports the result to the host
// policy, and repeats a request as the retry policy says. Writes, transactions and reads go through it.
package request

import (
	"context"
	"errors"
	"time"

	"github.com/denorm-go/denorm/internal/hosts"
	"github.com/denorm-go/denorm/internal/undecoded"
	"github.com/denorm-go/denorm/retry"
)

// Request is a request with all its attempts, and the context of the current one. It is meant to be embedded in what
// sends it, so that it costs no allocation. Like the [hosts.Attempt] in it, it belongs to one goroutine and must not be
// copied.
type Request struct {
	hosts.Attempt

	// Limit, if it is not nil, ends the attempt instead of the context given to Begin: requests that are sent together
	// share one.
	Limit Limit

	began time.Time
}

// New makes a request to a partition. A nil key means no partition: any node will do.
func New(keyspace string, key []byte) *Request {
	return &Request{Attempt: hosts.Attempt{Keyspace: keyspace, Key: key}}
}

// LeastSilence is how long an attempt must have waited before its timeout counts against the host: the deadline of a
// caller may be shorter than an answer takes.
const LeastSilence = 200 * time.Millisecond

// Limit is the end of a context.
type Limit interface {
	Deadline() (deadline time.Time, ok bool)
	Done() <-chan struct{}
	Err() error
}

// Begin begins the next attempt, under ctx. The driver is given the Request as its context.
func (r *Request) Begin(ctx context.Context) {
	r.began = time.Now()
	r.Next(ctx)
}

// End ends the attempt, and returns the error with which it failed: see [hosts.Cause].
func (r *Request) End(err error) error {
	if err == nil {
		r.Attempt.End(hosts.Answered)
		if r.Group != nil {
			r.EndGroup(hosts.Answered, nil)
		}
		return nil
	}
	return r.fail(err)
}

//go:noinline
func (r *Request) fail(err error) error {
	err = Shown(hosts.Cause(r, err))
	result := hosts.ResultOf(err)
	if result == hosts.TimedOut && time.Since(r.began) < LeastSilence {
		result = hosts.Cancelled
	}
	r.Attempt.End(result)
	if r.Group != nil {
		r.EndGroup(result, err)
	}
	return err
}

// Do calls send until an attempt succeeds or another attempt is not worthwhile. An answer that cannot be decoded is not
// requested again. observe may be nil.
func (r *Request) Do(
	ctx context.Context, retrier *Retrier, kind retry.Kind, send func(context.Context) error, observe func(Event),
) (Result, error) {
	return retrier.Do(ctx, kind, func(ctx context.Context, _ int) error {
		r.Begin(ctx)
		err := r.End(send(r)) //nolint:contextcheck // it is ctx now
		if errors.As(err, new(*undecoded.Error)) {
			return Stop(err)
		}
		return err
	}, observe)
}

// limit is what ends the attempt.
func (r *Request) limit() Limit {
	if r.Limit != nil {
		return r.Limit
	}
	return r.Context
}

// Deadline implements [context.Context].
func (r *Request) Deadline() (time.Time, bool) { return r.limit().Deadline() }

// Done implements [context.Context].
func (r *Request) Done() <-chan struct{} { return r.limit().Done() }

// Err implements [context.Context].
func (r *Request) Err() error { return r.limit().Err() }

// Told is what an error of another package of the library says of its call, in a method Internal. Errors of a service
// cannot have it.
type Told retry.Outcome
