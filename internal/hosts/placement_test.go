package hosts

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"
)

// former is how Cassandra up to 3 put replicas: it set nodes of racks that have one aside until all racks have one.
// Cassandra 4 counts the repeats that it may take instead; both choose the same nodes.
func former(r *ring, dcs map[string]int, token int64) map[*member]bool {
	replicas := map[*member]bool{}
	in, seen, aside := map[string]int{}, map[string]map[string]bool{}, map[string][]*member{}
	take := func(m *member) {
		if !replicas[m] {
			replicas[m] = true
			in[m.dc]++
		}
	}
	full := func(dc string) bool { return in[dc] >= min(dcs[dc], r.dcs[dc].nodes) }
	start := sort.Search(len(r.owners), func(i int) bool { return r.owners[i].token >= token })
	for i := range r.owners {
		m := r.owners[(start+i)%len(r.owners)].member
		if dcs[m.dc] == 0 || full(m.dc) || replicas[m] {
			continue
		}
		if seen[m.dc] == nil {
			seen[m.dc] = map[string]bool{}
		}
		racks := seen[m.dc]
		switch {
		case len(racks) == len(r.dcs[m.dc].racks):
			take(m)
		case racks[m.rack]:
			aside[m.dc] = append(aside[m.dc], m)
		default:
			take(m)
			racks[m.rack] = true
			if len(racks) == len(r.dcs[m.dc].racks) {
				for _, m := range aside[m.dc] {
					if !full(m.dc) {
						take(m)
					}
				}
			}
		}
	}
	return replicas
}

func drawRing(t *rapid.T) *ring {
	members := map[string]*member{}
	tokens := rapid.SliceOfNDistinct(rapid.Int64(), 1, 60, rapid.ID).Draw(t, "tokens")
	nodes := rapid.IntRange(1, 10).Draw(t, "nodes")
	for i := range nodes {
		members[fmt.Sprint(i)] = &member{
			node: new(node),
			dc:   rapid.SampledFrom([]string{"dc1", "dc2"}).Draw(t, "dc"),
			rack: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "rack"),
		}
	}
	for i, token := range tokens {
		m := members[fmt.Sprint(i%nodes)]
		if i >= nodes {
			m = members[fmt.Sprint(rapid.IntRange(0, nodes-1).Draw(t, "owner"))]
		}
		m.tokens = append(m.tokens, token)
	}
	for id, m := range members {
		if len(m.tokens) == 0 {
			delete(members, id)
		}
	}
	return newRing(members, nil)
}

func TestNetworkTopology(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRing(t)
		dcs := map[string]int{"dc1": rapid.IntRange(0, 5).Draw(t, "factor"), "dc2": rapid.IntRange(0, 5).Draw(t, "factor")}
		token := rapid.Int64().Draw(t, "token")
		if rapid.Bool().Draw(t, "exactly one of the ring") {
			token = rapid.SampledFrom(r.owners).Draw(t, "owner").token
		}
		found := r.replicas(r.place(replication{dcs: dcs}), token, make([]*member, 0, 12))
		want := former(r, dcs, token)
		for _, m := range found {
			if !want[m] {
				t.Fatalf("not a replica: %+v", m)
			}
		}
		if len(found) != len(want) {
			t.Fatalf("%d replicas, want %d", len(found), len(want))
		}
	})
}

func TestSimpleStrategy(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRing(t)
		token, n := rapid.Int64().Draw(t, "token"), rapid.IntRange(0, 12).Draw(t, "factor")
		var want []*member // the owners from the token on, without repeats
		for _, later := range []bool{true, false} {
			for _, o := range r.owners {
				if (o.token >= token) == later && !slices.Contains(want, o.member) && len(want) < n {
					want = append(want, o.member)
				}
			}
		}
		if found := r.replicas(r.place(replication{simple: n}), token, make([]*member, 0, 12)); !slices.Equal(found, want) {
			t.Fatalf("%v, want %v", found, want)
		}
	})
}

// Nothing is sent to a datacentre because of its replicas if the policy calls all of its nodes far.
func TestFarDatacentre(t *testing.T) {
	t.Parallel()
	near, far := &member{dc: "dc1", tokens: []int64{1}}, &member{dc: "dc2", tokens: []int64{2}, tier: 1, far: true}
	r := newRing(map[string]*member{"1": near, "2": far},
		map[string]replication{"shop": {dcs: map[string]int{"dc1": 1, "dc2": 1}}})
	if found := r.replicas(r.keyspaces["shop"], 0, make([]*member, 0, 12)); len(found) != 1 || found[0] != near {
		t.Errorf("%v", found)
	}
}

func TestReplication(t *testing.T) {
	t.Parallel()
	const prefix = "org.apache.cassandra.locator."
	for _, c := range []struct {
		options map[string]string
		want    replication
	}{
		{map[string]string{"class": prefix + "SimpleStrategy", "replication_factor": "3"}, replication{simple: 3}},
		{map[string]string{"class": "SimpleStrategy", "replication_factor": "3/1"}, replication{simple: 3}},
		{
			map[string]string{"class": prefix + "NetworkTopologyStrategy", "dc1": "3", "dc2": "2/1", "dc3": "many"},
			replication{dcs: map[string]int{"dc1": 3, "dc2": 2, "dc3": 0}},
		},
		{map[string]string{"class": prefix + "LocalStrategy"}, replication{}},
		{map[string]string{"class": prefix + "EverywhereStrategy"}, replication{}},
		{nil, replication{}},
	} {
		if got := newReplication(c.options); got.simple != c.want.simple || !maps.Equal(got.dcs, c.want.dcs) {
			t.Errorf("%v: %+v", c.options, got)
		}
	}
}
