package session

import (
	"time"

	"github.com/denorm-go/denorm/internal/driver"
	"github.com/denorm-go/denorm/internal/hosts"
	"github.com/gocql/gocql"
)

// Configure sets up cluster for a session that a writer or a reader uses, and returns it; [Open] does so itself.
// localDC is the datacentre of the service, as the nodes report it; empty means that all nodes are equally near. What
// Configure sets replaces what the caller has set before, and may be changed afterwards (with [Open], by [Adjust]):
//
//   - ProtoVersion (4), Consistency (LOCAL_QUORUM), RetryPolicy (one that never retries), DefaultTimestamp (false),
//   - Timeout (6 s), ConnectTimeout (5 s), WriteTimeout (2 s), ReconnectInterval (2 s),
//   - MaxPreparedStmts and MaxRoutingKeyInfo (20,000),
//   - PoolConfig.HostSelectionPolicy, by [SelectHosts].
//
// Configure adds to HostFilter, FrameHeaderObserver and SslOpts. With a localDC, hosts have to be in it and to be
// accepted by the HostFilter that is set already. Hosts, credentials, keyspace and everything else stay as they are.
//
// Consistency is for the service's own requests. Writers and readers do not use it: they have the options
// writer.Consistency and reader.Consistency.
//
// With SslOpts the certificates of nodes are verified, chain and name, although gocql by itself verifies nothing if
// SslOpts.Config is nil. Only SslOpts.Config.InsecureSkipVerify turns that off.
//
// Call Configure again before each further session that gocql's CreateSession makes from the same config: CreateSession panics if
// two sessions share a host selection policy, and every call of Configure sets a new one. [Connect] does not need that.
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

	SelectHosts(cluster, gocql.RoundRobinHostPolicy())

	// Only nodes of the own datacentre: gocql's datacentre-aware policy goes on to remote ones when the local ones are
	// down, and there LOCAL_QUORUM means the replicas of the remote datacentre.
	if localDC != "" {
		cluster.HostFilter = inDatacentre(localDC, cluster.HostFilter)
	}

	cluster.SslOpts = verified(cluster.SslOpts)

	// What the reads of the service should see of the writes it made.
	cluster.Consistency = gocql.LocalQuorum
	return cluster
}

// SelectHosts makes a session of cluster send requests to replicas. The attempts of one request go to different replicas,
// and those of different requests are spread over all. This holds in every keyspace; with [gocql.TokenAwareHostPolicy] it
// holds only in the session's own. next says which hosts are near, and in which order hosts that are not replicas follow.
// [Configure] chooses [gocql.RoundRobinHostPolicy]. Like all policies of gocql, next must be a new one for each session. It
// must not be token-aware itself.
//
// A node that does not answer three attempts in a row, or breaks their connections, is deprioritized: it is asked after all
// others. Meanwhile one attempt at a time goes to it, once the node has sent anything since it last failed to answer,
// such as the answer to a heartbeat. If the attempt is answered, the node is back; if not, the next attempt waits longer,
// from 1 s to 10 s.
//
// SelectHosts sets a FrameHeaderObserver, which sees what nodes send and calls the one that cluster has already. If
// another observer replaces it later, a deprioritized node is tried after the pauses alone, so that now and then a
// request is not answered.
func SelectHosts(cluster *gocql.ClusterConfig, next gocql.HostSelectionPolicy) {
	policy := hosts.New(next)
	cluster.PoolConfig.HostSelectionPolicy = policy
	cluster.FrameHeaderObserver = policy.Observe(cluster.FrameHeaderObserver)
}
