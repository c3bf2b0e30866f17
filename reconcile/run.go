package reconcile

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/describe"
	"github.com/denorm-go/denorm/internal/each"
)

// ErrRunning says that another run of the same kind, over the same set and keyspaces, is under way in the datacentre.
// Its text names that run. If the process of that run has died, a call succeeds a minute later.
var ErrRunning = errors.New("denorm: reconcile: another run of the set is under way")

// ErrStopped says that the run was stopped by [Reconciler.Stop].
var ErrStopped = errors.New("denorm: reconcile: the run was stopped; option Resume (--resume) continues it")

// State stores runs in the tables of [StateSchema], in a physical keyspace, where they outlive their process. [Resume]
// continues a run whose process has died, and other processes see and control it ([Reconciler.Runs]). A finding keeps
// the time when it was first seen, so that it can become [Proven]. In each datacentre (session.LocalDC) only one run of
// a kind works on a set at a time ([ErrRunning]). Sessions without LocalDC count as one more datacentre. Default: all
// of that is in memory, and ends with the call.
func State(keyspace string) Option { return func(c *config) { c.state = keyspace } }

// Resume continues a run that [State] has stored: see [Report.Run] and [Reconciler.Runs]. Verify and Repair without
// [Lookup] read all tables again. Others repeat nothing, and first read again what was being repaired. The report has
// what was found before. Give it the same method, datacentre, set, [Tables], [Lookup] and [DryRun], and for Adopt the
// same [Writers] and [Settle], or the error matches [ErrInvalid]. The run keeps its [Rate] unless another one is given.
func Resume(run gocql.UUID) Option { return func(c *config) { c.resume = run } }

// storedRun is a run in the tables of StateSchema. A range is stored once all that differed in it is settled: if it
// were stored when it was read, a process that dies would lose its suspects.
type storedRun struct {
	lease
	began   time.Time
	covered map[coveredKey]covered // by an earlier process
	earlier earlier
	former  *gocql.UUID // owner of a run that is continued
	fail    func(error)
	ended   atomic.Int64 // units that are stored
	paused  bool         // it was when its process ended
	whole   bool         // all was read, and the findings are stored
}

type coveredKey struct {
	table     string // as declared
	low, high int64
}

type covered struct {
	coveredKey
	rows, inFlight *int64 // nil if the row is damaged
}

// mostRows is more than a range has. Those of all ranges of all tables do not overflow.
const mostRows = 1 << 40

// counts says whether the row counts what a range can have.
func (c *covered) counts() bool {
	return c.rows != nil && c.inFlight != nil && min(*c.rows, *c.inFlight) >= 0 && max(*c.rows, *c.inFlight) < mostRows
}

// The states of runs.
const (
	stateRunning     = "running"
	stateIncomplete  = "incomplete"
	stateDone        = "done"
	stateInterrupted = "interrupted" // as Runs says; it is not stored
)

// What others want of a run.
const (
	wantRun   = "run"
	wantPause = "pause"
	wantStop  = "stop"
)

// subject is the set on the cluster, whatever is done with it.
func (j *job) subject() string {
	keyspaces := each.Of(j.tables, func(t *table) string { return t.keyspace })
	slices.Sort(keyspaces)
	return strings.Join(slices.Compact(keyspaces), ",") + " " + j.entity
}

// plan is a hash of what must be equal for a run to be continued.
func (j *job) plan() ([]byte, error) {
	what := []any{j.kind, j.dryRun, j.lookup, j.ranges, j.names(), describe.Of(j.set)}
	if j.adopt != 0 { // a range that was adopted under an earlier time may have rows by hand since
		what = append(what, j.adopt)
	}
	for _, c := range j.copies {
		what = append(what, c.from, c.to)
	}
	text, err := json.Marshal(what)
	sum := sha256.Sum256(text)
	return sum[:], err
}

// begin takes the lease of the run, stores its plan, and reads what an earlier process has done.
func (j *job) begin(ctx context.Context) error {
	switch {
	case j.resume != gocql.UUID{} && (j.store == nil || j.one != nil):
		return invalid("Resume: no run is stored: runs of all entities are, by a Reconciler with State")
	case j.store == nil || j.one != nil:
		return nil
	}
	plan, err := j.plan()
	if err != nil {
		return err
	}
	r := &storedRun{
		lease: lease{store: j.store, job: j.job(), owner: gocql.MustRandomUUID(), run: j.resume},
		began: j.report.Began, fail: j.fail,
	}
	if j.resume == (gocql.UUID{}) {
		r.run = gocql.TimeUUID()
	} else if err := r.check(ctx, j, plan); err != nil {
		return err
	}
	held, other, err := r.take(ctx)
	switch {
	case err != nil:
		return err
	case !held:
		return fmt.Errorf("%w: %s", ErrRunning, other)
	}
	if err = r.load(ctx, j, plan); err != nil {
		return errors.Join(err, r.release(ctx))
	}
	j.stored, j.report.Run = r, r.run
	return nil
}

// check rejects a run that is not the same as the one that is stored.
func (r *storedRun) check(ctx context.Context, j *job, plan []byte) error {
	type row struct {
		plan   []byte
		wanted string
		rate   int
		owner  *gocql.UUID
	}
	rows, err := all(ctx, r.store, func(s gocql.Scanner, row *row) error {
		return s.Scan(&row.plan, &row.wanted, &row.rate, &row.owner)
	},
		"SELECT plan, wanted, rate, owner FROM "+r.name(runTable)+" WHERE job = ? AND run = ?", r.job, r.run)
	switch {
	case err != nil:
		return err
	case len(rows) == 0:
		return invalid("Resume: no run %s to %s set %s in these keyspaces and this datacentre (--local-dc) is stored", r.run, j.kind, j.entity)
	case string(rows[0].plan) != string(plan):
		return invalid("Resume: run %s was begun with another declaration of set %s, or with other Tables, Lookup, DryRun or, to adopt, Writers or Settle: begin a new run", r.run, j.entity)
	}
	if began := startOf(r.run); began.Before(r.began) { // stored times are in milliseconds
		r.began, j.report.Began = began, began
	}
	r.former = rows[0].owner
	if j.rate == 0 {
		j.rate = rows[0].rate
	}
	r.paused = j.kind == kindWatch && rows[0].wanted == wantPause // other runs are continued by a person, so that they go on
	j.throttle.set(r.paused, j.rate)
	return nil
}

// startOf is when a run began, by its id: the time that is stored may be damaged.
func startOf(run gocql.UUID) time.Time { return run.Time().Truncate(time.Millisecond) }

// load stores the run as running, and reads what an earlier process has done. The plan of the run is this one row: its
// segments follow from it, so there is none of which a part is stored.
func (r *storedRun) load(ctx context.Context, j *job, plan []byte) error {
	wanted := wantRun
	if r.paused {
		wanted = wantPause
	}
	if j.resume == (gocql.UUID{}) {
		_, _, err := r.cas(ctx, "INSERT INTO "+r.name(runTable)+" (job, run, kind, entity, plan, state, wanted, rate, segments, started, owner) "+
			"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) IF NOT EXISTS",
			r.job, r.run, j.kind, j.entity, plan, stateRunning, wanted, j.rate, j.ranges*len(j.scanned()), r.began, r.owner)
		return err
	}
	mine, _, err := r.cas(ctx, "UPDATE "+r.name(runTable)+" SET state = ?, wanted = ?, rate = ?, ended = ?, owner = ? WHERE job = ? AND run = ? IF owner = ?",
		stateRunning, wanted, j.rate, nil, r.owner, r.job, r.run, r.former)
	switch {
	case err != nil:
		return err
	case !mine:
		return r.taken(r.run)
	}
	r.covered = make(map[coveredKey]covered)
	ranges := segments(j.ranges)
	for _, t := range j.compared() {
		if err := visit(ctx, r.store, func(s gocql.Scanner, c *covered) error { return s.Scan(&c.low, &c.high, &c.rows, &c.inFlight) }, func(c *covered) error {
			if c.table = t.Name(); c.counts() && slices.Contains(ranges, segment{c.low, c.high}) {
				r.covered[c.coveredKey] = *c // the range of a damaged row is read again
			}
			return nil
		}, "SELECT low, high, rows, in_flight FROM "+r.name(segmentTable)+" WHERE run = ? AND tbl = ?", r.run, t.Name()); err != nil {
			return err
		}
	}
	return j.restore(ctx, r)
}

// skip says whether an earlier process has done a unit, and adds what it counted.
func (r *storedRun) skip(j *job, u *unit) bool {
	c, ok := r.covered[coveredKey{u.t.Name(), u.in.low, u.in.high}]
	if ok {
		r.ended.Add(1)
		j.read.Add(*c.rows)
		j.report.rows(u.t, int(*c.rows))
		j.report.count(&j.report.InFlight, int(*c.inFlight))
	}
	return ok
}

// done stores that a unit is done.
func (r *storedRun) done(ctx context.Context, u *unit) {
	err := r.exec(ctx, "INSERT INTO "+r.name(segmentTable)+" (run, tbl, low, high, rows, in_flight) VALUES (?, ?, ?, ?, ?, ?)",
		r.run, u.t.Name(), u.in.low, u.in.high, u.rows.Load(), u.inFlight.Load())
	if err != nil {
		r.fail(err)
		return
	}
	r.ended.Add(1)
}

// pollWanted is how often a run asks what others want of it.
const pollWanted = 5 * time.Second

// keep renews the lease, and does what others want of the run.
func (r *storedRun) keep(ctx context.Context, j *job, ended <-chan struct{}) {
	ticker := time.NewTicker(pollWanted)
	defer ticker.Stop()
	for renewed := time.Now(); ; {
		select {
		case <-ended:
			return
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if time.Since(renewed) >= leaseRenewal {
			held, other, err := r.renew(ctx)
			if err == nil && !held {
				r.lose(other)
				return
			}
			renewed = time.Now()
		}
		r.obey(ctx, j)
	}
}

// lose ends the run, or what another process has taken for its end.
func (r *storedRun) lose(other gocql.UUID) {
	r.fail(r.taken(other))
}

func (r *storedRun) taken(other gocql.UUID) error {
	if other == r.run {
		return fmt.Errorf("%w: this process has not renewed its lease, and another one has continued run %s", ErrRunning, r.run)
	}
	return fmt.Errorf("%w: this process has not renewed its lease, and %s has begun", ErrRunning, other)
}

// obey does what others want, and tells them how far the run is. What fails is tried again a moment later.
func (r *storedRun) obey(ctx context.Context, j *job) {
	type order struct {
		wanted string
		rate   int
	}
	orders, err := all(ctx, r.store, func(s gocql.Scanner, o *order) error { return s.Scan(&o.wanted, &o.rate) },
		"SELECT wanted, rate FROM "+r.name(runTable)+" WHERE job = ? AND run = ?", r.job, r.run)
	if err != nil || len(orders) == 0 {
		return
	}
	if orders[0].wanted == wantStop {
		j.fail(ErrStopped)
		return
	}
	j.throttle.set(orders[0].wanted == wantPause, orders[0].rate)
	if mine, err := r.tell(ctx, j, stateRunning, nil); err == nil && !mine {
		r.lose(r.run)
	}
}

// tell stores how far the run is. It says whether the run is this process's still: the lease may be free again after
// another one has ended the run.
func (r *storedRun) tell(ctx context.Context, j *job, state string, ended any) (mine bool, err error) {
	p, done := j.progress(), r.ended.Load()
	if j.digest != nil {
		done = j.segment.Load()
	}
	mine, _, err = r.cas(ctx, "UPDATE "+r.name(runTable)+" SET state = ?, done = ?, rows = ?, findings = ?, ended = ? WHERE job = ? AND run = ? IF owner = ?",
		state, done, p.Rows, p.Findings, ended, r.job, r.run, r.owner)
	return mine, err
}

// endFindings deletes the stored findings that a run which has read all has not seen. There may be many.
func (r *storedRun) endFindings(ctx context.Context, j *job) {
	if ctx.Err() == nil && j.report.Uncovered == 0 {
		r.whole = j.each != nil || j.forget(ctx, r) == nil
	}
}

// storeEnd stores the end of the run, and gives back its lease. If it fails, the run can be resumed a minute later.
func (r *storedRun) storeEnd(ctx context.Context, j *job) {
	complete := r.whole && ctx.Err() == nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptTimeout)
	defer cancel()
	state := stateIncomplete
	if complete {
		state = stateDone
	}
	_, _ = r.tell(ctx, j, state, j.report.Ended)
	_ = r.release(ctx)
}
