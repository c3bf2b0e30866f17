package reconcile

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/runtrace"
	"github.com/denorm-go/denorm/internal/settings"
	"github.com/denorm-go/denorm/session"
)

// Option is an argument of [New] and of each call of a [Reconciler].
type Option func(*config)

type config struct {
	settle      time.Duration
	at          bool
	only        []string
	consistency session.Consistency
	inFlight    int
	target      time.Duration
	rate        int
	pageSize    int
	dryRun      bool
	rewrite     bool
	keepAhead   bool
	removeAhead bool
	maxRemovals int
	onRemoval   func(Removal) error
	onProgress  func(Progress)
	tracer      runtrace.Several
	spool       string
	writers     time.Time
	adopted     int64 // of the repair after the versions of Adopt: job.adopt
	state       string
	resume      gocql.UUID
	ranges      int // that each table is cut into
	restored    int // findings of an earlier process that are looked at again
	lookup      bool
	every       time.Duration
	copies      []copied
	onReport    func(*Report, error)
	err         error
}

const (
	defaultSettle      = 90 * time.Second
	defaultMaxRemovals = 1000
	defaultPageSize    = 1000
)

func (r *Reconciler) options(more []Option) (config, error) {
	c := config{
		settle: defaultSettle, spool: os.TempDir(), consistency: session.Consistency(gocql.LocalQuorum), inFlight: 256,
		pageSize: defaultPageSize,
		every:    defaultEvery, ranges: segmentsPerTable, restored: maxFindings,
	}
	told := request.TracersOf(r.shared)
	c.tracer = runtrace.Of(told.All())
	for _, o := range slices.Concat(r.defaults, more) {
		if o == nil {
			c.fail("an option is nil")
			continue
		}
		o(&c)
	}
	if c.keepAhead && c.removeAhead {
		c.fail("KeepAhead and RemoveAhead: choose one")
	}
	if c.err != nil {
		return c, invalid("%w", c.err)
	}
	return c, nil
}

func (c *config) fail(format string, args ...any) {
	c.err = errors.Join(c.err, fmt.Errorf(format, args...))
}

// Settle sets a time longer than any write takes, from its timestamp until its last statement is applied. Differences
// that last for less are not reported. Include the limit of a call, the server's timeout, a replay of the batchlog
// after a restart, and clock skew. Default: 90 s. It must be positive.
func Settle(d time.Duration) Option {
	return func(c *config) {
		if c.settle = d; d <= 0 {
			c.fail("Settle: %v is not positive", d)
		}
	}
}

// OldTimestamps says that the set may be written with writer.At at times long past, as an import does. The timestamp of
// a row then does not tell when it was written, and each difference is looked at three times.
func OldTimestamps() Option { return func(c *config) { c.at = true } }

// Tables names the query tables to compare with the base table. Default: all query tables of the set.
func Tables(names ...string) Option { return func(c *config) { c.only = names } }

// Consistency sets the consistency level of reads and of repairs. It must be the level of the service's writes, or ALL
// if that is ONE or LOCAL_ONE: otherwise acknowledged rows may be missed. Default: LOCAL_QUORUM. Before rows are
// removed, the base table is read at ALL. In a Versioned set it is read at SERIAL instead; Adopt reads it at both. A
// level that is not one of package session matches [ErrInvalid].
func Consistency(level session.Consistency) Option {
	return func(c *config) {
		if c.consistency = level; !settings.Level(gocql.Consistency(level)) {
			c.fail("Consistency: %v is not supported for reads", level)
		}
	}
}

// InFlight bounds how many requests are in flight. Within the bound their number grows while all is well, and shrinks
// when the cluster is slow or rejects requests. Default: 256. Less than 1 matches [ErrInvalid].
func InFlight(most int) Option {
	return func(c *config) {
		if c.inFlight = most; most < 1 {
			c.fail("InFlight: %d is less than 1", most)
		}
	}
}

// Target sets how long 95 of 100 requests may take: if they take longer, fewer are kept in flight. Default: measured at
// the start of the run. A run begins with one request at a time.
func Target(p95 time.Duration) Option {
	return func(c *config) {
		if c.target = p95; p95 <= 0 {
			c.fail("Target: %v is not positive", p95)
		}
	}
}

// Rate bounds the requests a second. Default: no bound. Less than 1 and more than [math.MaxInt32] match [ErrInvalid].
func Rate(requests int) Option {
	return func(c *config) {
		switch c.rate = requests; {
		case requests < 1:
			c.fail("Rate: %d is less than 1", requests)
		case requests > math.MaxInt32: // stored as int
			c.fail("Rate: %d is more than %d", requests, math.MaxInt32)
		}
	}
}

// PageSize sets how many rows a request reads. Default: 1000. A page keeps a node busy for some milliseconds, and the
// service's requests wait for that long. Where that matters, set 100 rows or less, with [Rate]. Less than 1 matches
// [ErrInvalid].
func PageSize(rows int) Option {
	return func(c *config) {
		if c.pageSize = rows; rows < 1 {
			c.fail("PageSize: %d is less than 1", rows)
		}
	}
}

// DryRun makes [Reconciler.Repair] report what it would do, and send nothing.
func DryRun() Option { return func(c *config) { c.dryRun = true } }

// Rewrite makes [Reconciler.Repair] write an entity again, at a timestamp Settle ago, if a delete of an incomplete
// write covers its row ([Shadowed]). Older writes that arrive later lose: resume stored errors first, and import
// nothing with writer.At. It also puts rows into the base table that are older than 3/4 of gc_grace_seconds. An
// entity that was deleted so long ago then comes back if a row of it was left. Rewrite needs all replicas of the base
// row, and does not apply to Versioned sets.
func Rewrite() Option { return func(c *config) { c.rewrite = true } }

// KeepAhead makes a run carry out writes whose time is more than [Settle] in the future ([Ahead]), over other changes
// and deletes. Until that time the entity takes no writes. Default: such entities are left.
func KeepAhead() Option { return func(c *config) { c.keepAhead = true } }

// RemoveAhead makes [Reconciler.Repair] undo writes whose time is more than [Settle] in the future ([Ahead]). It puts
// the base row, or the newest other row, over them, at a time just after theirs. Without a base row it removes their
// rows. Until that time the entity takes no writes. It needs [OnRemoval]. It does not apply to sets with Versioned:
// there, repair after that time. Default: such entities are left.
func RemoveAhead() Option { return func(c *config) { c.removeAhead = true } }

// MaxRemovals bounds how many rows a run removes or puts into the base table. More end it with [ErrTooMuch], so that a
// damaged base table does not damage the others. Default: 1 % of the rows read, at least 100 and at most 1000. By
// default a wrong declaration of a key column also ends the run (see the package documentation). A given number
// replaces both limits. Without [Rewrite] it also lets rows be removed for which nothing proves a delete. Less than 1
// matches [ErrInvalid]; [DryRun] removes nothing.
func MaxRemovals(rows int) Option {
	return func(c *config) {
		if c.maxRemovals = rows; rows < 1 {
			c.fail("MaxRemovals: %d is less than 1", rows)
		}
	}
}

// OnRemoval makes a run call f with each row, with all its values, before it is removed. The row is removed after f has
// returned. If f fails, the row is left, and the [Finding] says why. Without OnRemoval, [Reconciler.Repair] removes
// nothing, and the Finding says so. Several goroutines call f at once.
func OnRemoval(f func(Removal) error) Option { return func(c *config) { c.onRemoval = f } }

// Lookup makes [Reconciler.Verify] and [Reconciler.Repair] read the counterparts of each row one by one. That takes
// many times as long, but needs no temporary file, and a stored run continues where its process has died: see [Resume].
func Lookup() Option { return func(c *config) { c.lookup = true } }

// Spool sets the directory in which [Reconciler.Verify] and [Reconciler.Repair] keep hashes and keys of rows if they
// need more than 96 MiB of memory. A row of a query table needs about 240 bytes: 120 for itself, and 120 for the row
// that the base table expects there. The file has mode 0600, and is gone when the call ends or the process dies.
// Default: [os.TempDir].
func Spool(dir string) Option {
	return func(c *config) {
		c.spool = dir
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			c.fail("Spool: %s is not a folder", dir)
		}
	}
}

// OnProgress makes a run call f about every second, and at the end, from one goroutine.
func OnProgress(f func(Progress)) Option { return func(c *config) { c.onProgress = f } }
