package reconcile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/cql"
	"github.com/denorm-go/denorm/internal/decide"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/request"
	"github.com/denorm-go/denorm/internal/settings"
	"github.com/denorm-go/denorm/retry"
)

// The tables of [StateSchema].
const (
	runTable     = "denorm_run"
	segmentTable = "denorm_run_segment"
	leaseTable   = "denorm_lease"
	findingTable = "denorm_finding"
)

// StateSchema returns the CQL that creates the tables of [State] in a keyspace: for runs, the token ranges that they
// have done, leases, and findings. In production, put it where your other migrations are; in development, schema.Ensure
// takes it as schema.CQL. Rows in these tables expire after 90 days. Findings have the keys of rows, which are as
// secret as the rows.
func StateSchema(keyspace string) string {
	name := func(table string) string { return cql.Name{Keyspace: keyspace, Name: table}.String() }
	return fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %s (
    job text, run timeuuid, kind text, entity text, plan blob, state text, wanted text, rate int,
    segments int, done int, rows bigint, findings int, started timestamp, ended timestamp, owner uuid,
    PRIMARY KEY (job, run)
) WITH CLUSTERING ORDER BY (run DESC) AND default_time_to_live = 7776000;

CREATE TABLE IF NOT EXISTS %s (
    run timeuuid, tbl text, low bigint, high bigint, rows bigint, in_flight bigint,
    PRIMARY KEY ((run, tbl), low)
) WITH default_time_to_live = 7776000;

CREATE TABLE IF NOT EXISTS %s (
    job text PRIMARY KEY, owner uuid, run timeuuid
) WITH default_time_to_live = 7776000;

CREATE TABLE IF NOT EXISTS %s (
    subject text, slice smallint, entity blob, tbl text, row_key blob, class text, differs text, certainty text,
    base_at bigint, row_at bigint, first_seen timestamp, last_seen timestamp, run timeuuid, outcome text, reason text,
    PRIMARY KEY ((subject, slice), entity, tbl, row_key)
) WITH default_time_to_live = 7776000;
`, name(runTable), name(segmentTable), name(leaseTable), name(findingTable))
}

// store reads and writes the tables of StateSchema. Its requests are outside of the pace, which may be paused.
type store struct {
	reads, writes *gocql.Session
	keyspace      string
	datacentre    string // of all requests; empty if they go to several
	retrier       request.Retrier
}

func (r *Reconciler) store(keyspace string) *store {
	return &store{
		reads: r.session.Reads(), writes: r.session.Writes(), keyspace: keyspace, datacentre: r.shared.LocalDC,
		retrier: request.NewRetrier(retry.Policy{AttemptTimeout: attemptTimeout, MaxElapsedTime: maxElapsed}, settings.NewBudget(0, 0)),
	}
}

func (s *store) name(table string) string {
	return cql.Name{Keyspace: s.keyspace, Name: table}.String()
}

func (s *store) do(ctx context.Context, kind retry.Kind, f func(context.Context) error) error {
	_, err := request.New(s.keyspace, nil).Do(ctx, &s.retrier, kind, f, nil)
	answer, ok := driver.RequestError(err)
	switch {
	case ok && answer.Code() == gocql.ErrCodeInvalid:
		return invalid("state in keyspace %s: %w: create its tables with StateSchema", s.keyspace, err)
	case err != nil:
		return fmt.Errorf("denorm: reconcile: state in keyspace %s: %w", s.keyspace, err)
	}
	return nil
}

func (s *store) query(ctx context.Context, on *gocql.Session, statement string, values []any) *gocql.Query {
	return on.Query(statement, values...).Consistency(gocql.LocalQuorum).DefaultTimestamp(false).Idempotent(true).RetryPolicy(driver.NoRetry).WithContext(ctx)
}

func (s *store) exec(ctx context.Context, statement string, values ...any) error {
	return s.do(ctx, retry.Partition, func(ctx context.Context) error { return s.query(ctx, s.writes, statement, values).Exec() })
}

// all reads rows. row scans one of them.
func all[T any](ctx context.Context, s *store, row func(gocql.Scanner, *T) error, statement string, values ...any) (rows []T, err error) {
	err = visit(ctx, s, row, func(r *T) error {
		rows = append(rows, *r)
		return nil
	}, statement, values...)
	return rows, err
}

// statePage is how many rows are read at a time: there may be any number, with keys of 64 KiB.
const statePage = 100

// visit is all for rows that are not kept.
func visit[T any](ctx context.Context, s *store, row func(gocql.Scanner, *T) error, f func(*T) error, statement string, values ...any) error {
	for state, more := []byte(nil), true; more; more = len(state) > 0 {
		var rows []T
		if err := s.do(ctx, retry.Partition, func(ctx context.Context) error {
			rows = nil
			iter := s.query(ctx, s.reads, statement, values).PageSize(statePage).PageState(state).Iter()
			next, scanner := bytes.Clone(iter.PageState()), iter.Scanner()
			for scanner.Next() {
				var r T
				if err := row(scanner, &r); err != nil {
					return errors.Join(request.Stop(err), scanner.Err())
				}
				rows = append(rows, r)
			}
			if err := scanner.Err(); err != nil {
				return err
			}
			state = next
			return nil
		}); err != nil {
			return err
		}
		for i := range rows {
			if err := f(&rows[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// A lease keeps a second process from doing the same work. It is a matter of economy: all that a run writes may be
// written by two. So it is at LOCAL_SERIAL: a datacentre that is down does not keep the others from verifying. The job
// has the name of the datacentre, as transactions of one partition at LOCAL_SERIAL in two datacentres can block it. A
// session without a datacentre uses SERIAL.
type lease struct {
	*store
	job        string
	owner, run gocql.UUID
}

const (
	leaseTTL     = 60 // seconds
	leaseRenewal = 20 * time.Second
)

// job names the partition of the runs of a kind over the set, in the datacentre of the session, and its lease.
func (j *job) job() string {
	name := j.kind + " " + j.subject()
	if j.store.datacentre != "" {
		name += " in " + j.store.datacentre
	}
	return name
}

func (s *store) serial() gocql.SerialConsistency {
	if s.datacentre != "" {
		return gocql.LocalSerial
	}
	return gocql.Serial
}

// take gives whose the lease is now: the run may be this one.
func (l *lease) take(ctx context.Context) (held bool, run gocql.UUID, err error) {
	return l.cas(ctx, fmt.Sprintf("INSERT INTO %s (job, owner, run) VALUES (?, ?, ?) IF NOT EXISTS USING TTL %d", l.name(leaseTable), leaseTTL),
		l.job, l.owner, l.run)
}

// renew takes the lease again if it has expired and nobody has it.
func (l *lease) renew(ctx context.Context) (held bool, run gocql.UUID, err error) {
	held, run, err = l.cas(ctx, fmt.Sprintf("UPDATE %s USING TTL %d SET owner = ?, run = ? WHERE job = ? IF owner = ?", l.name(leaseTable), leaseTTL),
		l.owner, l.run, l.job, l.owner)
	if err == nil && !held {
		return l.take(ctx)
	}
	return held, run, err
}

func (l *lease) release(ctx context.Context) error {
	_, _, err := l.cas(ctx, "DELETE FROM "+l.name(leaseTable)+" WHERE job = ? IF owner = ?", l.job, l.owner)
	return err
}

// cas runs a lightweight transaction. One that was applied although its answer was lost is told by the owner when it is
// sent again.
func (l *lease) cas(ctx context.Context, statement string, values ...any) (held bool, run gocql.UUID, err error) {
	err = l.do(ctx, retry.Swap, func(ctx context.Context) error {
		row := make(map[string]any)
		applied, err := decide.Scan(l.query(ctx, l.writes, statement, values).SerialConsistency(l.serial()).NoSkipMetadata().Iter(), row)
		if held = applied || row["owner"] == l.owner; held {
			run = l.run
		} else {
			run, _ = row["run"].(gocql.UUID)
		}
		return err
	})
	return held, run, err
}
