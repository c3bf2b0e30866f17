package reader

import (
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/session"
)

// shared is what a session with these options tells a reader, for readers without a session.
func shared(options ...session.Option) Option {
	return func(c *config) {
		before := c.tracer
		if c.use(new(session.Session).With(options...)); c.shared.Tracer == nil {
			c.tracer = before
		}
	}
}

// traced is what a session with a tracer tells a reader, and leaves the rest.
func traced(t session.Tracer) Option { return func(c *config) { c.tracer = request.NewTracers(t) } }
