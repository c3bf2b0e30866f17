package writer

import (
	"testing"

	"github.com/gocql/gocql"

	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/session"
)

// shared is what a session with these options tells a writer, for writers without a session.
func shared(options ...session.Option) Option {
	return option(func(c *config) {
		before := c.tracer
		if c.use(new(session.Session).With(options...)); c.shared.Tracer == nil {
			c.tracer = before
		}
	})
}

// traced is what a session with a tracer tells a writer, and leaves the rest.
func traced(t session.Tracer) Option { return option(func(c *config) { c.tracer = req.NewTracers(t) }) }

// otherSession has connections that no writer has.
func otherSession(tb testing.TB) *session.Session {
	tb.Helper()
	return testsession.New(tb, nil, new(gocql.Session))
}
