package query

import (
	"fmt"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/option"
	"github.com/denorm-go/denorm/internal/cql/ast"
	"github.com/gocql/gocql"
)

func invalid(format string, args ...any) error {
	return &catalog.Error{Code: gocql.ErrCodeInvalid, Message: fmt.Sprintf(format, args...)}
}

func unsupported(format string, args ...any) error {
	return because(option.Unsupported, ast.Unsupported+format, args...)
}

func because(reason option.Reason, format string, args ...any) error {
	return &catalog.Error{Code: gocql.ErrCodeInvalid, Reason: reason, Message: fmt.Sprintf(format, args...)}
}
