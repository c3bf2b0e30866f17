package coordinator

import (
	"maps"
	"slices"
	"time"

	"github.com/denorm-go/denorm/internal/cassandra/catalog"
	"github.com/denorm-go/denorm/internal/cassandra/replica"
	"github.com/denorm-go/denorm/internal/cassandra/ring"
	"github.com/denorm-go/denorm/internal/murmur3"
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
	last      int64                 // the latest time of a request, in microseconds
	turn      int                   // of the replicas that are read
	emptied   map[gocql.UUID]uint64 // when tables were truncated or dropped, by the number of the event

	described map[gocql.UUID]virtual // the tables about the schema, of this version of it
	version   gocql.UUID
}

// node is one node.
type node struct {
	store *replica.Store
	state State
	since time.Time // since when it is not up
	skew  time.Duration
	inbox []delivery // of a paused node
	hints []delivery // for a node that is gone
}

// State is what the others get from a node.
type State uint8

// The states of nodes.
const (
	Up     State = iota
	Paused       // answers nothing, and does what it was sent when it goes on
	Gone         // loses what it is sent
)

// delivery is a mutation on its way to a node.
type delivery struct {
	table   *catalog.Table
	key     string
	content *replica.Partition
	at      time.Time // when it was sent
	count   func()    // of a mutation of counters on its way to the leader; nil for others
}

// The times of Cassandra's configuration, and how long the others believe a node to be up that answers nothing.
const (
	writeTimeout    = 2 * time.Second         // write_request_timeout
	counterTimeout  = 5 * time.Second         // counter_write_request_timeout
	readTimeout     = 5 * time.Second         // read_request_timeout
	truncateTimeout = time.Minute             // truncate_request_timeout
	casTimeout      = 1800 * time.Millisecond // cas_contention_timeout
	conviction      = 10 * time.Second        // about phi_convict_threshold 8
	hintWindow      = 3 * time.Hour           // max_hint_window
	hintDelay       = 10 * time.Second        // HintsDispatchTrigger
	replayAge       = 2 * writeTimeout        // BatchlogManager.getBatchlogTimeout
	replayInterval  = 10 * time.Second        // BatchlogManager.REPLAY_INTERVAL
)

// New is a cluster without tables. Numbers of nodes begin with 1.
func New(nodes int) *Cluster {
	c := &Cluster{
		Schema: catalog.New(), Later: func(time.Duration, func()) {}, ring: ring.New(nodes), nodes: []*node{nil},
		instances: make(map[instanceOf]*instance), emptied: make(map[gocql.UUID]uint64),
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

// SetState puts a node into a state.
func (c *Cluster) SetState(number int, state State) {
	n := c.nodes[number]
	if n.state == state {
		return
	}
	if n.state == Up {
		n.since = time.Now() // whatever happens to it then, it is silent since now
	}
	n.state = state
	for _, l := range n.inbox {
		switch {
		case l.count != nil: // there are no hints for it
			if state == Up && time.Since(l.at) < counterTimeout {
				l.count()
			}
		case state == Up && time.Since(l.at) < writeTimeout:
			n.apply(l)
		default: // the node drops it as too old; the coordinator has written a hint when the answer was overdue
			n.hint(l)
		}
	}
	n.inbox = nil
	if state != Up {
		return
	}
	c.Later(hintDelay, func() { c.hand(n) })
}

// hand gives a node what it has missed.
func (c *Cluster) hand(n *node) {
	if n.state != Up {
		return
	}
	for _, l := range n.hints {
		if time.Since(l.at) < time.Duration(l.table.GCGrace)*time.Second { // else the hint has expired (Hint.isLive)
			n.apply(l)
		}
	}
	n.hints = nil
}

func (n *node) apply(l delivery) { n.store.Apply(l.table.ID, l.key, l.content, l.table.Compare) }

// send brings a mutation to a node, and says whether the node acknowledges it.
func (n *node) send(l delivery) bool {
	l.at = time.Now()
	switch n.state {
	case Up:
		n.apply(l)
		return true
	case Paused:
		n.inbox = append(n.inbox, l)
	case Gone:
		n.hint(l)
	}
	return false
}

// hint keeps a mutation for a node, unless its table has no gc_grace_seconds or the node is away for too long
// (StorageProxy.shouldHint).
func (n *node) hint(l delivery) {
	if n.hinted(l.table) {
		n.hints = append(n.hints, l)
	}
}

func (n *node) hinted(t *catalog.Table) bool {
	return t.GCGrace > 0 && time.Since(n.since) <= hintWindow
}

// alive says whether the others believe the node to be up.
func (n *node) alive() bool { return n.state == Up || time.Since(n.since) < conviction }

// next numbers things.
func (c *Cluster) next() uint64 {
	c.unique++
	return c.unique
}

// scattered is a number that follows no pattern, and is the same when all is repeated.
func (c *Cluster) scattered() uint64 { return replica.Stamp(c.next()) }

// replicas are the nodes that hold a partition.
func (c *Cluster) replicas(t *catalog.Table, key string) []int {
	return c.Replicas(t.Keyspace, []byte(key))
}

// Replicas are the numbers of the nodes that hold a partition of a keyspace, the first owner first. key is the encoded
// partition key, as the driver's routing key.
func (c *Cluster) Replicas(keyspace string, key []byte) []int {
	return c.ring.Replicas(murmur3.Token(key), c.factor(keyspace))
}

// factor is the replication factor of a keyspace, which may be more than there are nodes.
func (c *Cluster) factor(keyspace string) int {
	k := c.Schema.Keyspace(keyspace)
	if k == nil {
		return 0
	}
	return k.Factor()
}

// drop forgets what is stored of a table.
func (c *Cluster) drop(change *catalog.Change) {
	id := change.Table.ID
	if change.Type == "DROPPED" { // what is still on its way comes too late
		for _, n := range c.nodes[1:] {
			of := func(l delivery) bool { return l.table.ID == id }
			n.hints, n.inbox = slices.DeleteFunc(n.hints, of), slices.DeleteFunc(n.inbox, of)
		}
		maps.DeleteFunc(c.instances, func(of instanceOf, _ *instance) bool { return of.table == id })
		c.emptied[id] = c.next()
	}
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
