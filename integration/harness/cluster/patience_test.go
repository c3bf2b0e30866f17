package cluster

import (
	"testing"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
)

// A read that has timed out is asked again, also where it has completed a transaction and that timed out. No other is,
// nor is a write.
func TestPatience(t *testing.T) {
	t.Parallel()
	const read, write = `SELECT k FROM t`, `INSERT INTO t (k) VALUES (1)`
	for name, test := range map[string]struct {
		fault     cassandratest.Error
		statement string
		want      int // requests
	}{
		"read":                      {cassandratest.ReadTimeout(1, 2), read, 9},
		"read that completes a CAS": {cassandratest.WriteTimeout("CAS", 1, 2), read, 9},
		"wrong read":                {cassandratest.Code(gocql.ErrCodeInvalid), read, 1},
		"write":                     {cassandratest.WriteTimeout("SIMPLE", 1, 2), write, 1},
		"read of a CAS":             {cassandratest.ReadTimeout(1, 2), write + ` IF NOT EXISTS`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cassandratest.Test(t, 1, func(t *testing.T, c *cassandratest.Cluster) {
				c.Create(`CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`,
					`CREATE TABLE shop.t (k int PRIMARY KEY)`)
				config := c.Config()
				config.Keyspace, config.RetryPolicy = "shop", patience{}
				session, err := config.CreateSession()
				if err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				rule := c.When(cassandratest.Table("t")).Do(cassandratest.Fail(test.fault))
				if err := session.Query(test.statement).Exec(); err == nil {
					t.Error("no error")
				}
				if got := rule.Handled(); got != test.want {
					t.Errorf("%d requests, want %d", got, test.want)
				}
			})
		})
	}
}
