package hosts

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/murmur3"
	"github.com/denorm-go/denorm/internal/testutil/drivertest"
)

// town is a policy with hosts, without a session. Their tokens take turns on the ring: what host i owns is next on host
// i+1.
type town struct {
	policy *Policy
	hosts  []*gocql.HostInfo
	near   *near
}

// near is round robin over near hosts, then over far ones; the tiers are the test's.
type near struct {
	gocql.HostSelectionPolicy
	tiers map[*gocql.HostInfo]uint
	max   uint
	marks []error
}

func (n *near) HostTier(h *gocql.HostInfo) uint { return n.tiers[h] }

func (n *near) MaxHostTier() uint { return n.max }

func (n *near) Pick(q gocql.ExecutableQuery) gocql.NextHost {
	var hosts []gocql.SelectedHost
	next := n.HostSelectionPolicy.Pick(q)
	for h := next(); h != nil; h = next() {
		hosts = append(hosts, marked{h, n})
	}
	slices.SortStableFunc(hosts, func(a, b gocql.SelectedHost) int {
		return int(n.tiers[a.Info()]) - int(n.tiers[b.Info()])
	})
	return func() gocql.SelectedHost {
		if len(hosts) == 0 {
			return nil
		}
		h := hosts[0]
		hosts = hosts[1:]
		return h
	}
}

type marked struct {
	gocql.SelectedHost
	n *near
}

func (m marked) Mark(err error) { m.n.marks = append(m.n.marks, err) }

func newTown(tiers ...uint) *town {
	n := &near{HostSelectionPolicy: gocql.RoundRobinHostPolicy(), tiers: map[*gocql.HostInfo]uint{}, max: 1}
	w := &town{policy: New(n), near: n}
	for i, tier := range tiers {
		h := drivertest.Host(fmt.Sprint("host", i), fmt.Sprint("127.0.0.", i+1))
		w.hosts = append(w.hosts, h)
		n.tiers[h] = tier
		n.max = max(n.max, tier)
	}
	w.policy.AddHosts(w.hosts)
	w.replicate(3)
	return w
}

// replicate gives the hosts their tokens, of which gocql leaves no way to tell a host, and keyspaces ks1, ks2 and so on
// with as many replicas.
func (w *town) replicate(most int) {
	members := w.policy.ring.Load().members
	for i, h := range w.hosts {
		n := uint64(len(w.hosts))
		step := math.MaxUint64 / (2 * n)
		members[h.HostID()].tokens = []int64{int64(uint64(i)*step - 1<<63), int64((n+uint64(i))*step - 1<<63)}
	}
	replications := map[string]replication{}
	for n := range most {
		replications[fmt.Sprint("ks", n+1)] = replication{simple: n + 1}
	}
	w.policy.ring.Store(newRing(members, replications))
}

// key finds a key that is on host first.
func (w *town) key(first int) []byte {
	r := w.policy.ring.Load()
	for i := 0; ; i++ {
		key := []byte(fmt.Sprint("key", i))
		if m := r.replicas(primary, murmur3.Token(key), make([]*member, 0, 1))[0]; m.info == w.hosts[first] {
			return key
		}
	}
}

func (w *town) node(i int) *node { return w.policy.nodes[w.hosts[i].HostID()] }

// silence takes hosts out of rotation.
func (w *town) silence(hosts ...int) {
	for _, i := range hosts {
		for range limit {
			w.node(i).breaker.end(TimedOut, false, time.Now)
		}
	}
}

// request is one of gocql, without a session.
type request struct {
	gocql.ExecutableQuery
	ctx      context.Context
	keyspace string
	key      []byte
	err      error
}

func (r request) Context() context.Context { return r.ctx }

func (r request) Keyspace() string { return r.keyspace }

func (r request) GetRoutingKey() ([]byte, error) { return r.key, r.err }

// unasked is a request that must not be asked.
type unasked struct{ request }

func (unasked) Keyspace() string { panic("asked for the keyspace") }

func (unasked) GetRoutingKey() ([]byte, error) { panic("asked for the routing key") }

// plan lists all hosts of a plan by number.
func (w *town) plan(r gocql.ExecutableQuery) []int {
	var order []int
	next := w.policy.Pick(r)
	for h := next(); h != nil; h = next() {
		order = append(order, slices.Index(w.hosts, h.Info()))
	}
	return order
}

// first is the host that a request goes to.
func (w *town) first(r gocql.ExecutableQuery) int {
	return slices.Index(w.hosts, w.policy.Pick(r)().Info())
}

func attempt(keyspace string, key []byte) (*Attempt, unasked) {
	a := &Attempt{Context: context.Background(), Keyspace: keyspace, Key: key}
	return a, unasked{request{ctx: a}}
}
