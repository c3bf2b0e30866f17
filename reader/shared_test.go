package reader

import (
	"github.com/denorm-go/denorm/session"
)

// shared is what a session with these options tells a reader, for readers without a session.
func shared(options ...session.Option) Option {
	return func(c *config) { c.use(new(session.Session).With(options...)) }
}

// traced is what a session with a tracer tells a reader.
func traced(t session.Tracer) Option { return shared(session.Trace(t)) }
