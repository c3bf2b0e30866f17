package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/cassandratest"
	"github.com/denorm-go/denorm/integration/harness/cluster"
)

// cassandra is what the demo talks to.
type cassandra struct {
	hosts []string               // of a real cluster
	lease *cluster.Lease         // nil for a cluster that somebody else has brought up
	model *cassandratest.Cluster // nil for a real cluster
	why   string                 // there is no real one
}

// findCassandra brings a real cluster up, or joins the one that is up. On a machine that has nothing to run Cassandra
// with it is the model of one, in this process.
func findCassandra(ctx context.Context, inProcess bool) (*cassandra, error) {
	if inProcess {
		return newModel("it was asked for"), nil
	}
	if hosts := strings.FieldsFunc(os.Getenv(cluster.TestHostsEnv), isSeparator); len(hosts) > 0 {
		return &cassandra{hosts: hosts}, nil
	}
	harness, err := cluster.New(os.Stderr)
	if err != nil {
		return nil, err
	}
	lease, err := harness.Join(ctx, 1)
	switch {
	case errors.Is(err, cluster.ErrNothingToRun):
		return newModel(err.Error()), nil
	case err != nil && ctx.Err() != nil:
		return nil, errInterrupted
	case err != nil:
		return nil, err
	}
	return &cassandra{hosts: lease.Hosts(), lease: lease}, nil
}

func isSeparator(r rune) bool { return r == ',' || r == ' ' }

func newModel(why string) *cassandra { return &cassandra{model: cassandratest.New(1), why: why} }

// config reaches the nodes.
func (c *cassandra) config() *gocql.ClusterConfig {
	if c.model != nil {
		return c.model.Config()
	}
	return gocql.NewCluster(c.hosts...)
}

// String says where the nodes are.
func (c *cassandra) String() string { return cmp.Or(strings.Join(c.hosts, ","), "in this process") }

// confess says that this is not Cassandra, where it is not.
func (c *cassandra) confess(out *screen) {
	if c.model != nil {
		out.blank()
		out.say("%s", "This is NOT a real Cassandra, but a model of one in this process, package cassandratest ("+oneLine(c.why)+"). "+
			"Rows and outcomes are those of a real one, times and rates are not. With docker, or with a JDK 17 or 11 and Maven, make demo "+
			"shows a real one.")
	}
}

// close ends the use of the cluster, also when ctx has ended.
func (c *cassandra) close(ctx context.Context) error {
	if c.model != nil {
		c.model.Close()
	}
	if c.lease != nil {
		return c.lease.Close(ctx)
	}
	return nil
}
