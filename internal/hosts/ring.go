package hosts

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/gocql/gocql"
)

// node is a host and what is remembered of it.
type node struct {
	info    *gocql.HostInfo
	breaker breaker
	groups  nodeGroups
}

// member is a node and its place in a ring.
type member struct {
	*node
	dc, rack string
	tokens   []int64
	tier     uint // of the wrapped policy: 0 is nearest
	far      bool // in its last tier: another datacentre
}

// ring is the nodes and the tokens they own. It never changes; a new one takes its place.
type ring struct {
	members   map[string]*member // by host id
	owners    []owner            // by token, ascending; empty if the tokens are unknown
	dcs       map[string]datacentre
	keyspaces map[string]placement
}

// owner is the node whose primary range ends at a token.
type owner struct {
	token int64
	*member
}

type datacentre struct {
	nodes int
	racks []string
	near  bool // not all of its nodes are far
}

// newMember reads what gocql knows of a host. Of partitioners other than Murmur3Partitioner no token is known.
func newMember(n *node, partitioner string) *member {
	m := &member{node: n, dc: n.info.DataCenter(), rack: n.info.Rack()}
	if strings.HasSuffix(partitioner, "Murmur3Partitioner") {
		for _, text := range n.info.Tokens() {
			if t, err := strconv.ParseInt(text, 10, 64); err == nil {
				m.tokens = append(m.tokens, t)
			}
		}
	}
	return m
}

func newRing(members map[string]*member, replications map[string]replication) *ring {
	r := &ring{members: members, dcs: map[string]datacentre{}, keyspaces: make(map[string]placement, len(replications))}
	for _, m := range members {
		dc := r.dcs[m.dc]
		dc.nodes++
		dc.near = dc.near || !m.far
		if !slices.Contains(dc.racks, m.rack) {
			dc.racks = append(dc.racks, m.rack)
		}
		r.dcs[m.dc] = dc
		for _, t := range m.tokens {
			r.owners = append(r.owners, owner{t, m})
		}
	}
	slices.SortFunc(r.owners, func(a, b owner) int { return cmp.Compare(a.token, b.token) })
	for keyspace, rep := range replications {
		r.keyspaces[keyspace] = r.place(rep)
	}
	return r
}

// replication is what a keyspace says of its replicas. The zero value says nothing.
type replication struct {
	simple int            // replicas, wherever: SimpleStrategy
	dcs    map[string]int // replicas by datacentre: NetworkTopologyStrategy
}

// newReplication reads the column replication of system_schema.keyspaces. Of strategies other than the two common ones
// nothing is known, so no replica is preferred.
func newReplication(options map[string]string) replication {
	class := options["class"]
	switch class[strings.LastIndexByte(class, '.')+1:] {
	case "SimpleStrategy":
		return replication{simple: factor(options["replication_factor"])}
	case "NetworkTopologyStrategy":
		dcs := make(map[string]int, len(options))
		for dc, n := range options {
			if dc != "class" {
				dcs[dc] = factor(n)
			}
		}
		return replication{dcs: dcs}
	}
	return replication{}
}

// factor reads a replication factor: "3", or "3/1" of which one is transient.
func factor(text string) int {
	all, _, _ := strings.Cut(text, "/")
	n, err := strconv.Atoi(all)
	if err != nil {
		return 0
	}
	return n
}

// placement is a replication on the nodes of a ring.
type placement struct {
	total int              // replicas to be found
	dcs   map[string]share // nil if datacentres do not matter
}

// in is how many replicas a datacentre has.
func (p placement) in(dc string) int {
	if p.dcs == nil {
		return p.total
	}
	return p.dcs[dc].nodes
}

// share is what one datacentre gets.
type share struct {
	nodes   int // replicas
	repeats int // how many of them may be in a rack that has one already
}

// primary is the placement of a keyspace of which nothing is known: the owner of a token is a replica for certain.
var primary = placement{total: 1}

// place applies a replication to the ring. Datacentres that are far need no replicas: nothing is sent there on account
// of them.
func (r *ring) place(rep replication) placement {
	if rep.dcs == nil {
		return placement{total: min(rep.simple, len(r.members))}
	}
	p := placement{dcs: map[string]share{}}
	for name, dc := range r.dcs {
		if n := rep.dcs[name]; dc.near {
			p.dcs[name] = share{nodes: min(n, dc.nodes), repeats: max(0, n-len(dc.racks))}
			p.total += p.dcs[name].nodes
		}
	}
	return p
}

// replicas finds the nodes that hold a token and appends them to found, at most as many as fit: it walks the ring from
// the token on, as Cassandra does. A rack gets its second replica of a token only if there are more replicas than
// racks.
func (r *ring) replicas(p placement, token int64, found []*member) []*member {
	total := min(p.total, cap(found))
	start := sort.Search(len(r.owners), func(i int) bool { return r.owners[i].token >= token })
	for i := 0; i < len(r.owners) && len(found) < total; i++ {
		if m := r.owners[(start+i)%len(r.owners)].member; p.takes(m, found) {
			found = append(found, m)
		}
	}
	return found
}

// takes says whether the next node on the ring is a replica, after those found.
func (p placement) takes(m *member, found []*member) bool {
	if p.dcs == nil || slices.Contains(found, m) {
		return !slices.Contains(found, m)
	}
	nodes, repeats, newRack := 0, 0, true
	for i, f := range found {
		if f.dc != m.dc {
			continue
		}
		nodes++
		newRack = newRack && f.rack != m.rack
		if slices.ContainsFunc(found[:i], func(earlier *member) bool {
			return earlier.dc == f.dc && earlier.rack == f.rack
		}) {
			repeats++
		}
	}
	dc := p.dcs[m.dc]
	return nodes < dc.nodes && (newRack || repeats < dc.repeats)
}
