package session

import (
	"time"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/hosts"
	"github.com/gocql/gocql"
)

// Configure sets up cluster for the session of a writer or a reader, and returns it; [Open] calls Configure itself.
// localDC is the datacentre of the service, as the nodes report it; empty means that all nodes are equally near.
// Configure replaces ProtoVersion, Consistency, RetryPolicy, DefaultTimestamp, MaxPreparedStmts and MaxRoutingKeyInfo.
// It also sets Timeout (6 s), ConnectTimeout (5 s), WriteTimeout and ReconnectInterval (2 s), and the host policy
// ([SelectHosts]). You may change these afterwards (with [Open], by [Adjust]).
//
// Configure adds to HostFilter, FrameHeaderObserver and SslOpts. With a localDC, it accepts hosts of that datacentre
// only. Certificates of nodes are verified, chain and name, unless SslOpts.Config.InsecureSkipVerify is set.
// Consistency is for the service's own requests; writers and readers have options of their own.
//
// Call Configure again before each further CreateSession of gocql, which panics if two sessions share a host policy.
// [Connect] needs no further call.
func Configure(cluster *gocql.ClusterConfig, localDC string) *gocql.ClusterConfig {
	// gocql 1.7 speaks 3 to 4 (5 without its framing). Left to discover the version it opens a connection to throw
	// away, and in a cluster under upgrade takes whatever the first node offers.
	cluster.ProtoVersion = driver.Protocol

	// The writer owns all attempts. gocql would retry whatever the error, counters included, with the errors of
	// earlier attempts lost, and a clean last error would then be taken for "not applied".
	cluster.RetryPolicy = driver.NoRetry

	// Statements carry their timestamp; gocql's would be a new one each attempt, and each table.
	cluster.DefaultTimestamp = false

	// Above the server's own limits (write 2 s, read 5 s), or slow requests end without the server's answer. The writer
	// bounds its attempts by their context; this also bounds a PREPARE, which does not run under it.
	cluster.Timeout = 6 * time.Second
	cluster.ConnectTimeout = 5 * time.Second

	// A socket that takes no bytes for so long belongs to a node that reads none: its buffers are full. Until then all
	// requests on the connection wait, without a look at their contexts. It ends before an attempt does; much less would
	// break connections, with all requests on them, in a pause that the node comes back from.
	cluster.WriteTimeout = 2 * time.Second

	// The only thing that brings back a host that was marked down without an event; gocql's default is a minute.
	cluster.ReconnectInterval = 2 * time.Second

	// A statement counts once for each host, and 1000, the default, is 30 hosts by 33 statements: beyond it every
	// request would prepare again.
	cluster.MaxPreparedStmts = 20_000
	cluster.MaxRoutingKeyInfo = 20_000

	// Only nodes of the own datacentre: gocql's datacentre-aware policy goes on to remote ones when the local ones are
	// down, and there LOCAL_QUORUM means the replicas of the remote datacentre.
	if localDC != "" {
		cluster.HostFilter = inDatacentre(localDC, cluster.HostFilter)
	}
	SelectHosts(cluster, gocql.RoundRobinHostPolicy())

	cluster.SslOpts = verified(cluster.SslOpts)

	// What the reads of the service should see of the writes it made.
	cluster.Consistency = gocql.LocalQuorum
	return cluster
}

// SelectHosts makes a session of cluster send requests to replicas in every keyspace; [gocql.TokenAwareHostPolicy] does
// so only in the session's. The attempts of one request go to different replicas, and different requests are spread
// over all. next decides which hosts are near, and in which order other hosts follow; [Configure] chooses
// [gocql.RoundRobinHostPolicy]. Give each session a new next, which is not token-aware.
//
// The datacentre-aware policies of gocql go on to other datacentres when the local one is down. LOCAL_QUORUM then means
// the replicas there, and a read may miss an acknowledged write. [LocalDC] never leaves the datacentre.
//
// A node that stops answering is asked last, until it answers again. For this SelectHosts sets a FrameHeaderObserver,
// which calls the one that cluster has.
func SelectHosts(cluster *gocql.ClusterConfig, next gocql.HostSelectionPolicy) {
	policy := hosts.New(next)
	policy.Datacentre = limit(cluster.HostFilter) // Connect looks again
	cluster.PoolConfig.HostSelectionPolicy = policy
	cluster.FrameHeaderObserver = policy.Observe(cluster.FrameHeaderObserver)
}
