package writer

import (
	"errors"
	"fmt"
	"time"

	req "github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/settings"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
	"github.com/gocql/gocql"
)

// NewOption is an argument of [New].
type NewOption interface{ applyNew(*config) }

// Option is an argument of [New] and of [Writer.With].
type Option interface {
	NewOption
	apply(*config)
}

type newOption func(*config)

func (o newOption) applyNew(c *config) { o(c) }

type option func(*config)

func (o option) applyNew(c *config) { o(c) }
func (o option) apply(c *config)    { o(c) }

// config is what the options of a writer say. It is copied by With.
type config struct {
	writes      *gocql.Session
	reads       *gocql.Session
	clock       *Clock
	maxSkew     time.Duration
	policy      retry.Policy
	hedge       time.Duration
	tracer      req.Tracers
	retried     bool // by Retry in the New or With at hand
	choice      choice
	chosen      choice // by Logged or Concurrent in the New or With at hand
	at          int64
	pinned      bool
	shared      settings.Shared // of the session
	consistency gocql.Consistency
	timeout     time.Duration
	batchLimit  int
	group       int // bytes; 0 for no groups
	claimGrace  time.Duration
	resumes     []tables.Described // nil for all
	err         error              // every bad option; With has no error to return, so the next call does
}

const (
	defaultTimeout    = 5 * time.Second
	defaultMaxSkew    = 10 * time.Second
	defaultBatchLimit = 50 << 10 // batch_size_fail_threshold of cassandra.yaml
)

func defaults() config {
	return config{
		clock: systemClock, maxSkew: defaultMaxSkew, consistency: gocql.LocalQuorum, timeout: defaultTimeout,
		batchLimit: defaultBatchLimit,
	}
}

func (c *config) fail(format string, args ...any) {
	c.err = errors.Join(c.err, fmt.Errorf(format, args...))
}

// use takes the settings of a session.
func (c *config) use(s *session.Session) {
	before := c.shared.Tracer
	if c.err = errors.Join(c.err, c.shared.Use(s.Settings())); c.shared.Tracer != before {
		c.tracer = req.TracersOf(c.shared)
	}
}

// apply takes options of New or With.
func apply[O NewOption](c *config, options []O) {
	for _, o := range options {
		if any(o) == nil {
			c.fail("an option is nil")
			continue
		}
		o.applyNew(c)
	}
}

// positive rejects a time that is none.
func (c *config) positive(option string, d time.Duration) {
	if d <= 0 {
		c.fail("%s: %v is not positive", option, d)
	}
	c.tiny(option, d)
}

// tiny rejects a time that was written as a plain number.
func (c *config) tiny(option string, d time.Duration) {
	if 0 < d && d < time.Millisecond {
		c.fail("%s: %v is less than a millisecond: write it with a unit, as in 50*time.Millisecond", option, d)
	}
}

// WithClock makes the writer take its timestamps from clock. Default: one clock for the process.
func WithClock(clock *Clock) NewOption {
	return newOption(func(c *config) {
		if clock == nil || clock.now == nil {
			c.fail("WithClock: the clock is nil, or not made by NewClock")
			return
		}
		c.clock = clock
	})
}

// MaxClockSkew limits how far ahead of the clock the stamp of a before-image, or the timestamp given to [At], may be. A
// later one is rejected: a write above it would shut out all other writers until their clocks reach it. Default: 10 s.
func MaxClockSkew(d time.Duration) NewOption {
	return newOption(func(c *config) {
		c.positive("MaxClockSkew", d)
		c.maxSkew = d
	})
}

// Retry sets the retry policy of every request. Default: the zero retry.Policy, which is 4 attempts of 2.5 s within 5 s
// (but see [Timeout]). If the policy allows several attempts, its AttemptTimeout must be less than Timeout, and its
// MaxElapsedTime at most Timeout.
func Retry(p retry.Policy) Option {
	return option(func(c *config) {
		if err := p.Validate(); err != nil {
			c.fail("Retry: %w", err)
		}
		c.policy, c.retried = p, true
	})
}

// Hedge sends a request that has had no answer for d once more, to another replica: the first success wins, an error
// does not. It cuts the latency of the slowest writes, for an occasional extra request, which takes a token of the
// retry budget. Set d near the 99th percentile of the latency. It must be less than the AttemptTimeout of [Retry] and,
// for [New], than the [Timeout]. Default: 0, which turns it off.
func Hedge(d time.Duration) Option {
	return option(func(c *config) {
		if d < 0 {
			c.fail("Hedge: %v is negative", d)
		}
		c.tiny("Hedge", d)
		c.hedge = d
	})
}

// Logged makes every write of more than one partition a logged batch. While Cassandra cannot write the batchlog, the
// write fails. [Concurrent] in the same New or With is an error. Both have no effect on sets that are
// [tables.Transactional].
func Logged() Option { return option(func(c *config) { c.choose(alwaysLogged) }) }

// Concurrent makes every write of more than one partition a fan-out, even with deletes or several entities. If the
// client dies in the middle, some tables have the write and others do not; [Writer.Resume] finishes a failed write. A
// set declared Atomic rejects it.
func Concurrent() Option { return option(func(c *config) { c.choose(alwaysConcurrent) }) }

// choose rejects Logged and Concurrent in one call, where the order would decide.
func (c *config) choose(mode choice) {
	if c.chosen != auto && c.chosen != mode {
		c.fail("Logged and Concurrent are both given, and a write is either a logged batch or a fan-out: give one of them")
	}
	c.choice, c.chosen = mode, mode
}

// Auto makes the writer choose, which is the default. A write to one partition is one request. A write to several is a
// logged batch if it has deletes, several entities or a set declared Atomic, otherwise a fan-out.
func Auto() Option { return option(func(c *config) { c.choice = auto }) }

// At fixes the timestamp of one Write, in microseconds since the Unix epoch, for a request that may be repeated. Choose
// it before the first try, and pass it again with the same rows: then it is the same write. Use one At for one Write
// only. A repeat must come within half the smallest gc_grace_seconds of the tables, or it may bring back a deleted row.
// A timestamp before 1990 is rejected. docs/failures.md and the package documentation have more.
func At(timestamp int64) Option {
	return option(func(c *config) {
		switch {
		case timestamp < earliest:
			c.fail("At: timestamp %d is before the year 1990: give microseconds since the Unix epoch; this clock says %d",
				timestamp, c.clock.now().UnixMicro())
		case timestamp/1000 >= earliest:
			c.fail("At: timestamp %d is in nanoseconds: give microseconds since the Unix epoch; this clock says %d", timestamp,
				c.clock.now().UnixMicro())
		}
		c.at, c.pinned = timestamp, true
	})
}

// earliest is the first moment of the year 1990, in microseconds. A bubble of testing/synctest begins with the year
// 2000.
const earliest = 631_152_000_000_000

// Session makes the writer use the keyspaces of s and, if s has them, its tracer and its retry budget. s must be
// derived, by [session.Session.With], from the session that [New] was given, so that its connections are the same.
func Session(s *session.Session) Option {
	return option(func(c *config) {
		switch {
		case s == nil:
			c.fail("Session: the session is nil")
		case s.Reads() != c.reads || s.Writes() != c.writes:
			c.fail("Session: it has other connections than the writer: derive it by With from the session that New was given")
		default:
			c.use(s)
		}
	})
}

// Consistency sets the level of writes and of the reads of [Modify]. Default: LOCAL_QUORUM.
func Consistency(level session.Consistency) Option {
	return option(func(c *config) {
		switch c.consistency = gocql.Consistency(level); {
		case c.consistency == gocql.Any:
			c.fail("Consistency: ANY acknowledges writes that no replica has")
		case !settings.Level(c.consistency):
			c.fail("Consistency: %v is no level of a write", level)
		}
	})
}

// Timeout limits a call whose context has no deadline, or a later one. Default: 5 s. If d is at most 2.5 s, an attempt
// may take half of d, so that it can be repeated. AttemptTimeout or one attempt in [Retry], or [Hedge], turns that off.
func Timeout(d time.Duration) Option {
	return option(func(c *config) {
		c.positive("Timeout", d)
		c.timeout = d
	})
}

// ClaimGrace sets how long another entity's claim of a Unique key counts before that entity has the key: its write may
// be in flight. After that the writer fences that entity's write, and takes the key. Default: 10 s.
func ClaimGrace(d time.Duration) Option {
	return option(func(c *config) {
		c.positive("ClaimGrace", d)
		c.claimGrace = d
	})
}

// BatchLimit sets the largest logged batch, in estimated bytes: the server's batch_size_fail_threshold. Default: 50
// KiB. It must be at least 1 KiB.
func BatchLimit(bytes int) Option {
	return option(func(c *config) {
		switch {
		case bytes <= 0:
			c.fail("BatchLimit: %d is not positive", bytes)
		case bytes < 1<<10:
			c.fail("BatchLimit: %d is less than 1 KiB; it is in bytes: for %d KiB give %d << 10", bytes, bytes, bytes)
		}
		c.batchLimit = bytes
	})
}

// Group sends requests of a fan-out together if their partitions share a near replica. They become one unlogged batch
// of up to 10 partitions and about the given bytes, so client and servers do less. If it fails, each is immediately
// sent alone; until that succeeds, more tables may be Unknown. Give 4 << 10, below batch_size_warn_threshold; at most
// 50 KiB. Default: 0, off. With [Hedge] partitions must share two near replicas. Package explain prints what is
// grouped, docs/design/groups.md lists what never is.
func Group(bytes int) Option {
	return option(func(c *config) {
		switch {
		case bytes < 0:
			c.fail("Group: %d is negative", bytes)
		case 0 < bytes && bytes < 1<<10:
			c.fail("Group: %d is less than 1 KiB; it is in bytes: for %d KiB give %d << 10", bytes, bytes, bytes)
		case bytes > 50<<10:
			c.fail("Group: %d is more than 50 KiB, of which servers reject a batch (batch_size_fail_threshold)", bytes)
		}
		c.group = bytes
	})
}
