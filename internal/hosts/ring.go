package hosts

import (
	"cmp"
	"slices"
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
