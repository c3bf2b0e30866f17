package reader

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/retry"
	"github.com/gocql/gocql"
)

// Option is an argument of [New] and of [Reader.With].
type Option func(*config)

// config is what the options of a reader say. It is copied by With.
type config struct {
	policy      retry.Policy
	budget      *retry.Budget
	tracer      tracers
	keyspaces   map[string]string
	strict      bool // every keyspace has to be in keyspaces
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

func (c *config) positive(option string, n int) {
	if n <= 0 {
		c.fail("%s: %d is not positive", option, n)
	}
}

// Retry sets how the request of one page is repeated. Default: that of [retry.Policy], with attempts of up to 5.5 s, none
// of them begun later than 10 s after the first.
func Retry(policy retry.Policy) Option {
	return func(c *config) {
		if err := policy.Validate(); err != nil {
			c.fail("Retry: %w", err)
		}
		c.policy = policy
	}
}

// Budget bounds the retries of all reads that share it, so that a struggling cluster is not asked several times as much.
// Default: one for the reader and all that [Reader.With] derives from it, as [retry.NewBudget] makes it of zeros.
func Budget(b *retry.Budget) Option { return func(c *config) { c.budget = b } }

// Trace makes the reader report to t, which may also implement [PartitionTracer] and [RetryTracer]. Nil, also as a nil pointer, turns
// tracing off, which is the default and costs nothing.
func Trace(t Tracer) Option { return func(c *config) { c.tracer = newTracers(t) } }

// Keyspaces maps the keyspaces of declared tables to others, as writer.Keyspaces does. It replaces an earlier map.
func Keyspaces(physical map[string]string) Option {
	mapped := maps.Clone(physical)
	return func(c *config) {
		for from, to := range mapped {
			if !cql.IsTable(to) { // it goes into CQL text as it is
				c.fail("Keyspaces: what %q is mapped to is not a name of %s", from, cql.TableRule)
			}
		}
		c.keyspaces = mapped
	}
}

// StrictKeyspaces makes the reader, and all that With derives from it, refuse a query of a table whose declared keyspace, the empty one
// included, is not in the map of [Keyspaces]: as writer.StrictKeyspaces, so that a forgotten With reads nobody else's rows.
func StrictKeyspaces() Option { return func(c *config) { c.strict = true } }

// Consistency sets the level of reads. Default: LOCAL_QUORUM.
func Consistency(level gocql.Consistency) Option {
	return func(c *config) {
		switch level {
		case gocql.One, gocql.Two, gocql.Three, gocql.Quorum, gocql.All, gocql.LocalQuorum, gocql.LocalOne:
		default:
			c.fail("Consistency: %v is no level of a read", level)
		}
		c.consistency = level
	}
}

// Parallel is how many requests one read has under way at most. Default: 16.
func Parallel(requests int) Option {
	return func(c *config) {
		c.positive("Parallel", requests)
		c.parallel = requests
	}
}

// Partitions is how many partitions one query may ask at most; one that would ask more is refused. Default: 10,000.
func Partitions(n int) Option {
	return func(c *config) {
		c.positive("Partitions", n)
		c.partitions = n
	}
}

// PageSize is how many rows a request asks for at most. It begins with fewer, and with a limit asks for no more than that. Of
// each partition that is read at the time, two pages are in memory. Default: 1000.
func PageSize(rows int) Option {
	return func(c *config) {
		c.positive("PageSize", rows)
		c.pageSize = rows
	}
}
