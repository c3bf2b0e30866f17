package catalog

import (
	"fmt"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/gocql/gocql"
)

// Error is what Cassandra answers to a statement that it rejects.
type Error struct {
	Code    int // of the native protocol, as gocql.ErrCodeInvalid
	Message string
	// Keyspace and Table are those of gocql.ErrCodeAlreadyExists; Table is empty if it is a keyspace that exists.
	Keyspace, Table string
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

func invalid(format string, args ...any) error {
	return &Error{Code: gocql.ErrCodeInvalid, Message: fmt.Sprintf(format, args...)}
}

func syntax(format string, args ...any) error {
	return &Error{Code: gocql.ErrCodeSyntax, Message: fmt.Sprintf(format, args...)}
}

func config(format string, args ...any) error {
	return &Error{Code: gocql.ErrCodeConfig, Message: fmt.Sprintf(format, args...)}
}

func unauthorized(format string, args ...any) error {
	return &Error{Code: gocql.ErrCodeUnauthorized, Message: fmt.Sprintf(format, args...)}
}

// unsupported rejects what Cassandra would accept.
func unsupported(format string, args ...any) error { return invalid(cql.Unsupported+format, args...) }
