// Package systems runs on real nodes what cassandratest runs too, and what only real nodes show of the same systems.
package systems

import (
	"flag"
	"os"
	"testing"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/suite/nodes"
	"github.com/denorm-go/denorm/internal/testutil/suite"
)

var long = flag.Bool("long", false, "run loads at full length")

func TestMain(m *testing.M) {
	if os.Getenv(resumeEnv) != "" {
		os.Exit(resumeInThisProcess())
	}
	os.Exit(m.Run())
}

func TestSystems(t *testing.T) {
	t.Parallel()
	cluster.Need(t, 3)
	suite.Exercise(t, nodes.Cassandra)
}
