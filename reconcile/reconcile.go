package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/catalog"
	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/each"
	"github.com/denorm-go/denorm/internal/pace"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/settings"
	"github.com/denorm-go/denorm/internal/tablerow"
	"github.com/denorm-go/denorm/retry"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/tables"
)

// Reconciler compares and repairs the tables of sets. It is made by [New], and is safe for concurrent use. It starts no
// goroutine that outlives a call, and needs no Close.
type Reconciler struct {
	session  *session.Session
	shared   settings.Shared
	defaults []Option
}

// Format prints one text for every format of fmt, so that no password is shown.
func (Reconciler) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "denorm reconciler") }

// New makes a Reconciler from a session that can read and write. The Reconciler works in the keyspaces of the session
// and reports to its tracer. It has its own retry budget, so that a run does not use up the budget of the service. The
// options are the defaults of all calls. The error names each option that is not valid, and matches [ErrInvalid].
func New(s *session.Session, options ...Option) (*Reconciler, error) {
	if s == nil || s.Reads() == nil || s.Writes() == nil {
		return nil, invalid("the session is nil, cannot write, or is a zero value: session.Open makes one")
	}
	r := &Reconciler{session: s, shared: s.Settings(), defaults: options}
	if err := r.shared.Err; err != nil {
		return nil, invalid("%w", err)
	}
	if _, err := r.options(nil); err != nil {
		return nil, err
	}
	return r, nil
}

// ErrInvalid is matched by the error of a call that is not valid. Nothing was sent.
var ErrInvalid = errors.New("denorm: reconcile: invalid")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrInvalid, fmt.Errorf(format, args...))
}

// keyspace is the physical keyspace of a declared one, empty for that of the session.
func (r *Reconciler) keyspace(declared string) (string, error) {
	own := r.session.Reads().Query("").Keyspace()
	physical, err := r.shared.Physical(declared, own)
	switch {
	case err != nil:
	case physical == "":
		err = errors.New("the session has no keyspace: set ClusterConfig.Keyspace, Table.Keyspace or session.Keyspaces")
	}
	return physical, err
}

// open prepares a call: it checks the set and the options, and reads what has to be known of the live tables.
func (r *Reconciler) open(ctx context.Context, set tables.Described, options []Option) (*job, error) {
	if ctx == nil {
		return nil, invalid("the context is nil")
	}
	if set == nil || set.Internal() == nil {
		return nil, invalid("the set is nil")
	}
	s := set.Internal()
	if why := tablerow.Incomparable(s); why != "" {
		return nil, invalid("set %s: %s", s.Entity(), why)
	}
	c, err := r.options(options)
	if err != nil {
		return nil, err
	}
	j := &job{config: c, set: s, entity: s.Entity(), report: &Report{Entity: s.Entity(), Began: time.Now()}}
	j.access = &access{
		reads: r.session.Reads(), writes: r.session.Writes(), consistency: gocql.Consistency(c.consistency), throttle: newThrottle(pace.Config{
			First: 1, Most: c.inFlight, Kinds: kinds, Slack: 2, Percentile: 95, Target: c.target,
		}, c.rate),
		retrier: request.NewRetrier(retry.Policy{AttemptTimeout: attemptTimeout, MaxElapsedTime: maxElapsed}, settings.NewBudget(0, 0)),
		keyspace: func(declared string) string {
			physical, _ := r.keyspace(declared) // of a table of the set, which is checked below
			return physical
		},
	}
	if c.state != "" {
		j.store = r.store(c.state)
	}
	for _, l := range slices.Concat(tablerow.Layouts(s), tablerow.UniqueLayouts(s)) {
		physical, err := r.keyspace(l.Keyspace())
		if err != nil {
			return nil, invalid("table %s: %w", l.Name(), err)
		}
		j.tables = append(j.tables, newTable(l, physical))
	}
	if err := j.choose(); err != nil {
		return nil, err
	}
	if err := j.checkNode(ctx); err != nil {
		return nil, err
	}
	if err := j.readSchema(ctx); err != nil {
		return nil, err
	}
	if s.LocalSerial && r.shared.LocalDC == "" {
		return j, j.checkLocalSerial(ctx)
	}
	return j, nil
}

// checkLocalSerial rejects a repair whose conditions would hold in the datacentre of whichever node takes the request.
func (j *job) checkLocalSerial(ctx context.Context) error {
	keyspace := j.base().keyspace
	var replication map[string]string
	if err := j.do(ctx, points, request.New("", nil), func(ctx context.Context) (err error) {
		replication, err = replicationOf(ctx, j.reads, keyspace)
		return err
	}); err != nil {
		return fmt.Errorf("denorm: reconcile: replication of %s not read: %w", keyspace, err)
	}
	if len(catalog.Datacentres(replication)) > 1 {
		j.unfit = invalid("set %s has LocalSerial, and its keyspace several datacentres: give session.LocalDC (--local-dc)", j.entity)
	}
	return nil
}

// Above the server's own limits, or slow requests would end without its answer.
const (
	attemptTimeout = 12 * time.Second
	maxElapsed     = time.Minute
)

// choose marks the tables that the call is about.
func (j *job) choose() error {
	wanted := make(map[string]bool)
	for _, name := range j.only {
		wanted[name] = true
	}
	for i, t := range j.tables {
		switch {
		case i == 0:
		case len(j.only) > 0 && !wanted[t.Name()]:
			j.report.NotCompared = append(j.report.NotCompared, t.qualified())
		case t.Unique():
			j.uniques = append(j.uniques, t)
		default:
			j.queries = append(j.queries, t)
		}
		delete(wanted, t.Name())
	}
	for name := range wanted {
		return invalid("Tables: set %s has no table %s", j.entity, name)
	}
	if len(j.compared()) == 1 && len(j.tables) > 1 {
		return invalid("Tables: %s is the base table alone: name query tables, which are compared with it", j.tables[0].Name())
	}
	return nil
}

// mostSkew is how far the clock of a run that repairs may be from a node's: writers reject versions that are further
// ahead.
const mostSkew = 10 * time.Second

// checkNode rejects clusters whose tokens are not those that ranges of the ring are made of here, and compares the
// clocks.
func (j *job) checkNode(ctx context.Context) error {
	var name string
	var began, now time.Time // the latter by the node's clock
	err := j.do(ctx, points, request.New("", nil), func(ctx context.Context) error {
		began = time.Now()
		return j.query(ctx, "SELECT partitioner, toTimestamp(now()) FROM system.local WHERE key = 'local'", gocql.One).Scan(&name, &now)
	})
	switch {
	case err != nil:
		return fmt.Errorf("denorm: reconcile: partitioner not read: %w", err)
	case !strings.HasSuffix(name, ".Murmur3Partitioner"):
		return invalid("the partitioner of the cluster is %s: tables can be compared under Murmur3Partitioner alone", name)
	}
	if began.Sub(now) > mostSkew || time.Until(now) > mostSkew {
		j.unfit = invalid("the clocks of this machine and of a node differ by %v: put them right, as a repair writes at the present time",
			began.Sub(now).Abs().Round(time.Second))
	}
	return nil
}

// readSchema reads what has to be known of all tables, and so finds those that do not exist, or lack a column.
func (j *job) readSchema(ctx context.Context) error {
	declared := describe.Of(j.set).Tables
	for i, t := range j.tables {
		var found []catalog.Table
		var columns []string
		err := j.do(ctx, points, request.New("", nil), func(ctx context.Context) (err error) {
			if found, err = catalog.Tables(ctx, j.reads, t.keyspace, t.Name()); err == nil {
				columns, err = columnsOf(ctx, j.reads, t.keyspace, t.Name())
			}
			return err
		})
		switch {
		case err != nil:
			return fmt.Errorf("denorm: reconcile: schema of %s not read: %w", t.qualified(), err)
		case len(found) == 0:
			return invalid("the cluster has no table %s: create it, or give the session the right keyspace", t.qualified())
		}
		for _, c := range declared[i].Columns {
			if !slices.Contains(columns, c.Name) {
				if c.Kind != "regular" {
					return invalid("table %s has another key, without column %s: create it anew", t.qualified(), c.Name)
				}
				return invalid("table %s has no column %s: ALTER TABLE %s ADD %s %s (ddl --migrate of the command writes all statements)",
					t.qualified(), c.Name, t.qualified(), cql.Quote(c.Name), c.Type)
			}
		}
		t.live = found[0]
		t.surveyor.Default = t.live.TTL
	}
	base := j.base()
	for _, t := range j.queries { // a row that has ended in one table alone would be missing there, and a repair would bring it back
		if t.live.TTL != 0 && t.live.TTL != base.live.TTL {
			return invalid("table %s has default_time_to_live %v, and the base table %s has %s: make them equal, or leave this table out (Tables, --tables; Adopt, Backfill: of the set)",
				t.qualified(), t.live.TTL, base.qualified(), orNone(base.live.TTL))
		}
	}
	return nil
}

func orNone(d time.Duration) string {
	if d == 0 {
		return "none"
	}
	return d.String()
}

// horizon is how long something that was sent may still be delivered.
func (j *job) horizon() time.Duration {
	least := j.tables[0].live.GCGrace
	for _, t := range j.tables {
		least = min(least, t.live.GCGrace)
	}
	return max(least/2, time.Hour)
}

// layouts are those of the query tables that the call is about.
func (j *job) layouts() []tablerow.Layout {
	return each.Of(j.queries, func(t *table) tablerow.Layout { return t.Layout })
}

// columnsOf makes one attempt at reading the names of a table's columns.
func columnsOf(ctx context.Context, session *gocql.Session, keyspace, table string) (out []string, err error) {
	var name string
	err = catalog.Each(ctx, session, gocql.One,
		"SELECT column_name FROM system_schema.columns WHERE keyspace_name = ? AND table_name = ?",
		[]any{keyspace, table}, func() { out = append(out, name) }, &name)
	return out, err
}

// replicationOf makes one attempt at reading the replication of a keyspace, nil if there is no such keyspace.
func replicationOf(ctx context.Context, session *gocql.Session, keyspace string) (out map[string]string, err error) {
	var replication map[string]string
	err = catalog.Each(ctx, session, gocql.One, "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = ?",
		[]any{keyspace}, func() { out = replication }, &replication)
	return out, err
}
