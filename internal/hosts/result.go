package hosts

import (
	"context"
	"errors"

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
	// Broken is an attempt that ended with its connection.
	Broken
)

// ResultOf says what an error of gocql tells of the host of a request. Nil is an answer.
func ResultOf(err error) Result {
	if err == nil {
		return Answered // without what follows, which costs an allocation
	}
	var server gocql.RequestError
	switch {
	case errors.As(err, &server), errors.Is(err, gocql.ErrNotFound):
		return Answered
	case errors.Is(err, gocql.ErrTimeoutNoResponse), errors.Is(err, context.DeadlineExceeded):
		return TimedOut
	case errors.Is(err, context.Canceled):
		return Cancelled
	case errors.Is(err, gocql.ErrNoConnections), errors.Is(err, gocql.ErrSessionClosed):
		return Unsent
	}
	return Broken
}
