package suite_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/internal/testutil/suite"
)

// The same tests run on real nodes in integration/suite/systems.
func TestSystems(t *testing.T) {
	t.Parallel()
	c := cassandratest.Start(t, 3)
	var keyspaces atomic.Int64
	dial := func(tb testing.TB, keyspace string, changes ...suite.Change) *gocql.Session {
		tb.Helper()
		config := c.Config()
		config.Keyspace, config.Consistency = keyspace, gocql.LocalQuorum
		config.Events.DisableSchemaEvents = true // or gocql goes on after the session was closed
		for _, change := range changes {
			change(config)
		}
		session, err := config.CreateSession()
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(session.Close)
		return session
	}
	change := func(tb testing.TB, keyspace string, statements ...string) {
		tb.Helper()
		session := dial(tb, keyspace)
		for _, statement := range statements {
			if err := session.Query(statement).WithContext(tb.Context()).Exec(); err != nil {
				tb.Fatalf("%s: %v", statement, err)
			}
		}
	}
	suite.Exercise(t, suite.Cassandra{
		MakeKeyspace: func(tb testing.TB, replication int, statements ...string) string {
			tb.Helper()
			name := fmt.Sprintf("suite%d", keyspaces.Add(1))
			c.Create(fmt.Sprintf("CREATE KEYSPACE %s WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': %d}", name,
				replication))
			change(tb, name, statements...)
			return name
		},
		ChangeSchema: change,
		Dial:         dial,
	})
}
