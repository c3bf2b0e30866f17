package reconcile

import (
	"context"
	"errors"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/tables"
)

const (
	defaultEvery = 3 * 24 * time.Hour // an orphan is found before it is too old to repair: 3/4 of gc_grace_seconds
	mostEvery    = 45 * 24 * time.Hour
	kindWatch    = "watch"
)

// Every sets the period of [Reconciler.Watch]: how long a pass takes, and how long after the begin of one pass the next
// begins. Default: 3 days. It must be positive and at most 45 days, because the stored state of a pass expires after
// 90.
func Every(period time.Duration) Option {
	return func(c *config) {
		if c.every = period; period <= 0 || period > mostEvery {
			c.fail("Every: %v is not between 0 and 45 days", period)
		}
	}
}

// OnReport makes [Reconciler.Watch] call f with the report of each pass, and the error of [Report.Err]. If a pass could
// not begin, the report is nil. f is called from one goroutine.
func OnReport(f func(*Report, error)) Option { return func(c *config) { c.onReport = f } }

// Watch verifies a set again and again until ctx ends, and returns the error of ctx. Rows that come to disagree are
// found within about two periods ([Every]). It changes nothing. The reads of a pass are spread over the period, so that
// the service does not notice them. Findings and errors of a pass do not end Watch. It reports them to [OnReport], and
// to the tracer of the session if tracing.New has made it.
//
// With [State], all processes of a service may call Watch: one works in each datacentre, and the others stand by. If it
// ends or dies, another one continues its pass, some minutes later. A pass retries what it could not read.
// [Reconciler.Stop] ends a pass for good, and the next pass begins when it is due. A paused pass stays paused until
// [Reconciler.Continue]. Without State, each process verifies on its own, from the start.
//
// Watch returns ErrInvalid at once if the call is not valid, for example with [Resume].
func (r *Reconciler) Watch(ctx context.Context, set tables.Described, options ...Option) error {
	if ctx == nil {
		return invalid("the context is nil")
	}
	c, err := r.options(options)
	switch {
	case err != nil:
		return err
	case c.resume != gocql.UUID{}:
		return invalid("Watch: leave out Resume: the last pass is continued by itself")
	}
	for valid := false; ; {
		report, next, err := r.pass(ctx, set, options)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !valid && errors.Is(err, ErrInvalid):
			return err
		case c.onReport != nil && (report != nil || err != nil && !errors.Is(err, ErrRunning)):
			c.onReport(report, err)
		}
		valid = true
		if err := waitUntil(ctx, next); err != nil {
			return err
		}
	}
}

// pass verifies the set once if that is due, and says when to look again whether it is.
func (r *Reconciler) pass(ctx context.Context, set tables.Described, options []Option) (report *Report, next time.Time, err error) {
	j, err := r.open(ctx, set, options)
	if err != nil {
		return nil, time.Now().Add(leaseTTL * time.Second), err
	}
	j.kind, j.lookup, j.spread = kindWatch, true, j.every
	if j.store != nil {
		next, err = j.continueLast(ctx)
		if err != nil || next.After(time.Now()) {
			return nil, later(next, time.Now().Add(leaseRenewal)), err
		}
	}
	report, err = j.run(ctx)
	switch {
	case report == nil || errors.Is(err, ErrRunning):
		next = time.Now().Add(leaseRenewal)
	case j.store == nil:
		next = report.Began.Add(j.every)
	default:
		next = time.Now() // what is stored says
	}
	return report, next, err
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// continueLast makes the job continue the last stored pass if that was not done, or gives when the next one is due.
func (j *job) continueLast(ctx context.Context) (next time.Time, err error) {
	type row struct {
		run           gocql.UUID
		plan          []byte
		state, wanted string
		ended         time.Time
	}
	rows, err := all(ctx, j.store, func(s gocql.Scanner, r *row) error {
		return s.Scan(&r.run, &r.plan, &r.state, &r.wanted, &r.ended)
	}, "SELECT run, plan, state, wanted, ended FROM "+j.store.name(runTable)+" WHERE job = ? AND run <= ? LIMIT 1", j.job(), gocql.MaxTimeUUID(time.Now()))
	if err != nil || len(rows) == 0 {
		return time.Time{}, err
	}
	plan, err := j.plan()
	last := rows[0]
	switch due := startOf(last.run).Add(j.every); {
	case err != nil:
		return time.Time{}, err
	case last.state == stateDone, last.wanted == wantStop:
		return due, nil
	case string(last.plan) != string(plan), time.Now().After(due.Add(j.every)):
		return time.Time{}, nil // a new pass: it is of another declaration, or has a range that cannot be read
	}
	j.resume = last.run
	if last.ended.IsZero() || last.ended.After(time.Now()) {
		return time.Time{}, nil
	}
	return last.ended.Add(max(leaseTTL*time.Second, j.every/1000)), nil // what could not be read may be readable by then
}
