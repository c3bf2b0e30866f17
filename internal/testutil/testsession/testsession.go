// Package testsession makes sessions for tests.
package testsession

import (
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/session"
)

// New is session.New, of which an error ends the test. writes may be nil.
func New(tb testing.TB, writes, reads *gocql.Session, options ...session.Option) *session.Session {
	tb.Helper()
	s, err := session.New(writes, reads, options...)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}
