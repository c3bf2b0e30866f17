package cassandratest

import (
	"bufio"
	"net"
	"sync"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/frame"
)

// codec is shared: making one costs more than decoding a frame with it.
var codec = frame.NewCodec()

// conn is one connection of a client with a node. One goroutine reads requests and carries out what needs no waiting,
// one writes.
type conn struct {
	node   *Node
	net    net.Conn
	number int
	life   int           // of the node: a stop ends it
	done   chan struct{} // closed when the connection is
	once   sync.Once

	// Guarded by the cluster.
	keyspace string // of USE
	events   bool

	mu    sync.Mutex
	out   []chunk
	ready chan struct{} // holds a token while there may be something in out
}

// chunk is some bytes for the client, and what comes after them.
type chunk struct {
	bytes []byte
	cut   bool          // then the connection is cut
	stall time.Duration // then nothing is written for so long; negative is forever
}

// serve takes charge of a new connection.
func (n *Node) serve(nc net.Conn) {
	c := &conn{node: n, net: nc, done: make(chan struct{}), ready: make(chan struct{}, 1)}
	s := n.cluster
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || n.state == stopped { // it may have been stopped since it was dialed
		_ = nc.Close()
		return
	}
	s.conns++
	c.number, c.life = s.conns, n.lives
	n.conns[c] = true
	s.wg.Go(c.read)
	s.wg.Go(c.write)
}

// heard says whether the node still has what it was sent on the connection: it lives, and is not silent.
func (c *conn) heard() bool {
	n := c.node
	return held(n.cluster, func() bool { return c.life == n.lives && n.state != silent && n.state != vanished })
}

func (c *conn) close() {
	c.once.Do(func() {
		close(c.done)
		_ = c.net.Close()
		c.node.cluster.hold(func() { delete(c.node.conns, c) })
	})
}

// listens says whether the client has asked for events.
func (c *conn) listens() bool { return held(c.node.cluster, func() bool { return c.events }) }

// read reads requests until the connection ends.
func (c *conn) read() {
	defer c.close()
	in := bufio.NewReader(gate{c})
	for {
		f, err := codec.DecodeFrame(in)
		if err != nil {
			return
		}
		if r, steps, heard := c.hear(f); heard {
			turn{conn: c, request: r}.take(steps)
		}
	}
}

// hear writes a request into the journal, and finds what is to be done with it: one request at a time, so that rules
// see them in the order of the journal. A node that is silent hears nothing.
func (c *conn) hear(f *frame.Frame) (r *Request, steps []Step, heard bool) {
	s := c.node.cluster
	s.turns.Lock()
	defer s.turns.Unlock()
	r = c.request(f)
	if state := c.node.now(); state == silent || state == vanished {
		s.note(r, "silence")
		return r, nil, false
	}
	return r, s.script(r), true
}

// gate is a connection that gives nothing while the node is frozen. What it has taken by then it keeps, as a socket
// would.
type gate struct{ *conn }

func (g gate) Read(p []byte) (int, error) {
	n, err := g.net.Read(p)
	if !g.node.thawed(g.done) {
		return 0, net.ErrClosed
	}
	return n, err
}

// send queues a chunk for the client.
func (c *conn) send(next chunk) {
	c.mu.Lock()
	c.out = append(c.out, next)
	c.mu.Unlock()
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// write writes what is queued until the connection ends.
func (c *conn) write() {
	defer c.close()
	for {
		select {
		case <-c.ready:
		case <-c.done:
			return
		}
		c.mu.Lock()
		out := c.out
		c.out = nil
		c.mu.Unlock()
		for _, next := range out {
			if !c.node.thawed(c.done) || !c.put(next) {
				return
			}
		}
	}
}

// put writes one chunk and says whether the connection goes on.
func (c *conn) put(next chunk) bool {
	if state := c.node.now(); state == silent || state == vanished {
		return true
	}
	if len(next.bytes) > 0 {
		if _, err := c.net.Write(next.bytes); err != nil {
			return false
		}
	}
	switch {
	case next.cut:
		return false
	case next.stall > 0:
		return wait(next.stall, c.done)
	case next.stall < 0:
		<-c.done
		return false
	}
	return true
}
