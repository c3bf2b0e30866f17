package cassandratest

import (
	"errors"
	"maps"
	"net"
	"slices"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/denorm-go/denorm/internal/cassandra/coordinator"
	"github.com/denorm-go/denorm/internal/cassandra/query"
	"github.com/gocql/gocql"
)

// Node is one node of a [Cluster].
type Node struct {
	Number   int
	cluster  *Cluster
	ip       net.IP
	id       gocql.UUID
	listener net.Listener // nil in memory

	// Guarded by the cluster.
	state    state
	lives    int           // counts stops
	changed  chan struct{} // closed when the state changes
	conns    map[*conn]bool
	prepared map[string]*query.Prepared // by id
}

// state is what is the matter with a node.
type state uint8

const (
	healthy  state = iota
	silent         // takes requests and never answers
	frozen         // does nothing, as after SIGSTOP; goes on where it was
	vanished       // silent, and not to be connected to
	stopped        // refuses connections
)

func newNode(c *Cluster, number int) *Node {
	return &Node{
		Number: number, cluster: c, ip: net.IPv4(127, 0, 0, byte(number)).To4(), id: gocql.UUID{6: 0x40, 8: 0x80, 15: byte(number)},
		changed: make(chan struct{}), conns: make(map[*conn]bool), prepared: make(map[string]*query.Prepared),
	}
}

// Address returns the address of the node, without the port.
func (n *Node) Address() string { return n.ip.String() }

// Silence makes the node accept connections and requests but never answer, not even heartbeats. Nothing is applied.
func (n *Node) Silence() { n.become(silent) }

// Freeze makes the node stop reading and writing, so that its clients' writes to their sockets block once the buffers
// in between are full. The buffers are small; in memory, one write passes. Connections are accepted. After
// [Node.Restore] the node continues where it was: it then handles what it was sent.
func (n *Node) Freeze() { n.become(frozen) }

// Vanish makes the node silent, and makes attempts to connect to it last until the client gives up.
func (n *Node) Vanish() { n.become(vanished) }

// Stop cuts all connections of the node, and rejects new ones. As after [Node.Silence], [Node.Freeze] and
// [Node.Vanish], the other nodes consider it up for 10 more seconds. Requests that need it time out, and are
// UNAVAILABLE only later. The node forgets its prepared statements and nothing else. A real node that is killed also
// loses what it acknowledged in its last 100 ms.
func (n *Node) Stop() {
	n.become(stopped)
	n.Forget()
	n.Cut()
}

// Skew sets the clock of the node ahead, or back if by is negative. The clock is used for lightweight transactions,
// TTL, and writes without a timestamp.
func (n *Node) Skew(by time.Duration) { n.cluster.hold(func() { n.cluster.data.Skew(n.Number, by) }) }

// Restore makes the node healthy again.
func (n *Node) Restore() { n.become(healthy) }

func (n *Node) become(s state) {
	n.cluster.mu.Lock()
	defer n.cluster.mu.Unlock()
	n.state = s
	if s == stopped {
		n.lives++
	}
	n.cluster.data.SetState(n.Number, map[state]coordinator.State{
		healthy: coordinator.Up, frozen: coordinator.Paused, silent: coordinator.Gone, vanished: coordinator.Gone, stopped: coordinator.Gone,
	}[s])
	close(n.changed)
	n.changed = make(chan struct{})
}

// Cut cuts the current connections of the node.
func (n *Node) Cut() {
	for _, c := range n.open() {
		c.close()
	}
}

// open are the connections that the node has now.
func (n *Node) open() []*conn {
	return held(n.cluster, func() []*conn { return slices.Collect(maps.Keys(n.conns)) })
}

// Forget makes the node forget all prepared statements, as a restart does: it answers UNPREPARED until they are
// prepared again.
func (n *Node) Forget() { n.cluster.hold(func() { clear(n.prepared) }) }

// Announce tells the clients that have registered for events that this node is now up or down, as its peers would.
func (n *Node) Announce(up bool) {
	change := primitive.StatusChangeTypeDown
	if up {
		change = primitive.StatusChangeTypeUp
	}
	event := &message.StatusChangeEvent{ChangeType: change, Address: &primitive.Inet{Addr: n.ip, Port: int32(n.cluster.port)}}
	for _, node := range n.cluster.nodes {
		for _, c := range node.open() {
			if c.listens() {
				c.send(chunk{bytes: encode(-1, event)})
			}
		}
	}
}

// now is the state of the node.
func (n *Node) now() state { return held(n.cluster, func() state { return n.state }) }

// thawed waits until the node is not frozen, and says whether it is so before done.
func (n *Node) thawed(done <-chan struct{}) bool {
	for {
		n.cluster.mu.Lock()
		state, changed := n.state, n.changed
		n.cluster.mu.Unlock()
		if state != frozen {
			return true
		}
		select {
		case <-changed:
		case <-done:
			return false
		}
	}
}

// accept serves connections until the listener is closed.
func (n *Node) accept() {
	for {
		c, err := n.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // out of descriptors, for example: another try may succeed
			if !wait(time.Second/10, n.cluster.done) {
				return
			}
		case n.now() == stopped:
			_ = c.Close()
		default:
			_ = c.(*net.TCPConn).SetReadBuffer(buffer)
			n.serve(c)
		}
	}
}

// wait waits for d, and says whether done was not closed before.
func wait(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-done:
		return false
	}
}
