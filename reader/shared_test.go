package reader

import (
	"errors"

	"github.com/denorm-go/denorm/session"
)

// shared is what a session with these options tells a reader, for readers without a session.
func shared(options ...session.Option) Option {
	return func(c *config) {
		c.err = errors.Join(c.err, c.shared.Use(new(session.Session).With(options...).Settings()))
	}
}
