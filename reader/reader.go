package reader

import (
	"errors"
	"fmt"

	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/settings"
	"github.com/denorm-go/denorm/session"
)

// Reader carries out queries. It is made by [New], starts no goroutine that outlives a read, needs no Close, and is safe
// for concurrent use. The reads of a zero Reader fail.
type Reader struct {
	config
	source  source
	session string // its keyspace, or empty
	retrier request.Retrier
}

// New makes a reader, which uses the session's connections for reads, the keyspaces of the session and, if the session has them, its
// tracer and its retry budget. The option [Consistency] sets the level of its requests. The error names every option that is not
// valid, and matches [ErrInvalid].
func New(s *session.Session, options ...Option) (*Reader, error) {
	if s == nil || s.Reads() == nil {
		return nil, &optionError{errors.New("the session is nil or a zero value: session.Open makes one")}
	}
	reads := s.Reads()
	in := func(c *config) {
		c.reads = reads
		c.use(s)
	}
	r := newReader(gocqlSource{reads}, reads.Query("").Keyspace(), append([]Option{in}, options...)...)
	if r.err != nil {
		return nil, &optionError{r.err}
	}
	return r, nil
}

func newReader(source source, session string, options ...Option) *Reader {
	r := &Reader{config: defaults(), source: source, session: session}
	r.apply(options)
	return r
}

// With derives a reader with other options for some reads. The two share the session and the retry budget. An option that is
// not valid is reported by the next read.
func (r *Reader) With(options ...Option) *Reader {
	derived := *r
	derived.apply(options)
	return &derived
}

func (r *Reader) apply(options []Option) {
	for _, o := range options {
		if o == nil {
			r.fail("an option is nil")
			continue
		}
		o(&r.config)
	}
	if r.shared.Budget == nil {
		r.shared.Budget = settings.NewBudget(0, 0)
	}
	r.retrier = request.NewRetrier(r.policy, r.shared.Budget)
}

// physical is the keyspace of a table declared with the logical one; empty leaves it to the session.
func (r *Reader) physical(logical string) (string, error) {
	keyspace, err := r.shared.Physical(logical, r.session)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w, and the reader by With(reader.Session(derived))", err)
	case keyspace == "":
		return "", errors.New("the session has none; set ClusterConfig.Keyspace, Table.Keyspace or session.Keyspaces")
	}
	return keyspace, nil
}
