// Package nodes is the cluster of the tests, as package suite takes it.
package nodes

import (
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/internal/testutil/suite"
)

// Cassandra is on real nodes.
var Cassandra = suite.Cassandra{MakeKeyspace: cluster.Keyspace, ChangeSchema: cluster.ChangeSchema, Dial: cluster.Session, Real: true}
