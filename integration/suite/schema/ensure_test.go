package schema_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/internal/testutil/testsession"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
)

// ensureEnv makes the test binary call Ensure in the keyspace that it names, instead of running tests.
const ensureEnv = "SCHEMA_TEST_ENSURE"

func TestMain(m *testing.M) {
	if keyspace := os.Getenv(ensureEnv); keyspace != "" {
		if err := ensureInThisProcess(keyspace); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// contested is what all processes want to create. The keyspace is among it.
func contested(keyspace string) *schema.Schema {
	return schema.Must(schema.Declare(
		schema.Keyspaces(schema.Keyspace{Name: keyspace, Replication: schema.Replication(map[string]int{"": 3})}),
		schema.CQL("USE "+keyspace+`;
			CREATE TYPE place (street text, city text);
			CREATE TABLE shops (shop_id uuid PRIMARY KEY, name text, place frozen<place>);
			CREATE TABLE shops_by_city (city text, shop_id uuid, name text, place frozen<place>, PRIMARY KEY (city, shop_id));
			CREATE INDEX ON shops (name);`),
	))
}

func ensureInThisProcess(keyspace string) error {
	config := gocql.NewCluster(strings.Split(os.Getenv(cluster.TestHostsEnv), ",")...)
	config.ProtoVersion = 4
	config.Timeout, config.ConnectTimeout = 30*time.Second, 30*time.Second
	opened, err := config.CreateSession()
	if err != nil {
		return err
	}
	defer opened.Close()
	on, err := session.New(nil, opened)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	var line string
	_, _ = fmt.Scanln(&line)                                                // until all are
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute) // as ensure
	defer cancel()
	return schema.Ensure(ctx, on, contested(keyspace))
}

// Ten processes start a service at once and all create its schema: no error, one schema version on all nodes, and each
// table once, under one id.
func TestEnsureAtOnce(t *testing.T) {
	t.Parallel()
	on := open(t)
	for round := range 2 {
		keyspace := cluster.Keyspace(t, 3)
		cluster.ChangeSchema(t, "", "DROP KEYSPACE "+keyspace) // Ensure makes it
		var all sync.WaitGroup
		var start []func() error
		failures := make([]error, 10)
		for i := range failures {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), ensureEnv+"="+keyspace)
			var said strings.Builder
			cmd.Stderr = &said
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var ready string
			if _, err := fmt.Fscanln(out, &ready); err != nil {
				t.Fatalf("process %d: %v, %s", i, errors.Join(err, cmd.Wait()), &said)
			}
			start = append(start, in.Close)
			all.Go(func() {
				if err := cmd.Wait(); err != nil {
					failures[i] = fmt.Errorf("process %d: %w: %s", i, err, &said)
				}
			})
		}
		began := time.Now()
		for _, s := range start {
			if err := s(); err != nil {
				t.Fatal(err)
			}
		}
		all.Wait()
		if err := errors.Join(failures...); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		t.Logf("round %d: ten processes, %s", round, time.Since(began).Round(time.Millisecond))
		wantOneSchema(t, keyspace)
		wantNone(t, on, contested(keyspace), "after ten Ensures at once")
		insertEverywhere(t, on, keyspace)
	}
}

// Three callers, each on a node of its own, create one table at the same moment, several times. One of them declares a
// table in a keyspace of its own before it, as a service that shares tables with others may. Cassandra 5.0 lets each
// node make a table under an id of its own; for a second or several, until one of them wins, nodes reject each other's
// writes, and rows in the others are lost. So at no time may there be more than one id.
func TestEnsureOnEachNode(t *testing.T) {
	t.Parallel()
	own, keyspace := cluster.Keyspace(t, 3), cluster.Keyspace(t, 3)
	nodes := eachNode(t)
	for round := range 6 {
		table := fmt.Sprintf("shops_%d", round)
		create := "CREATE TABLE " + keyspace + "." + table + " (shop_id uuid PRIMARY KEY);"
		var all sync.WaitGroup
		failures := make([]error, len(nodes))
		for i, node := range nodes {
			declared := schema.Must(schema.Declare(schema.CQL(create)))
			if i == 0 {
				declared = schema.Must(schema.Declare(schema.CQL("CREATE TABLE " + own + ".own (id int PRIMARY KEY);" + create)))
			}
			all.Go(func() { failures[i] = ensure(t, testsession.New(t, nil, node), declared) })
		}
		ended := make(chan struct{})
		go func() { defer close(ended); all.Wait() }()
		if ids := watch(t, nodes, keyspace, table, ended); len(ids) != 1 {
			t.Errorf("round %d: the table had the ids %v", round, ids)
		}
		if err := errors.Join(failures...); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if err := nodes[0].Query(`INSERT INTO `+keyspace+`.`+table+` (shop_id) VALUES (?)`, gocql.MustRandomUUID()).
			Consistency(gocql.All).RetryPolicy(&gocql.SimpleRetryPolicy{NumRetries: 9}).Exec(); err != nil {
			t.Fatalf("round %d: write to all nodes: %v", round, err)
		}
	}
}

// watch collects the ids that a table has on any node until ended is closed.
func watch(t *testing.T, nodes []*gocql.Session, keyspace, table string, ended <-chan struct{}) map[gocql.UUID]bool {
	t.Helper()
	ids := make(map[gocql.UUID]bool)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for last := false; ; {
		for _, node := range nodes {
			var id gocql.UUID
			err := node.Query(`SELECT id FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?`, keyspace, table).
				Consistency(gocql.One).Scan(&id)
			if err == nil {
				ids[id] = true
			} else if !errors.Is(err, gocql.ErrNotFound) {
				t.Error(err)
			}
		}
		if last {
			return ids
		}
		select {
		case <-ended:
			last = true
		case <-ticker.C:
		}
	}
}

// eachNode opens a session to each node that speaks to no other.
func eachNode(t *testing.T) []*gocql.Session {
	t.Helper()
	var nodes []*gocql.Session
	for _, host := range cluster.Hosts(t) {
		nodes = append(nodes, cluster.Session(t, "", func(c *gocql.ClusterConfig) {
			c.Hosts, c.DisableInitialHostLookup, c.Timeout = []string{host}, true, 30*time.Second
		}))
	}
	return nodes
}

// wantOneSchema asks each node by itself. They must have the same tables under the same ids, and come to one schema
// version: not necessarily at once, for others change their own tables in the same cluster.
func wantOneSchema(t *testing.T, keyspace string) {
	t.Helper()
	nodes := eachNode(t)
	var first string
	for i, node := range nodes {
		iter := node.Query(`SELECT table_name, id FROM system_schema.tables WHERE keyspace_name = ?`, keyspace).Consistency(gocql.One).Iter()
		var table, all string
		var id gocql.UUID
		for iter.Scan(&table, &id) {
			all += table + " " + id.String() + "\n"
		}
		if err := iter.Close(); err != nil {
			t.Fatal(err)
		}
		switch {
		case i == 0:
			first = all
			if tables := strings.Count(all, "\n"); tables != 3 {
				t.Errorf("%d tables, want two and that of the lock:\n%s", tables, all)
			}
		case all != first:
			t.Errorf("node %d has\n%s, another node\n%s", i, all, first)
		}
	}
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(2 * time.Minute); ; <-ticker.C {
		versions := make(map[string]bool)
		for _, node := range nodes {
			var version gocql.UUID
			if err := node.Query(`SELECT schema_version FROM system.local`).Consistency(gocql.One).Scan(&version); err != nil {
				t.Fatal(err)
			}
			versions[version.String()] = true
		}
		if len(versions) == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the nodes do not come to one schema version: %v", versions)
		}
	}
}

// insertEverywhere writes at ALL: where two nodes made a table each under an id of its own, that fails.
func insertEverywhere(t *testing.T, on *session.Session, keyspace string) {
	t.Helper()
	for _, table := range []string{"shops (shop_id, name)", "shops_by_city (shop_id, city)"} {
		for range 10 {
			if err := on.Reads().Query(`INSERT INTO `+keyspace+`.`+table+` VALUES (?, ?)`, gocql.MustRandomUUID(), "x").
				Consistency(gocql.All).RetryPolicy(&gocql.SimpleRetryPolicy{NumRetries: 9}).Exec(); err != nil { // a busy node may be late
				t.Fatalf("write to %s: %v", table, err)
			}
		}
	}
}
