package drift_test

import (
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/load/drift"
)

// A null in one table differs from the zero value in the other.
func TestNullDiffers(t *testing.T) {
	t.Parallel()
	s := inProcess(t, drift.SmallSchema.Statements())
	do := func(statement string, values ...any) {
		t.Helper()
		if err := s.Query(statement, values...).Exec(); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	const (
		base  = "INSERT INTO profiles (user_id, team, name, motto) VALUES (?, 'blue', 'ada', ?)"
		query = "INSERT INTO profiles_by_team (user_id, team, name, motto) VALUES (?, 'blue', 'ada', ?)"
	)
	for _, c := range []struct {
		name        string
		base, query any
		differ      bool
	}{
		{"null and empty", nil, "", true},
		{"empty and null", "", nil, true},
		{"null and the text null", nil, "null", true},
		{"both null", nil, nil, false},
		{"both empty", "", "", false},
	} {
		id := gocql.MustRandomUUID()
		do(base, id, c.base)
		do(query, id, c.query)
		differ, there, err := drift.Differ(t.Context(), s, drift.SmallTables...)
		if err != nil || differ[id] != c.differ || !there[id] {
			t.Errorf("%s: differ %v, want %v; there %v, %v", c.name, differ[id], c.differ, there[id], err)
		}
	}
}

// inProcess opens a session of a keyspace in this process, with tables.
func inProcess(t *testing.T, tables []string) *gocql.Session {
	t.Helper()
	c := cassandratest.Start(t, 1)
	c.Create("CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1}")
	config := c.Config()
	config.Keyspace = "k"
	s, err := config.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for _, statement := range tables {
		if err := s.Query(statement).Exec(); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return s
}

// All tables of an order have the digest of its row, and tables that do not are found.
func TestDigest(t *testing.T) {
	t.Parallel()
	s := inProcess(t, orders.Schema.Statements())
	const count = 50
	if err := drift.Load(t.Context(), s, count, 7, drift.Tables...); err != nil {
		t.Fatal(err)
	}
	for _, table := range drift.Tables {
		have, err := drift.Read(t.Context(), s, table)
		if err != nil || len(have) != count {
			t.Fatalf("%s: %d rows, %v", table, len(have), err)
		}
		for i := range count {
			o := drift.Order(i, 7)
			if want, err := drift.Digest(o); err != nil || have[o.OrderID] != want {
				t.Errorf("%s: order %d has another digest than its row, %v", table, i, err)
			}
		}
	}
	apart := drift.Order(3, 7)
	if err := s.Query("UPDATE orders_by_id SET total = null WHERE order_id = ?", apart.OrderID).Exec(); err != nil {
		t.Fatal(err)
	}
	differ, there, err := drift.Differ(t.Context(), s, drift.Tables)
	if err != nil || len(differ) != 1 || !differ[apart.OrderID] || len(there) != count {
		t.Errorf("%v differ, %d are there, %v", differ, len(there), err)
	}
}
