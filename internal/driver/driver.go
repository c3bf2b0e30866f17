// Package driver has what gocql and the fork of ScyllaDB, which takes its place by a replace directive, do differently,
// so that one code serves both; and the uses of gocql that version 2 of the driver has no more, or in another way:
// docs/why/driver.md.
package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/gocql/gocql"
)

// Protocol is the version of the native protocol that sessions speak and types are encoded for: gocql 1.7 cannot speak
// 5.
const Protocol = 4

// TypeName is the driver's name of a type, without its parts.
func TypeName(kind gocql.Type) string { return kind.String() }

// TypeString is the driver's text for a type with its parts.
func TypeString(t gocql.TypeInfo) string { return fmt.Sprint(t) }

// NativeType is the driver's description of a type without parts.
func NativeType(kind gocql.Type) gocql.TypeInfo { return outer(kind) }

// CollectionType describes a list, a set or a map. The first two have no key.
func CollectionType(kind gocql.Type, key, elem gocql.TypeInfo) gocql.TypeInfo {
	return gocql.CollectionType{NativeType: outer(kind), Key: key, Elem: elem}
}

// TupleType describes a tuple.
func TupleType(elems []gocql.TypeInfo) gocql.TypeInfo {
	return gocql.TupleTypeInfo{NativeType: outer(gocql.TypeTuple), Elems: elems}
}

// UserType describes a user-defined type.
func UserType(name string, fields []gocql.UDTField) gocql.TypeInfo {
	return gocql.UDTTypeInfo{NativeType: outer(gocql.TypeUDT), Name: name, Elements: fields}
}

// outer is a type without parts, or the outside of one with parts. The function of gocql that makes it has one
// parameter less in the fork.
func outer(kind gocql.Type) gocql.NativeType {
	switch newType := any(gocql.NewNativeType).(type) {
	case func(byte, gocql.Type, string) gocql.NativeType:
		return newType(Protocol, kind, "")
	case func(byte, gocql.Type) gocql.NativeType:
		return newType(Protocol, kind)
	}
	panic("denorm: unknown version of gocql: NewNativeType has other parameters")
}

// New makes a pointer to a value of the Go type that the driver reads a type into.
func New(t gocql.TypeInfo) (any, error) { return t.NewWithError() }

// Route makes the driver find out which values of a statement are the partition key.
func Route(ctx context.Context, s *gocql.Session, statement string) error {
	_, err := s.Query(statement, make([]any, strings.Count(statement, "?"))...).WithContext(ctx).GetRoutingKey()
	return err
}

// Silence makes the driver log nothing.
func Silence(cluster *gocql.ClusterConfig) { cluster.Logger = log.New(io.Discard, "", 0) }

// MarshalError says that a value cannot be sent, as its column is not of the declared type. gocql's type of that name,
// a string, is a struct in the fork.
type MarshalError string

func (e MarshalError) Error() string { return string(e) }

// NoRetry is the policy of statements that the driver sends once. To gocql no policy means the same; the fork would
// send such a statement up to four times, a counter's too after a write timeout.
var NoRetry gocql.RetryPolicy = noRetry{}

type noRetry struct{}

func (noRetry) Attempt(gocql.RetryableQuery) bool { return false }

func (noRetry) GetRetryType(error) gocql.RetryType { return gocql.Rethrow }

// NotSent says whether err, one error of a tree, is that of the fork for a node that is down or has no connection.
// After it the fork asks the next node, whatever the RetryPolicy, and returns it if there was none: then nothing was
// sent. gocql has ErrNoConnections for that.
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
