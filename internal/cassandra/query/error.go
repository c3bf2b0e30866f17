package query

import (
	"fmt"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cql"
	"github.com/gocql/gocql"
)

func invalid(format string, args ...any) error {
	return &catalog.Error{Code: gocql.ErrCodeInvalid, Message: fmt.Sprintf(format, args...)}
}

func unsupported(format string, args ...any) error { return invalid(cql.Unsupported+format, args...) }
