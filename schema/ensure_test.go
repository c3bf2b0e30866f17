package schema_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
)

// An Ensure that was canceled says so once, and nothing of nodes that were not asked.
func TestEnsureCanceled(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		s := open(t, c)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := schema.Ensure(ctx, s, hotel); err == nil || err.Error() != "schema: Ensure: keyspace hotel: context canceled" {
			t.Errorf("%q", err)
		}
	})
}

// While nodes do not agree on the schema, Ensure sends no statement that changes it: neither a keyspace nor the table
// of its lock. Its error says what the driver saw last.
func TestEnsureWithoutAgreement(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		s := open(t, c)
		asked := c.When(cassandratest.Table("system.local")).Do(cassandratest.Fail(cassandratest.Overloaded)) // so nobody knows whether they agree
		err := schema.Ensure(t.Context(), s, hotel)
		if !errors.Is(err, context.DeadlineExceeded) ||
			!strings.HasPrefix(err.Error(), "schema: Ensure: wait until the nodes agree on the schema (see nodetool describecluster): ") {
			t.Errorf("%v", err)
		}
		if sent := c.Journal(cassandratest.Text("CREATE")); asked.Handled() == 0 || len(sent) > 0 {
			t.Errorf("%d reads, sent: %v", asked.Handled(), sent)
		}
	})
}

// Two services share tables, and one of them declares a keyspace of its own before theirs. Each table is created by one
// of the services, while the other waits for the keyspace's lock.
func TestEnsureOfTwoServices(t *testing.T) {
	t.Parallel()
	const shared = `CREATE TABLE shop.things (id int PRIMARY KEY); CREATE TABLE shop.things_by_kind (kind text PRIMARY KEY);`
	one := schema.Must(schema.Declare(schema.CQL(shared)))
	two := schema.Must(schema.Declare(schema.CQL(`CREATE TABLE audit.own (id int PRIMARY KEY);` + shared)))
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		for _, keyspace := range []string{"shop", "audit"} {
			c.Create("CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}")
		}
		c.When(cassandratest.Text("CREATE TABLE IF NOT EXISTS shop.things")).Do(cassandratest.Delay(5 * time.Second))
		var all sync.WaitGroup
		for _, declared := range []*schema.Schema{one, two} {
			config := c.Config()
			config.Timeout = 20 * time.Second
			s, err := session.Open(config)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			all.Go(func() {
				if err := schema.Ensure(t.Context(), s, declared); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, table := range []string{"shop.things (", "shop.things_by_kind (", "audit.own ("} {
			sent := c.Journal(cassandratest.Text("CREATE TABLE IF NOT EXISTS "+table), cassandratest.Where(func(r cassandratest.Request) bool {
				return r.Kind == cassandratest.Query
			}))
			if len(sent) != 1 {
				t.Errorf("CREATE TABLE %s was sent %d times", table, len(sent))
			}
		}
	})
}

// open opens a session without a keyspace.
func open(t *testing.T, c *cassandratest.Cluster) *session.Session {
	t.Helper()
	s, err := session.Open(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// ensureAfter creates what is there before, and expects Ensure to create the rest of what is declared.
func ensureAfter(t *testing.T, before, declared string) {
	t.Helper()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		s := open(t, c)
		c.Create("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
		c.Create(before)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		want := schema.Must(schema.Declare(schema.CQL(declared)))
		if err := schema.Ensure(ctx, s, want); err != nil {
			t.Fatalf("%s, then Ensure of %s: %v", before, declared, err)
		}
		live, err := schema.Read(ctx, s, "k")
		if err != nil {
			t.Fatal(err)
		}
		if found := schema.Breaking(schema.Compare(want, live)); len(found) > 0 {
			t.Errorf("%s, then Ensure of %s: %v", before, declared, found)
		}
	})
}

// Cassandra keeps the names of indexes, types and tables apart, so that one of another kind is no reason not to create
// a table.
func TestIndexAndTableOfOneName(t *testing.T) {
	t.Parallel()
	before := `CREATE TABLE k.orders (id int PRIMARY KEY, status text); CREATE INDEX orders_by_status ON k.orders (status);`
	ensureAfter(t, before, before+`CREATE TABLE k.orders_by_status (status text, id int, PRIMARY KEY (status, id))`)
}

// The same the other way round: there is a table or a type, and an index of its name is declared.
func TestIndexAndType(t *testing.T) {
	t.Parallel()
	before := `CREATE TYPE k.address (street text); CREATE TABLE k.home (id int PRIMARY KEY, street text)`
	ensureAfter(t, before, before+`; CREATE INDEX address ON k.home (street)`)
}

// A type is there, as after an Ensure that was interrupted, and a table of its name is declared.
func TestTypeAndTableOfOneName(t *testing.T) {
	t.Parallel()
	before := `CREATE TYPE k.address (street text)`
	ensureAfter(t, before, before+`; CREATE TABLE k.address (id int PRIMARY KEY, a frozen<address>)`)
}

// A view has its name among those of the tables: Ensure does not try to create a table there, and says what is wrong.
func TestViewAndTableOfOneName(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
		s := open(t, c)
		table := `CREATE TABLE k.t (a int PRIMARY KEY, b int);`
		c.Create("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", table,
			`CREATE MATERIALIZED VIEW k.v AS SELECT * FROM k.t WHERE b IS NOT NULL AND a IS NOT NULL PRIMARY KEY (b, a)`)
		err := schema.Ensure(t.Context(), s, schema.Must(schema.Declare(schema.CQL(table+`CREATE TABLE k.v (b int, a int, PRIMARY KEY (b, a))`))))
		if err == nil || !strings.Contains(err.Error(), "is a materialized view") {
			t.Errorf("%v: want that the table is a view", err)
		}
	})
}
