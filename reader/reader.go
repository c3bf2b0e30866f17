package reader

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/settings"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/gocql/gocql"
)

// Reader carries out queries. [New] makes it. It needs no Close, and is safe for concurrent use. The reads of a zero
// Reader fail.
type Reader struct {
	config
	source  source
	session string // its keyspace, or empty
	retrier request.Retrier
}

// Format prints one text, so that fmt cannot show the session's password.
func (Reader) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "denorm reader") }

// New makes a reader on the session's read connections. It uses the keyspaces of the session and, if the session has
// them, its tracer and its retry budget. The option [Consistency] sets the level of its requests. The error names every
// option that is not valid, and matches [ErrInvalid].
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

// With derives a reader with other options for some reads. The two share the session and the retry budget. An option
// that is not valid is reported by the next read.
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

// Option is an argument of [New] and of [Reader.With].
type Option func(*config)

// config is what the options of a reader say. It is copied by With.
type config struct {
	policy      retry.Policy
	tracer      request.Tracers
	shared      settings.Shared // of the session
	reads       *gocql.Session
	consistency gocql.Consistency
	parallel    int
	partitions  int
	pageSize    int
	err         error // every bad option; With has no error to return, so the next read does
}

const (
	defaultParallel   = 16
	defaultPartitions = 10_000
	defaultPageSize   = 1000

	// Above the server's own limit of a read (read_request_timeout, 5 s), or slow pages end without the server's answer.
	defaultAttemptTimeout = 5500 * time.Millisecond
	defaultMaxElapsedTime = 10 * time.Second
)

func defaults() config {
	return config{
		policy:      retry.Policy{AttemptTimeout: defaultAttemptTimeout, MaxElapsedTime: defaultMaxElapsedTime},
		consistency: gocql.LocalQuorum, parallel: defaultParallel, partitions: defaultPartitions, pageSize: defaultPageSize,
	}
}

func (c *config) fail(format string, args ...any) {
	c.err = errors.Join(c.err, fmt.Errorf(format, args...))
}

// use takes the settings of a session.
func (c *config) use(s *session.Session) {
	before := c.shared.Tracer
	if c.err = errors.Join(c.err, c.shared.Use(s.Settings())); c.shared.Tracer != before {
		c.tracer = request.TracersOf(c.shared)
	}
}

// Retry sets how the request of one page is retried. Default: as [retry.Policy], but attempts last up to 5.5 s, and
// begin up to 10 s after the first.
func Retry(policy retry.Policy) Option {
	return func(c *config) {
		if err := policy.Validate(); err != nil {
			c.fail("Retry: %w", err)
		}
		c.policy = policy
	}
}

// Session makes the reader use the keyspaces of s and, if s has them, its tracer and its retry budget. s must be
// derived, by [session.Session.With], from the session that [New] was given, so that its connections are the same.
func Session(s *session.Session) Option {
	return func(c *config) {
		switch {
		case s == nil:
			c.fail("Session: the session is nil")
			return
		case s.Reads() != c.reads:
			c.fail("Session: it has other connections than the reader: derive it from the session that New was given")
			return
		}
		c.use(s)
	}
}

// Consistency sets the level of reads. Default: LOCAL_QUORUM.
func Consistency(level session.Consistency) Option {
	return func(c *config) {
		if c.consistency = gocql.Consistency(level); !settings.Level(c.consistency) {
			c.fail("Consistency: %v is not supported for reads", level)
		}
	}
}

// Parallel sets the largest number of requests that one read has in flight. Default: 16.
func Parallel(requests int) Option {
	return positive("Parallel", requests, func(c *config) *int { return &c.parallel })
}

// Partitions sets the largest number of partitions that one query may read; a query that would read more is
// rejected. Default: 10,000.
func Partitions(n int) Option {
	return positive("Partitions", n, func(c *config) *int { return &c.partitions })
}

// PageSize sets the largest number of rows that a request asks for. A read begins with fewer, and with a limit asks for
// no more than the limit. Two pages are in memory for each partition that is being read. Default: 1000.
func PageSize(rows int) Option {
	return positive("PageSize", rows, func(c *config) *int { return &c.pageSize })
}

func positive(option string, n int, field func(*config) *int) Option {
	return func(c *config) {
		if n <= 0 {
			c.fail("%s: %d is not positive", option, n)
		}
		*field(c) = n
	}
}
