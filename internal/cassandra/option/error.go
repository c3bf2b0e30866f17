package option

import (
	"fmt"

	"github.com/gocql/gocql"
)

// Error is what Cassandra answers to a statement that it rejects.
type Error struct {
	Code    int // of the native protocol, as gocql.ErrCodeInvalid
	Message string
	Reason  Reason
	// Keyspace and Table name what exists, for gocql.ErrCodeAlreadyExists; Table is empty if it is a keyspace that exists.
	Keyspace, Table string
}

// Reason is why a statement is rejected, where callers must tell it from others.
type Reason int

// The reasons.
const (
	_           Reason = iota
	Unsupported        // the engine does not know what Cassandra accepts
	Missing            // the table of a statement, or its keyspace, does not exist
	Mistyped           // a function gives another type; of types that Cassandra takes for each other the engine knows few
)

// Error is the message.
func (e *Error) Error() string { return e.Message }

// Syntax rejects what is no CQL.
func Syntax(format string, args ...any) error {
	return &Error{Code: gocql.ErrCodeSyntax, Message: fmt.Sprintf(format, args...)}
}

// Config rejects a value.
func Config(format string, args ...any) error {
	return &Error{Code: gocql.ErrCodeConfig, Message: fmt.Sprintf(format, args...)}
}
