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
	return ok && strings.HasPrefix(query.Statement(), "SELECT") && query.Attempts() <= 5
}

// GetRetryType implements [gocql.RetryPolicy].
func (patience) GetRetryType(err error) gocql.RetryType {
	var late *gocql.RequestErrReadTimeout
	if !errors.As(err, &late) {
		return gocql.Rethrow
	}
	<-time.After(rand.N(100 * time.Millisecond)) // rivals that ask at the same time again meet again
	return gocql.Retry
}
