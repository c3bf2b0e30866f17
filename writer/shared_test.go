package writer

import (
	"errors"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/session"
)

// shared is what a session with these options tells a writer, for writers without a session.
func shared(options ...session.Option) Option {
	return option(func(c *config) {
		c.err = errors.Join(c.err, c.shared.Use(new(session.Session).With(options...).Settings()))
	})
}

// otherSession has connections that no writer has.
func otherSession(tb testing.TB) *session.Session {
	tb.Helper()
	return testsession.New(tb, nil, new(gocql.Session))
}
