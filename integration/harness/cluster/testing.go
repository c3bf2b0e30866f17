package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
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
	must(tb, err, "%s", TestHostsEnv)
	return hosts
}

// must ends a test that cannot go on, and says what has failed.
func must(tb testing.TB, err error, what string, args ...any) {
	tb.Helper()
	if err != nil {
		tb.Fatalf("%s: %v", fmt.Sprintf(what, args...), err)
	}
}

// Session returns a plain session with patient timeouts, without retries but of reads that have timed out, and without
// schema events; keyspace may be empty. It is closed when the test ends. Each change is applied to its configuration
// before it is opened.
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
	must(tb, err, "open a session with %v", config.Hosts)
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

// size is how many nodes the cluster has, once that is known.
var size atomic.Int64

// Size returns how many nodes the cluster of the tests has.
func Size(tb testing.TB) int {
	tb.Helper()
	if size.Load() == 0 {
		session := Session(tb, "")
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		var peers int64
		must(tb, session.Query(`SELECT count(*) FROM system.peers`).WithContext(ctx).Scan(&peers), "count the nodes")
		size.Store(peers + 1)
	}
	return int(size.Load())
}

// Need fails a test that needs more nodes than the cluster has.
func Need(tb testing.TB, nodes int) {
	tb.Helper()
	if got := Size(tb); got < nodes {
		tb.Fatalf("this test needs %d nodes, the cluster has %d: make test, or in integration/ "+
			"go run ./cmd/cluster run -nodes %[1]d -- go test ./...", nodes, got)
	}
}

// Keyspace creates a keyspace of the test's own, with what the statements create in it, and returns its name. Its
// replication factor is the one given, or the number of nodes where those are fewer. The keyspace is dropped when the
// test ends, unless the nodes end with the run and have few tables.
func Keyspace(tb testing.TB, replication int, statements ...string) string {
	tb.Helper()
	share(tb)
	name := keyspaceName(tb.Name())
	create := fmt.Sprintf(`CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': %d}`,
		name, min(replication, Size(tb)))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	changes := []change{{"", []string{create}}}
	if len(statements) > 0 {
		changes = append(changes, change{name, statements})
	}
	must(tb, changeSchema(ctx, tb, changes...), "create keyspace %s", name)
	tb.Cleanup(func() {
		hosts := Hosts(tb)
		if endWithRun(hosts) && fewTables(hosts[0]) {
			return
		}
		mustDrop(tb, hosts, name)
	})
	return name
}

// DropAfter drops a keyspace when the test ends, which the test makes by other means. It fails the test if there is one
// already.
func DropAfter(tb testing.TB, keyspace string) {
	tb.Helper()
	found := 0
	query := Session(tb, "").Query(`SELECT count(*) FROM system_schema.keyspaces WHERE keyspace_name = ?`, keyspace)
	must(tb, query.WithContext(tb.Context()).Scan(&found), "look for keyspace %s", keyspace)
	if found > 0 {
		tb.Fatalf("the nodes have a keyspace %s: drop it, or make down", keyspace)
	}
	tb.Cleanup(func() { mustDrop(tb, Hosts(tb), keyspace) })
}

func mustDrop(tb testing.TB, hosts []string, keyspace string) {
	tb.Helper()
	err := drop(hosts, keyspace)
	if errors.Is(err, errLeft) {
		tb.Logf("drop keyspace %s: %v", keyspace, err)
	} else if err != nil {
		tb.Errorf("drop keyspace %s: %v", keyspace, err)
	}
}

// endWithRun says whether the nodes were started for tests that stop none of them, see [Harness.Volatile]. Dropping a
// table takes them four times as long as creating one, because each table with new rows is then written to disk
// (CommitLog.forceRecycleAllSegments).
func endWithRun(hosts []string) bool {
	_, s, err := harnessOf(hosts)
	return err == nil && s.Volatile && !s.Keep
}

// mostTables is how many tables are left, those of Cassandra included. One that was written takes more than a megabyte
// of the heap.
const mostTables = 100

func fewTables(host string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var tables int
	err := withProbe(ctx, host, func(p *Probe) error {
		return p.Session.Query(`SELECT count(*) FROM system_schema.tables`).WithContext(ctx).Scan(&tables)
	})
	return err == nil && tables < mostTables
}

// recycling says whether a change of the schema ended in what Cassandra 5.0 says after a node was away: its commit log
// still knows a table that is gone, and the change, which is mostly done by then, ends when it recycles the log
// (AbstractCommitLogSegmentManager.flushDataFrom).
func recycling(err error) bool { return err != nil && strings.Contains(err.Error(), "Unknown CF") }

// errLeft is why a keyspace stays: Cassandra 6 drops it only after its tables of transactions, each of which may take
// minutes.
var errLeft = errors.New("it has tables of transactions, and is left")

// drop drops a keyspace by the first node that answers, and does not wait for the others: no test comes back to it.
func drop(hosts []string, keyspace string) (failed error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	probes, _ := openStarted(ctx, hosts) // a node that is away tells nobody
	closeProbes(probes)
	for _, host := range hosts {
		err := change{"", []string{"DROP KEYSPACE IF EXISTS " + keyspace}}.make(ctx, host)
		if err == nil {
			return nil
		}
		if strings.Contains(err.Error(), "contains accord tables") {
			return errLeft
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// keyspaceName makes a unique keyspace name that shows which test it is of.
func keyspaceName(test string) string {
	const limit = 48 // of Cassandra
	readable := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(test))
	name := fmt.Sprintf("t%08x_%s", rand.Uint32(), readable)
	return name[:min(len(name), limit)]
}

// faultsLock is locked shared by every test that uses the cluster and exclusively by one that takes nodes away, so that
// two runs at once do not fail each other's tests.
const faultsLock = "faults.lock"

// isAlone says that a test of this process has the cluster to itself, so that its own sessions do not wait for it.
var isAlone atomic.Bool

// Alone waits until no other test uses the cluster, in this process or another, and keeps others from it until the test
// ends. It is for tests that stop nodes; they must not run in parallel with others, and call it first.
func Alone(tb testing.TB) {
	tb.Helper()
	lockFaults(tb, syscall.LOCK_EX)
	isAlone.Store(true)
	tb.Cleanup(func() { isAlone.Store(false) })
}

// share waits until no other process has the cluster to itself.
func share(tb testing.TB) {
	tb.Helper()
	if !isAlone.Load() {
		lockFaults(tb, syscall.LOCK_SH)
	}
}

func lockFaults(tb testing.TB, how int) {
	tb.Helper()
	release, err := lockNodes(how)
	must(tb, err, "lock the nodes")
	tb.Cleanup(release)
}

// Share keeps tests that stop nodes away from the cluster until release is called, and waits for one that runs. It is
// for commands that measure.
func Share() (release func(), err error) { return lockNodes(syscall.LOCK_SH) }

func lockNodes(how int) (release func(), err error) {
	h, err := New(io.Discard)
	if err != nil {
		return nil, err
	}
	l, err := openLock(h.path(faultsLock))
	if err != nil {
		return nil, err
	}
	if err := l.flock(how); err != nil {
		l.close()
		return nil, err
	}
	return l.close, nil // which unlocks it
}

// patience asks again where the servers have given up a read, as they may on a busy machine, above all at SERIAL
// alongside transactions. It repeats nothing else, and nothing that the library sends, which has a policy of its own.
type patience struct{}

// Attempt implements [gocql.RetryPolicy].
func (patience) Attempt(q gocql.RetryableQuery) bool {
	query, ok := q.(*gocql.Query)
	return ok && strings.HasPrefix(query.Statement(), "SELECT") && query.Attempts() <= 8
}

// GetRetryType implements [gocql.RetryPolicy]. A read at SERIAL completes transactions of others, so it can also end as
// a write does.
func (patience) GetRetryType(err error) gocql.RetryType {
	var (
		read      *gocql.RequestErrReadTimeout
		failed    *gocql.RequestErrReadFailure
		write     *gocql.RequestErrWriteTimeout
		undecided *gocql.RequestErrCASWriteUnknown
	)
	if errors.As(err, &read) || errors.As(err, &failed) || errors.As(err, &write) || errors.As(err, &undecided) ||
		errors.Is(err, gocql.ErrTimeoutNoResponse) {
		<-time.After(rand.N(500 * time.Millisecond)) // rivals that ask at the same time again meet again
		return gocql.Retry
	}
	return gocql.Rethrow
}
