package reconcile_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
)

// A column of a type for which the driver has no Go type, added to denorm_lease, does not end the process of a run that
// waits for the lease.
func TestLeaseWithAnUnknownColumn(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		set := things["in buckets"]
		_, _, r := openSet(t, c, set, reconcile.Settle(30*time.Second), reconcile.State("shop"))
		c.Create(reconcile.StateSchema("shop"), "ALTER TABLE shop.denorm_lease ADD x map<blob, int>",
			"INSERT INTO shop.denorm_lease (job, owner, run) VALUES ('verify shop thing', 00000000-0000-4000-8000-000000000001, "+
				"50554d6e-29bb-11e5-b345-feff819cdc9f)")
		if _, err := r.Verify(t.Context(), set); !errors.Is(err, reconcile.ErrRunning) {
			t.Errorf("error %v", err)
		}
	})
}

// No count of a damaged row of denorm_run is negative where runs are listed.
func TestRunsWithNegativeCounts(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		_, _, r := openSet(t, c, things["in buckets"], reconcile.State("shop"))
		c.Create(reconcile.StateSchema("shop"), "INSERT INTO shop.denorm_run (job, run, rate, segments, done, rows, findings) VALUES "+
			"('verify shop thing', 50554d6e-29bb-11e5-b345-feff819cdc9f, -1, -2, -3, -4, -5)")
		runs, err := r.Runs(t.Context())
		if err != nil || len(runs) != 1 {
			t.Fatal(runs, err)
		}
		if i := runs[0]; i.Rate != 0 || i.Ranges != 0 || i.Done != 0 || i.Rows != 0 || i.Findings != 0 {
			t.Errorf("%+v", i)
		}
	})
}

// A row of denorm_run that somebody has put with the id of a run under another job does not take the orders to the run.
func TestOrdersReachTheRunWithATwin(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		set := things["in buckets"]
		s, _, r := openSet(t, c, set, reconcile.Settle(30*time.Second), reconcile.State("shop"))
		c.Create(reconcile.StateSchema("shop"))
		report, err := r.Verify(t.Context(), set)
		if err != nil {
			t.Fatal(err)
		}
		exec := func(statement string, values ...any) {
			t.Helper()
			if err := s.Writes().Query(statement, values...).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		exec("INSERT INTO shop.denorm_lease (job, owner, run) VALUES ('verify shop thing', ?, ?)", gocql.MustRandomUUID(), report.Run)
		for _, state := range []string{"running", "done"} {
			exec("UPDATE shop.denorm_run SET state = 'running', wanted = 'run' WHERE job = 'verify shop thing' AND run = ?", report.Run)
			exec("INSERT INTO shop.denorm_run (job, run, kind, entity, state, wanted, started) VALUES ('x', ?, 'verify', 'thing', ?, 'run', ?)",
				report.Run, state, time.Now().Add(time.Hour))
			if err := r.Stop(t.Context(), report.Run); err != nil {
				t.Errorf("a twin that is %s: %v", state, err)
			}
			var wanted string
			if err := s.Reads().Query("SELECT wanted FROM shop.denorm_run WHERE job = 'verify shop thing' AND run = ?", report.Run).Scan(&wanted); err != nil {
				t.Fatal(err)
			}
			if wanted != "stop" {
				t.Errorf("a twin that is %s: Stop returns nil, and the run is to %s", state, wanted)
			}
		}
	})
}
