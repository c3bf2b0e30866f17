package catalog

import (
	"fmt"

	"github.com/denorm-go/denorm/internal/cassandra/option"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/gocql/gocql"
)

// Error is what Cassandra answers to a statement that it rejects.
type Error = option.Error

func invalid(format string, args ...any) error {
	return &Error{Code: gocql.ErrCodeInvalid, Message: fmt.Sprintf(format, args...)}
}

func syntax(format string, args ...any) error { return option.Syntax(format, args...) }

func config(format string, args ...any) error { return option.Config(format, args...) }

func unauthorized(format string, args ...any) error {
	return &Error{Code: gocql.ErrCodeUnauthorized, Message: fmt.Sprintf(format, args...)}
}

// unsupported rejects what Cassandra would accept.
func unsupported(format string, args ...any) error {
	return &Error{Code: gocql.ErrCodeInvalid, Reason: option.Unsupported, Message: fmt.Sprintf(ast.Unsupported+format,
		args...)}
}
