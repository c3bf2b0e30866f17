package hosts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/undecoded"
	"github.com/gocql/gocql"
)

// Result is what an attempt ended with, as far as it tells of the host.
type Result int

const (
	// Unsent is an attempt that was not sent.
	Unsent Result = iota
	// Cancelled is an attempt that was given up before a limit was met.
	Cancelled
	// Answered is an attempt that the host answered, also with an error.
	Answered
	// TimedOut is an attempt without an answer at its own limit or at the deadline of the call.
	TimedOut
	// Lost is an attempt that ended with its connection, or was given one that had ended.
	Lost
	// Broken is an attempt that ended with another error of the driver's.
	Broken
)

// errUnprepared takes the place of a context.Canceled of no context of the caller's.
var errUnprepared = fmt.Errorf("the connection ended while it prepared the statement: %w", gocql.ErrConnectionClosed)

// Cause is what a request under ctx failed with. gocql says context.Canceled, though ctx has not ended, where a
// connection ends that prepares the statement, or is closed before (1.7.0, conn.go, prepareStatement: under the context
// of the connection). Errors of decoding come without the value that the driver's text may hold. Where no host is left,
// the text names the datacentre.
func Cause(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		return errUnprepared
	}
	if a := attemptOf(ctx); errors.Is(err, gocql.ErrNoConnections) && a != nil && a.past != nil && a.past.without != "" {
		return fmt.Errorf("no node of datacentre %s can be reached: %w", a.past.without, err)
	}
	return undecoded.Hide(err)
}

// ResultOf says what the [Cause] of a failure tells of the host of the request. Nil is an answer.
func ResultOf(err error) Result {
	if err == nil {
		return Answered // without what follows, which costs an allocation
	}
	_, answered := driver.RequestError(err)
	switch {
	case answered, errors.Is(err, gocql.ErrNotFound), errors.As(err, new(*undecoded.Error)): // the answer came
		return Answered
	case errors.Is(err, gocql.ErrTimeoutNoResponse), errors.Is(err, context.DeadlineExceeded):
		return TimedOut
	case errors.Is(err, context.Canceled):
		return Cancelled
	case errors.Is(err, gocql.ErrNoConnections), errors.Is(err, gocql.ErrNoStreams),
		errors.Is(err, gocql.ErrSessionClosed), unsent(err):
		return Unsent
	case errors.Is(err, gocql.ErrConnectionClosed), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.As(err, new(net.Error)):
		return Lost
	}
	return Broken
}

// unsent looks for the fork's errors of nodes that nothing was sent to.
func unsent(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if driver.NotSent(err) {
			return true
		}
	}
	return false
}

// Overloaded says whether an error tells of a cluster, or a node, with too much to do.
func Overloaded(err error) bool {
	if err == nil {
		return false
	}
	answer, answered := driver.RequestError(err)
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, gocql.ErrTimeoutNoResponse) ||
		errors.As(err, new(*gocql.RequestErrReadTimeout)) || errors.As(err, new(*gocql.RequestErrWriteTimeout)) ||
		answered && answer.Code() == gocql.ErrCodeOverloaded
}
