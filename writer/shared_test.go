package writer

import (
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/session"
)

// shared is what a session with these options tells a writer, for writers without a session.
func shared(options ...session.Option) Option {
	return option(func(c *config) { c.use(new(session.Session).With(options...)) })
}

// traced is what a session with a tracer tells a writer.
func traced(t session.Tracer) Option { return shared(session.Trace(t)) }

// otherSession has connections that no writer has.
func otherSession(tb testing.TB) *session.Session {
	tb.Helper()
	return testsession.New(tb, nil, new(gocql.Session))
}
