package writer

import (
	"time"

	"github.com/gocql/gocql"
)

// Configure sets cluster up for a session that a [Writer] writes or reads with, and returns it. localDC is the
// datacentre of the service, as the nodes report it; empty means that all nodes are equally near. Hosts, credentials,
// TLS, keyspace and everything else stay as they are; what it sets may be changed afterwards.
//
// Call it again before each further session made from the same config: gocql panics if two sessions share a host
// selection policy, and every call sets a new one.
func Configure(cluster *gocql.ClusterConfig, localDC string) *gocql.ClusterConfig {
	// gocql 1.7 speaks 3 to 4 (5 without its framing). Left to discover the version it opens a connection to throw
	// away, and in a cluster under upgrade takes whatever the first node offers.
	cluster.ProtoVersion = 4

	// The writer owns all attempts. gocql would retry whatever the error, counters included, with the errors of
	// earlier attempts lost, and a clean last error would then be taken for "not applied".
	cluster.RetryPolicy = nil

	// Statements carry their timestamp; gocql's would be a new one each attempt, and each table.
	cluster.DefaultTimestamp = false

	// Above the server's own limits (write 2 s, read 5 s), or slow requests end without the server's answer. The writer
	// bounds its attempts by their context; this also bounds a PREPARE, which does not run under it.
	cluster.Timeout = 6 * time.Second
	cluster.ConnectTimeout = 5 * time.Second

	// The only thing that brings back a host that was marked down without an event; gocql's default is a minute.
	cluster.ReconnectInterval = 2 * time.Second

	// A statement counts once for each host, and 1000, the default, is 30 hosts by 33 statements: beyond it every
	// request would prepare again.
	cluster.MaxPreparedStmts = 20_000
	cluster.MaxRoutingKeyInfo = 20_000

	// Requests go to a replica, which saves a hop and spreads load by data; replicas are shuffled, because gocql
	// otherwise sends every attempt for a partition to the same first one.
	cluster.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy(), gocql.ShuffleReplicas())

	// Only nodes of the own datacentre: gocql's datacentre-aware policy goes on to remote ones when the local ones are
	// down, and there LOCAL_QUORUM means the replicas of the remote datacentre.
	if localDC != "" {
		cluster.HostFilter = gocql.DataCentreHostFilter(localDC)
	}

	// What the reads of the service should see of the writes it made.
	cluster.Consistency = gocql.LocalQuorum
	return cluster
}
