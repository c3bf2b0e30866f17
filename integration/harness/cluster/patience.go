package cluster

import (
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/gocql/gocql"
)

// patience asks again where the servers have given up a read, as they may on a busy machine, above all at SERIAL alongside
// transactions. It repeats nothing else, and nothing that the library sends, which has a policy of its own.
type patience struct{}

// Attempt implements [gocql.RetryPolicy].
func (patience) Attempt(q gocql.RetryableQuery) bool {
	query, ok := q.(*gocql.Query)
	return ok && strings.HasPrefix(query.Statement(), "SELECT") && query.Attempts() <= 8
}

// GetRetryType implements [gocql.RetryPolicy]. A read at SERIAL completes transactions of others, so it can also end as a write does.
func (patience) GetRetryType(err error) gocql.RetryType {
	var (
		read      *gocql.RequestErrReadTimeout
		failed    *gocql.RequestErrReadFailure
		write     *gocql.RequestErrWriteTimeout
		undecided *gocql.RequestErrCASWriteUnknown
	)
	if errors.As(err, &read) || errors.As(err, &failed) || errors.As(err, &write) || errors.As(err, &undecided) ||
		errors.Is(err, gocql.ErrTimeoutNoResponse) {
		<-time.After(rand.N(500 * time.Millisecond)) // rivals that ask at the same time again meet again
		return gocql.Retry
	}
	return gocql.Rethrow
}
