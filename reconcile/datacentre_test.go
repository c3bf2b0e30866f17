package reconcile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/reconcile"
	"github.com/denorm-go/denorm/session"
)

// The transactions of a stored run are at LOCAL_SERIAL in a partition of the datacentre, or, of a session without one,
// at SERIAL.
func TestStoredRunsOfADatacentre(t *testing.T) {
	t.Parallel()
	for job, options := range map[string][]session.Option{
		"verify shop order":        nil,
		"verify shop order in dc1": {session.LocalDC("dc1")},
	} {
		t.Run(job, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
				c.Create(orders.Schema.In(map[string]string{"": "shop"}).Statements()...)
				c.Create(reconcile.StateSchema("shop"))
				config := c.Config()
				config.Keyspace = "shop"
				s, err := session.Open(config, options...)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(s.Close)
				r, err := reconcile.New(s, reconcile.State("shop"))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := r.Verify(t.Context(), orders.Orders); err != nil {
					t.Fatal(err)
				}
				want := gocql.Serial
				if options != nil {
					want = gocql.LocalSerial
				}
				seen := 0
				for _, q := range c.Journal(cassandratest.Execute, cassandratest.Table("denorm_lease", "denorm_run")) {
					if !strings.Contains(q.Statements[0].Text, " IF ") {
						continue
					}
					seen++
					if v, ok := q.Statements[0].Value("job"); !ok || string(v.Bytes) != job || q.Serial != want {
						t.Errorf("job %q at %v: %s", v.Bytes, q.Serial, q.Statements[0].Text)
					}
				}
				if seen < 4 { // lease, run, end, release
					t.Errorf("%d transactions", seen)
				}
				if runs, err := r.Runs(t.Context()); err != nil || len(runs) != 1 || runs[0].Keyspaces != "shop" || runs[0].State != "done" {
					t.Errorf("%+v, %v", runs, err)
				}
			})
		})
	}
}

// A level that no read has is rejected before anything is read.
func TestConsistencyOfARun(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		x := newWorld(t, c, 1)
		if _, err := x.r.Verify(t.Context(), orders.Orders, reconcile.Consistency(session.EachQuorum)); err != nil {
			t.Error(err)
		}
		for _, level := range []session.Consistency{session.Consistency(gocql.Any), session.Consistency(gocql.Serial), 99} {
			if _, err := x.r.Verify(t.Context(), orders.Orders, reconcile.Consistency(level)); !errors.Is(err, reconcile.ErrInvalid) ||
				!strings.Contains(err.Error(), "is not supported for reads") {
				t.Errorf("%d: %v", level, err)
			}
		}
	})
}
