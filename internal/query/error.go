package query

import (
	"fmt"

	"github.com/denorm-go/denorm/internal/catalog"
	"github.com/gocql/gocql"
)

func invalid(format string, args ...any) error {
	return &catalog.Error{Code: gocql.ErrCodeInvalid, Message: fmt.Sprintf(format, args...)}
}

func unsupported(format string, args ...any) error {
	return invalid("not supported by the in-process Cassandra: "+format, args...)
}
