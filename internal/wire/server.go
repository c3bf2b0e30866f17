package wire

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/gocql/gocql"
)

// Server is a cluster. It is safe for concurrent use.
type Server struct {
	tb    testing.TB
	nodes []*Node
	port  int
	pipes bool
	done  chan struct{} // closed by Close
	wg    sync.WaitGroup

	mu      sync.Mutex // guards what follows, the state of nodes and connections, and orders the journal
	schema  schema
	store   Store
	rules   []*Rule
	journal []*Request
	conns   int // counts connections
	closed  bool
}

// Listen starts nodes on sockets: 127.0.0.1, 127.0.0.2 and so on, all on one free port. They are closed with the test.
func Listen(tb testing.TB, nodes int) *Server {
	tb.Helper()
	s := newServer(tb, nodes, false)
	const tries = 20 // the port of the first address may be taken at another
	for range tries {
		if err := s.listen(); err != nil {
			tb.Logf("wire: %v", err)
			continue
		}
		for _, n := range s.nodes {
			s.wg.Go(n.accept)
		}
		return s
	}
	tb.Fatalf("wire: no port that is free at %d addresses", nodes)
	return nil
}

// Pipes starts nodes that are reached in memory, through the Dialer of [Server.Cluster]. Their addresses are those of
// [Listen], and are on no network.
func Pipes(tb testing.TB, nodes int) *Server {
	tb.Helper()
	return newServer(tb, nodes, true)
}

func newServer(tb testing.TB, nodes int, pipes bool) *Server {
	tb.Helper()
	s := &Server{tb: tb, port: 9042, pipes: pipes, done: make(chan struct{}), schema: newSchema(), store: void{}}
	for i := range nodes {
		s.nodes = append(s.nodes, newNode(s, i, nodes))
	}
	tb.Cleanup(s.Close)
	return s
}

func (s *Server) listen() error {
	port := 0
	for _, n := range s.nodes {
		var config net.ListenConfig
		l, err := config.Listen(context.Background(), "tcp4", fmt.Sprintf("%v:%d", n.ip, port))
		if err != nil {
			s.unlisten()
			return err
		}
		n.listener = l
		port = l.Addr().(*net.TCPAddr).Port
	}
	s.port = port
	return nil
}

func (s *Server) unlisten() {
	for _, n := range s.nodes {
		if n.listener != nil {
			_ = n.listener.Close()
		}
	}
}

// Close cuts all connections, ends everything that is still to happen and waits for it. It may be called more than once.
func (s *Server) Close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.done)
		s.unlisten()
	}
	s.mu.Unlock()
	s.Cut()
	s.wg.Wait()
}

// Cut cuts all connections of all nodes.
func (s *Server) Cut() {
	for _, n := range s.nodes {
		n.Cut()
	}
}

// Node is one of the nodes, counted from 1, as in its address 127.0.0.1.
func (s *Server) Node(number int) *Node { return s.nodes[number-1] }

// Cluster is a configuration that reaches the nodes and says nothing. Tests set what else they need.
func (s *Server) Cluster() *gocql.ClusterConfig {
	c := gocql.NewCluster()
	for _, n := range s.nodes {
		c.Hosts = append(c.Hosts, n.ip.String())
	}
	c.Port = s.port
	c.ProtoVersion = 4
	c.Logger = quiet{}
	c.Dialer = &dialer{server: s, config: c}
	return c
}

// quiet is a logger for a driver that complains about every fault.
type quiet struct{}

func (quiet) Print(...any)          {}
func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}
