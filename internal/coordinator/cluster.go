package coordinator

import (
	"time"

	"github.com/denorm-go/denorm/internal/catalog"
	"github.com/denorm-go/denorm/internal/replica"
	"github.com/denorm-go/denorm/internal/ring"
	"github.com/gocql/gocql"
)

// Cluster is the nodes and what they store. It is not safe for concurrent use.
type Cluster struct {
	Schema *catalog.Schema
	// Later calls a function after a time, for what nodes do by themselves: it must not run while another call is.
	Later func(time.Duration, func())

	ring      *ring.Ring
	nodes     []*node // by number, from 1: the first is nil
	instances map[instanceOf]*instance
	unique    uint64
	last      int64 // the latest time of a request, in microseconds
	turn      int   // of the replicas that are read

	described map[gocql.UUID]virtual // the tables about the schema, of this version of it
	version   gocql.UUID
}

// node is one node.
type node struct {
	store *replica.Store
	state State
	since time.Time // when the state began
	skew  time.Duration
	inbox []letter // of a paused node
	hints []letter // for a node that is gone
}

// State is what the others get from a node.
type State uint8

// The states of nodes.
const (
	Up     State = iota
	Paused       // answers nothing, and does what it was sent when it goes on
	Gone         // loses what it is sent
)

// letter is a mutation on its way to a node.
type letter struct {
	table   *catalog.Table
	key     string
	content *replica.Partition
}

// The times of Cassandra's configuration, and how long the others believe a node to be up that answers nothing.
const (
	writeTimeout   = 2 * time.Second         // write_request_timeout
	readTimeout    = 5 * time.Second         // read_request_timeout
	casTimeout     = 1800 * time.Millisecond // cas_contention_timeout
	conviction     = 10 * time.Second        // about phi_convict_threshold 8
	hintDelay      = 10 * time.Second        // HintsDispatchTrigger
	replayAge      = 2 * writeTimeout        // BatchlogManager.getBatchlogTimeout
	replayInterval = 10 * time.Second        // BatchlogManager.REPLAY_INTERVAL
)

// New is a cluster without tables. Numbers of nodes begin with 1.
func New(nodes int) *Cluster {
	c := &Cluster{
		Schema: catalog.New(), Later: func(time.Duration, func()) {}, ring: ring.New(nodes), nodes: []*node{nil},
		instances: make(map[instanceOf]*instance),
	}
	for range nodes {
		c.nodes = append(c.nodes, &node{store: replica.NewStore()})
	}
	return c
}

// Tokens are those of a node on the ring.
func (c *Cluster) Tokens(node int) []int64 { return c.ring.Tokens(node) }

// Skew makes the clock of a node go ahead, or after.
func (c *Cluster) Skew(node int, by time.Duration) { c.nodes[node].skew = by }

// Become puts a node into a state.
func (c *Cluster) Become(number int, state State) {
	n := c.nodes[number]
	if n.state == state {
		return
	}
	n.state, n.since = state, time.Now()
	if state == Gone {
		n.inbox = nil
	}
	if state != Up {
		return
	}
	for _, l := range n.inbox {
		n.apply(l)
	}
	n.inbox = nil
	c.Later(hintDelay, func() { c.hand(n) })
}

// hand gives a node what it has missed.
func (c *Cluster) hand(n *node) {
	if n.state != Up {
		return
	}
	for _, l := range n.hints {
		n.apply(l)
	}
	n.hints = nil
}

func (n *node) apply(l letter) { n.store.Apply(l.table.ID, l.key, l.content, l.table.Compare) }

// send brings a mutation to a node, and says whether the node acknowledges it.
func (n *node) send(l letter) bool {
	switch n.state {
	case Up:
		n.apply(l)
		return true
	case Paused:
		n.inbox = append(n.inbox, l)
	case Gone:
		if l.table.GCGrace > 0 { // else no hint is written (StorageProxy.shouldHint)
			n.hints = append(n.hints, l)
		}
	}
	return false
}

// alive says whether the others believe the node to be up.
func (n *node) alive() bool { return n.state == Up || time.Since(n.since) < conviction }

// next numbers things.
func (c *Cluster) next() uint64 {
	c.unique++
	return c.unique
}

// replicas are the nodes that hold a partition.
func (c *Cluster) replicas(t *catalog.Table, key string) []int {
	return c.Replicas(t.Keyspace, []byte(key))
}

// Replicas are the numbers of the nodes that hold a partition of a keyspace, the first owner first. key is the encoded
// partition key, as the driver's routing key.
func (c *Cluster) Replicas(keyspace string, key []byte) []int {
	factor := 0
	if k := c.Schema.Keyspace(keyspace); k != nil {
		factor = k.Replicas(len(c.nodes) - 1)
	}
	return c.ring.Replicas(ring.Token(key), factor)
}

// drop forgets what is stored of a table.
func (c *Cluster) drop(change *catalog.Change) {
	id := change.Table.ID
	for _, n := range c.nodes[1:] {
		if change.Type == "DROPPED" {
			n.store.Drop(id)
		}
		for _, column := range change.Dropped {
			n.store.DropColumn(id, column)
		}
	}
}

// Has says whether a node has anything of a partition by itself.
func (c *Cluster) Has(node int, keyspace, table, key string) bool {
	t := c.Schema.Table(keyspace, table)
	return t != nil && c.nodes[node].store.Partition(t.ID, key) != nil
}
