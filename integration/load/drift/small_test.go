package drift_test

import (
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/integration/load/drift"
)

// A null in one table differs from the zero value in the other.
func TestNullDiffers(t *testing.T) {
	t.Parallel()
	c := cassandratest.Start(t, 1)
	c.Create("CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1}")
	config := c.Config()
	config.Keyspace = "k"
	s, err := config.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	do := func(statement string, values ...any) {
		t.Helper()
		if err := s.Query(statement, values...).Exec(); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	for _, statement := range drift.SmallSchema.Statements() {
		do(statement)
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
