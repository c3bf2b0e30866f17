package cassandratest_test

import (
	"testing"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/session"
)

// A service may make its session of writes and that of reads from one config.
func TestTwoSessionsOfOneConfig(t *testing.T) {
	t.Parallel()
	cassandratest.Test(t, 3, func(t *testing.T, c *cassandratest.Cluster) {
		config := session.Configure(c.Config(), "dc1")
		for range 2 {
			s, err := session.Connect(config)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for range 3 {
				if err := s.Query("SELECT release_version FROM system.local").Exec(); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
