package cassandratest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/denorm-go/denorm/internal/cassandra/coordinator"
	"github.com/denorm-go/denorm/internal/driver"
	"github.com/gocql/gocql"
)

// Cluster is a cluster of nodes in the process. It is safe for concurrent use.
type Cluster struct {
	tb    TB // nil outside of tests
	nodes []*Node
	port  int
	pipes bool
	done  chan struct{} // closed by Close
	wg    sync.WaitGroup
	local map[string]string // columns of system.local in place of those of Cassandra, in tests of this package

	// turns is held, outside of mu, while a request finds its rule and while it is carried out. Functions of the test are
	// called with it and without mu.
	turns sync.Mutex

	mu      sync.Mutex // guards what follows, the state of nodes and connections, and orders the journal
	data    *coordinator.Cluster
	rules   []*Rule
	watch   []func(Request)
	journal []*Request
	count   int // of requests
	conns   int // counts connections
	// sessions are where each session was opened, by gocql's context of the session, which ends with it.
	sessions map[context.Context]string
	timers   map[*time.Timer]bool
	closed   bool
}

// TB is the part of [testing.TB] that a cluster needs.
type TB interface {
	Helper()
	Cleanup(f func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Start starts nodes that are reached in memory, through the Dialer of [Cluster.Config]. It works in a testing/synctest
// bubble too, but use [Test] for that. The nodes are closed at the end of the test, whose log then names sessions that
// are still open. Their addresses are 127.0.0.1, 127.0.0.2 and so on, and are on no network.
func Start(tb TB, nodes int) *Cluster {
	tb.Helper()
	return start(tb, nodes, tb.Logf)
}

func start(tb TB, nodes int, unclosed func(format string, args ...any)) *Cluster {
	c := New(nodes)
	c.tb = tb
	tb.Cleanup(func() {
		c.unclosed(unclosed)
		c.Close()
	})
	return c
}

// Listen starts nodes on sockets: 127.0.0.1, 127.0.0.2 and so on, all on one free port. They are closed at the end of
// the test.
func Listen(tb TB, nodes int) *Cluster {
	tb.Helper()
	c := New(nodes)
	if err := c.serve(); err != nil {
		tb.Fatalf("cassandratest: %v", err)
		return nil
	}
	c.tb = tb
	tb.Cleanup(c.Close)
	return c
}

// New is like [Start], outside of a test. [Cluster.Close] closes the nodes.
func New(nodes int) *Cluster {
	if nodes < 1 || nodes > 250 {
		panic(fmt.Sprintf("cassandratest: %d nodes", nodes))
	}
	c := &Cluster{
		port: 9042, pipes: true, done: make(chan struct{}), data: coordinator.New(nodes), timers: make(map[*time.Timer]bool),
		sessions: make(map[context.Context]string),
	}
	for i := range nodes {
		c.nodes = append(c.nodes, newNode(c, i+1))
	}
	c.data.Later = c.later
	return c
}

// serve makes the nodes listen on sockets. An error says that their addresses have no free port in common.
func (c *Cluster) serve() error {
	c.pipes = false
	const tries = 20 // the port of the first address may be taken at another
	var err error
	for range tries {
		if err = c.listen(); err == nil {
			for _, n := range c.nodes {
				c.wg.Go(n.accept)
			}
			return nil
		}
	}
	return fmt.Errorf("no port that is free at %d addresses: %w", len(c.nodes), err)
}

func (c *Cluster) listen() error {
	port := 0
	for _, n := range c.nodes {
		var config net.ListenConfig
		l, err := config.Listen(context.Background(), "tcp4", fmt.Sprintf("%v:%d", n.ip, port))
		if err != nil {
			c.unlisten()
			return err
		}
		n.listener = l
		port = l.Addr().(*net.TCPAddr).Port
	}
	c.port = port
	return nil
}

func (c *Cluster) unlisten() {
	for _, n := range c.nodes {
		if n.listener != nil {
			_ = n.listener.Close()
		}
	}
}

// later does something that nodes do by themselves, after a time. It is called with the lock.
func (c *Cluster) later(after time.Duration, do func()) {
	if c.closed {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(after, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.timers, timer)
		if !c.closed {
			do()
		}
	})
	c.timers[timer] = true
}

// Close cuts all connections, ends all pending work and waits for that. It may be called more than once.
func (c *Cluster) Close() {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.done)
		c.unlisten()
		for timer := range c.timers {
			timer.Stop()
		}
	}
	c.mu.Unlock()
	for _, n := range c.nodes {
		n.Cut()
	}
	c.wg.Wait()
}

// Node returns a node by its number, counted from 1: node 1 has the address 127.0.0.1. It panics if there is no such
// node.
func (c *Cluster) Node(number int) *Node {
	if number < 1 || number > len(c.nodes) {
		panic(fmt.Sprintf("cassandratest: no node %d: there are %d, counted from 1", number, len(c.nodes)))
	}
	return c.nodes[number-1]
}

// Config returns a configuration of the driver that connects to the nodes, once to each, and logs nothing. It is for
// protocol 4. Tests set whatever else they need.
func (c *Cluster) Config() *gocql.ClusterConfig {
	config := gocql.NewCluster()
	for _, n := range c.nodes {
		config.Hosts = append(config.Hosts, n.ip.String())
	}
	config.Port, config.NumConns = c.port, 1
	config.ProtoVersion = driver.Protocol
	driver.Silence(config)
	config.Dialer = &dialer{cluster: c, config: config}
	return config
}

// hold does something with the lock.
func (c *Cluster) hold(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// held is what get gives with the lock.
func held[T any](c *Cluster, get func() T) (out T) {
	c.hold(func() { out = get() })
	return out
}

// Replicas returns the numbers of the nodes that hold a partition of a keyspace, the first owner first. key is the
// encoded partition key, like the driver's routing key.
func (c *Cluster) Replicas(keyspace string, key []byte) []int {
	return held(c, func() []int { return c.data.Replicas(keyspace, key) })
}
