package cluster

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/driver"
)

// Hosts returns the hosts of the cluster that was brought up for the tests, from DENORM_TEST_HOSTS. A test that finds
// none fails: one that is skipped proves nothing and nobody notices.
func Hosts(tb testing.TB) []string {
	tb.Helper()
	list := os.Getenv(TestHostsEnv)
	if list == "" {
		tb.Fatalf("%s is not set, this test needs a Cassandra cluster: make test, or in integration/ "+
			"go run ./cmd/cluster run -nodes 3 -- go test ./...", TestHostsEnv)
	}
	hosts, err := parseHosts(list)
	if err != nil {
		tb.Fatalf("%s: %v", TestHostsEnv, err)
	}
	return hosts
}

// Session returns a plain session with patient timeouts, without retries but of reads that have timed out, and without schema
// events; keyspace may be empty. It is closed when the test ends. Each change is applied to its configuration before it is opened.
func Session(tb testing.TB, keyspace string, changes ...func(*gocql.ClusterConfig)) *gocql.Session {
	tb.Helper()
	share(tb)
	config := gocql.NewCluster(Hosts(tb)...)
	config.ProtoVersion = 4
	config.Keyspace = keyspace
	config.Consistency = gocql.LocalQuorum
	config.Timeout = 10 * time.Second
	config.ConnectTimeout = 10 * time.Second
	// gocql 1.7 follows a schema event for up to a minute even in a closed session, which a check for leaks finds.
	config.Events.DisableSchemaEvents = true
	for _, change := range changes {
		change(config)
	}
	if config.RetryPolicy == nil || config.RetryPolicy == driver.NoRetry { // that of session.Configure
		config.RetryPolicy = patience{}
	}
	session, err := config.CreateSession()
	if err != nil {
		tb.Fatalf("open a session with %v: %v", config.Hosts, err)
	}
	tb.Cleanup(func() { closeSession(tb, session) })
	return session
}

// closeSession gives up on a session whose connections hang, so that one test cannot hang the others.
func closeSession(tb testing.TB, session *gocql.Session) {
	tb.Helper()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		session.Close()
	}()
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		tb.Error("the session did not close within 20 s")
	}
}

// Size returns how many nodes the cluster of the tests has.
func Size(tb testing.TB) int {
	tb.Helper()
	session := Session(tb, "")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var peers int
	if err := session.Query(`SELECT count(*) FROM system.peers`).WithContext(ctx).Scan(&peers); err != nil {
		tb.Fatalf("count the nodes: %v", err)
	}
	return peers + 1
}

// Need fails a test that needs more nodes than the cluster has.
func Need(tb testing.TB, nodes int) {
	tb.Helper()
	if got := Size(tb); got < nodes {
		tb.Fatalf("this test needs %d nodes, the cluster has %d: make test, or in integration/ "+
			"go run ./cmd/cluster run -nodes %[1]d -- go test ./...", nodes, got)
	}
}

// Keyspace creates a keyspace of the test's own and returns its name. Its replication factor is the one given, or the
// number of nodes where those are fewer. The keyspace is dropped when the test ends.
func Keyspace(tb testing.TB, replication int) string {
	tb.Helper()
	share(tb)
	name := keyspaceName(tb.Name())
	replication = min(replication, Size(tb))
	create := fmt.Sprintf(`CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': %d}`,
		name, replication)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	err := changeSchema(ctx, tb, "", []string{create})
	for deadline := time.Now().Add(time.Minute); recycling(err) && time.Now().Before(deadline); err = changeSchema(ctx, tb, "", []string{create}) {
		<-time.After(time.Second)
	}
	if err != nil {
		tb.Fatalf("create keyspace %s: %v", name, err)
	}
	tb.Cleanup(func() {
		err := drop(Hosts(tb), name)
		if recycling(err) || errors.Is(err, errLeft) {
			tb.Logf("drop keyspace %s: %v", name, err)
		} else if err != nil {
			tb.Errorf("drop keyspace %s: %v", name, err)
		}
	})
	return name
}

// recycling says whether a change of the schema ended in what Cassandra 5.0 says after a node was away: its commit log still knows a
// table that is gone, and the change, which is done by then, ends when it recycles the log
// (AbstractCommitLogSegmentManager.flushDataFrom).
func recycling(err error) bool { return err != nil && strings.Contains(err.Error(), "Unknown CF") }

// errLeft is why a keyspace stays: Cassandra 6 drops it only after its tables of transactions, each of which may take minutes.
var errLeft = errors.New("it has tables of transactions, and is left")

// drop drops a keyspace by the first node that answers, and does not wait for the others: no test comes back to it.
func drop(hosts []string, keyspace string) error {
	started, stop := context.WithTimeout(context.Background(), time.Minute)
	_ = awaitStarted(started, hosts) // a node that is away tells nobody
	stop()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var failed error
	for _, host := range hosts {
		p, err := OpenProbe(ctx, host, inKeyspace(""))
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		defer p.Close()
		err = p.Session.Query("DROP KEYSPACE IF EXISTS " + keyspace).WithContext(ctx).Exec()
		if err != nil && strings.Contains(err.Error(), "contains accord tables") {
			return errLeft
		}
		return err
	}
	return failed
}

// keyspaceName makes a unique keyspace name that shows which test it is of.
func keyspaceName(test string) string {
	const limit = 48 // of Cassandra
	random := make([]byte, 4)
	_, _ = rand.Read(random) // never fails
	readable := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(test))
	name := "t" + hex.EncodeToString(random) + "_" + readable
	return name[:min(len(name), limit)]
}
