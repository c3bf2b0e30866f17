//go:build upgrade

package upgrade_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/examples/orders"
	"github.com/denorm-go/denorm/integration/harness/cluster"
	"github.com/denorm-go/denorm/integration/harness/sleep"
	load "github.com/denorm-go/denorm/integration/load/orderservice"
	"github.com/denorm-go/denorm/schema"
	"github.com/denorm-go/denorm/session"
	"github.com/denorm-go/denorm/writer"
)

const (
	to = "5.0"
	// rate is how many writes of orders a second begin. Each is followed by reads, and readers read all the time.
	rate, readers = 40, 2
	// calm is how long the load runs before the first node, between two, and after the last.
	calm = 10 * time.Second
)

// later is a table that somebody wants to create during the upgrade.
const later = "CREATE TABLE later (id uuid PRIMARY KEY, note text)"

// upgrade is a cluster whose nodes get another version.
type upgrade struct {
	*testing.T
	keyspace string
	nodes    []*cluster.Node
	s        *session.Session
	steps    []schema.Step // that were read before
	attempts minutes       // that failed
}

// open opens a session with all nodes, or with those that are named alone.
func (u *upgrade) open(only ...string) *session.Session {
	u.Helper()
	config := gocql.NewCluster(cluster.Hosts(u)...)
	config.Keyspace, config.ConnectTimeout = u.keyspace, 10*time.Second
	s, err := session.Open(config, session.Adjust(func(c *gocql.ClusterConfig) {
		u.observe(c)
		if only != nil {
			c.Hosts, c.HostFilter = only, gocql.WhiteListHostFilter(only...)
		}
	}))
	u.must(err)
	u.Cleanup(s.Close)
	return s
}

// observe counts the attempts of a session that fail.
func (u *upgrade) observe(c *gocql.ClusterConfig) {
	c.QueryObserver, c.BatchObserver = &u.attempts, &u.attempts
}

func (u *upgrade) must(err error) {
	u.Helper()
	if err != nil {
		u.Fatal(err)
	}
}

// serve starts an order service, and returns when it serves.
func (u *upgrade) serve() load.Target {
	u.Helper()
	p := load.Process{
		Stage: load.Today, Hosts: cluster.Hosts(u), Keyspace: u.keyspace, Address: filepath.Join(u.TempDir(), "address"), Change: u.observe,
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(u.Context()))
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	u.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			u.Error(err)
		}
	})
	var url []byte
	starting, end := context.WithTimeout(u.Context(), 2*time.Minute)
	defer end()
	u.must(sleep.Until(starting, 20*time.Millisecond, func() (err error) {
		url, err = os.ReadFile(p.Address)
		return err
	}))
	return load.Target{URL: string(url), Stage: p.Stage}
}

// node is what a node says of itself.
type node struct {
	host, release, schema string
	cql                   string // of the keyspace, as package schema reads it
}

// ask asks each node, has each validate the sets, and compares how package schema reads them.
func (u *upgrade) ask() (told []node) {
	u.Helper()
	for _, n := range u.nodes {
		s := u.open(n.Host())
		is := node{host: n.Host()}
		u.must(s.Reads().Query("SELECT release_version, schema_version FROM system.local").Scan(&is.release, &is.schema))
		live, err := schema.Read(u.Context(), s, u.keyspace)
		u.must(err)
		is.cql = live.CQL()
		if err := schema.Validate(u.Context(), s, schema.Sets(orders.Orders, tallies)); err != nil {
			u.Errorf("Validate by %s, %s: %v", is.host, is.release, err)
		}
		if len(told) > 0 && is.release != told[0].release && is.schema == told[0].schema {
			u.Errorf("%s and %s, of two versions, have one schema version", is.host, told[0].host)
		}
		if len(told) > 0 && is.cql != told[0].cql {
			u.Errorf("package schema reads by %s, %s:\n%s\nand by %s, %s:\n%s", is.host, is.release, is.cql, told[0].host, told[0].release, told[0].cql)
		}
		u.Logf("%s: Cassandra %s, schema version %s", is.host, is.release, is.schema)
		told = append(told, is)
		s.Close()
	}
	return told
}

// refused has Ensure and Apply try to create a table while versions are mixed. Both say why they do not, and no node
// has another schema then.
func (u *upgrade) refused() {
	u.Helper()
	before := u.ask()
	var both sync.WaitGroup
	for _, c := range []struct {
		name, want string
		do         func(context.Context) error
	}{
		{"Ensure", "wait until the nodes agree on the schema (see nodetool describecluster)", func(ctx context.Context) error {
			return schema.Ensure(ctx, u.s, schema.Must(schema.Declare(schema.CQL("USE "+u.keyspace+"; "+later))))
		}},
		{"Apply", "the nodes have different schemas: see nodetool describecluster", func(ctx context.Context) error {
			return schema.Apply(ctx, u.s, u.steps, func(st schema.Step) { u.Errorf("applied: %s", st.Text) })
		}},
	} {
		both.Go(func() {
			ctx, cancel := context.WithTimeout(u.Context(), 65*time.Second) // Apply ends after one minute
			defer cancel()
			began := time.Now()
			err := c.do(ctx)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				u.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
			u.Logf("after %v, %s: %v", time.Since(began).Round(time.Second), c.name, err)
		})
	}
	both.Wait()
	for n, after := range u.ask() {
		if after.schema != before[n].schema {
			u.Errorf("%s has the schema version %s, and had %s", after.host, after.schema, before[n].schema)
		}
	}
}

// Nodes get Cassandra 5.0 one by one while services write and read. What was acknowledged is there, what was not
// applied is not, and no answer is wrong. While versions are mixed, the schema can be read by each node, and cannot be
// changed.
func TestNodeByNode(t *testing.T) {
	cluster.Alone(t)
	cluster.Need(t, 3)
	if v := cluster.Version(t); strings.HasPrefix(v, to) {
		t.Fatalf("the nodes are of %s already: make upgrade", v)
	}
	declared := schema.Must(schema.Declare(schema.Sets(orders.Orders, tallies)))
	u := &upgrade{T: t, keyspace: cluster.Keyspace(t, 3, declared.Statements()...), nodes: cluster.Nodes(t)}
	began := time.Now()
	u.attempts.began = began
	u.s = u.open()
	w, err := writer.New(u.s)
	u.must(err)
	u.steps, err = schema.Steps(t.Context(), u.s, schema.Source{File: "later.cql", Text: later})
	u.must(err)
	for id := range rows {
		_, err := w.Write(t.Context(), "begin", tallies.Insert(tally{ID: strconv.Itoa(id)}))
		u.must(err)
	}
	l := load.New(9, 1, 2*time.Minute)
	t.Cleanup(l.Close)
	l.Ask(u.serve(), u.serve())
	l.Seed(t.Context(), 20)

	over := make(chan struct{})
	c := &counter{w: w, told: minutes{began: began}}
	var working sync.WaitGroup
	working.Go(func() { l.Work(t.Context(), rate, readers, over) })
	for range 2 {
		working.Go(func() { c.work(t, over) })
	}
	end := sync.OnceFunc(func() {
		close(over)
		working.Wait()
	})
	t.Cleanup(end)
	for n, node := range u.nodes {
		u.must(sleep.For(t.Context(), calm))
		at := time.Now()
		u.must(node.Upgrade(t.Context(), to))
		u.must(cluster.Connected(t.Context(), u.nodes))
		t.Logf("%v: stopped in minute %.1f, upgraded and known to all after %v", node, at.Sub(began).Minutes(), time.Since(at).Round(time.Second))
		switch n {
		case 0:
			u.refused()
		case 1:
			u.ask()
		}
	}
	u.must(cluster.Whole(t.Context(), u.nodes))
	u.must(sleep.For(t.Context(), calm))
	end()
	t.Logf("the load ends after %v", time.Since(began).Round(time.Second))
	l.Check(t.Context())
	t.Logf("%v", l)
	t.Logf("attempts that failed:%v", &u.attempts)
	if l.Wrong() > 0 {
		t.Errorf("%d wrong answers", l.Wrong())
	}
	c.judge(t, u.s)

	u.ask()
	u.must(schema.Ensure(t.Context(), u.s, schema.Must(schema.Declare(schema.CQL("USE "+u.keyspace+"; "+later)))))
	out := filepath.Join(t.TempDir(), "out")
	verify := load.Command{Stage: load.Today, Out: out, Args: []string{
		"verify", "order", "--hosts", strings.Join(cluster.Hosts(t), ","), "--keyspace", u.keyspace, "--settle", "1s",
	}}
	code := verify.Run()
	said, err := os.ReadFile(out)
	u.must(err)
	t.Logf("denorm verify exits with %d:\n%s", code, said)
	if code != 0 {
		t.Errorf("denorm verify exits with %d", code)
	}
}
