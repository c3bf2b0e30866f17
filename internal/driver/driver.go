// Package driver has what gocql and the fork of ScyllaDB, which takes its place by a replace directive, do differently, so that one code
// serves both: docs/driver.md.
package driver

import (
	"errors"

	"github.com/gocql/gocql"
)

// Protocol is the version of the native protocol that sessions speak and types are encoded for: gocql 1.7 cannot speak 5.
const Protocol = 4

// NativeType is the driver's description of a type without parts, or of the outside of one with parts. The function of gocql that makes it
// has one parameter less in the fork.
func NativeType(kind gocql.Type) gocql.NativeType {
	switch newType := any(gocql.NewNativeType).(type) {
	case func(byte, gocql.Type, string) gocql.NativeType:
		return newType(Protocol, kind, "")
	case func(byte, gocql.Type) gocql.NativeType:
		return newType(Protocol, kind)
	}
	panic("denorm: unknown version of gocql: NewNativeType has other parameters")
}

// MarshalError says that a value cannot be sent, as its column is not of the declared type. gocql's type of that name, a string, is a struct
// in the fork.
type MarshalError string

func (e MarshalError) Error() string { return string(e) }

// NoRetry is the policy of statements that the driver sends once. To gocql no policy means the same; the fork would send such a
// statement up to four times, a counter's too after a write timeout.
var NoRetry gocql.RetryPolicy = noRetry{}

type noRetry struct{}

func (noRetry) Attempt(gocql.RetryableQuery) bool { return false }

func (noRetry) GetRetryType(error) gocql.RetryType { return gocql.Rethrow }

// NotSent says whether err, one error of a tree, is that of the fork for a node that is down or has no connection. After it the fork asks
// the next node, whatever the RetryPolicy, and returns it if there was none: then nothing was sent. gocql has ErrNoConnections for that.
func NotSent(err error) bool {
	switch err.Error() {
	case "gocql: host is nil or down", "gocql: host does not have a pool", "gocql: host pool does not have connections":
		return true
	}
	return false
}

// answer is an error of the server in the fork.
type answer interface {
	error
	GetCode() int
	GetMessage() string
}

type requestError struct{ answer }

func (e requestError) Code() int       { return e.GetCode() }
func (e requestError) Message() string { return e.GetMessage() }
func (e requestError) Unwrap() error   { return e.answer }

// RequestError finds the first error of the server in the tree of err.
func RequestError(err error) (gocql.RequestError, bool) {
	var found gocql.RequestError
	if errors.As(err, &found) {
		return found, true
	}
	var other answer
	if errors.As(err, &other) {
		return requestError{other}, true
	}
	return nil, false
}

// AsRequestError is err, if it is itself an error of the server.
func AsRequestError(err error) (gocql.RequestError, bool) {
	switch e := err.(type) { //nolint:errorlint // one error of a tree
	case gocql.RequestError:
		return e, true
	case answer:
		return requestError{e}, true
	}
	return nil, false
}
