package command

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/reconcile"
)

// A row with a timestamp after the year 9999, which JSON cannot have, does not take the report, nor the list of runs.
func TestJSONOfTimesBeyondTheYear9999(t *testing.T) {
	startSignals()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newShopOfOrders(t, c)
		c.Create(reconcile.StateSchema("shop"))
		for statement, values := range map[string][]any{
			"INSERT INTO orders_by_status (order_id, user_id, status, updated_at) VALUES (?, ?, 'open', ?) USING TIMESTAMP ?": {
				gocql.TimeUUID(), gocql.MustRandomUUID(), int64(1) << 60, int64(1) << 60,
			},
			"INSERT INTO denorm_run (job, run, kind, started) VALUES ('x', ?, 'verify', ?)": {gocql.TimeUUID(), int64(1) << 60},
		} {
			if err := x.session.Query(statement, values...).DefaultTimestamp(false).Exec(); err != nil {
				t.Fatal(err)
			}
		}
		out, errs, code := x.run("verify", "order", "--format", "json")
		if code != ExitFound || !json.Valid([]byte(out)) || !strings.Contains(out, `"rowTime": "9999-12-31T23:59:59Z"`) {
			t.Errorf("verify: exit code %d, report %q, %s", code, out, errs)
		}
		out, errs, code = x.command("runs", "--format", "json")
		if code != ExitFine || !json.Valid([]byte(out)) || !strings.Contains(out, `"began": "9999-12-31T23:59:59Z"`) {
			t.Errorf("runs: exit code %d, list %q, %s", code, out, errs)
		}
	})
}

// A run whose row is deleted while it is told to stop is an error.
func TestOrderOfARunThatGoes(t *testing.T) {
	startSignals()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newShopOfOrders(t, c)
		c.Create(reconcile.StateSchema("shop"))
		run := gocql.TimeUUID()
		if err := x.session.Query("INSERT INTO denorm_run (job, run, kind, entity, state, wanted, started) VALUES ('x', ?, 'repair', 'order', 'running', 'run', ?)",
			run, time.Now()).Exec(); err != nil {
			t.Fatal(err)
		}
		c.When(cassandratest.Text("SELECT job, run, kind"), cassandratest.Nth(2)).Do(cassandratest.Delay(time.Second))
		time.AfterFunc(500*time.Millisecond, func() {
			if err := x.session.Query("DELETE FROM denorm_run WHERE job = 'x' AND run = ?", run).Exec(); err != nil {
				t.Error(err)
			}
		})
		if out, errs, code := x.command("stop", run.String()); code != ExitError || !strings.Contains(errs, "is no longer stored in keyspace shop") {
			t.Errorf("exit code %d, %s%s", code, out, errs)
		}
	})
}
