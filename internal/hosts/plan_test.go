package hosts

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/gocql/gocql"
	hostpool "github.com/hailocab/go-hostpool"
	"pgregory.net/rapid"
)

// town is a policy with hosts, without a session. Their tokens take turns on the ring: what host i owns is next on host i+1.
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
func (n *near) MaxHostTier() uint               { return n.max }

func (n *near) Pick(q gocql.ExecutableQuery) gocql.NextHost {
	var hosts []gocql.SelectedHost
	next := n.HostSelectionPolicy.Pick(q)
	for h := next(); h != nil; h = next() {
		hosts = append(hosts, marked{h, n})
	}
	slices.SortStableFunc(hosts, func(a, b gocql.SelectedHost) int { return int(n.tiers[a.Info()]) - int(n.tiers[b.Info()]) })
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
		h := new(gocql.HostInfo)
		h.SetHostID(fmt.Sprint("host", i))
		h.SetConnectAddress(net.IPv4(127, 0, 0, byte(i+1)))
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
		if m := r.replicas(primary, token(key), make([]*member, 0, 1))[0]; m.info == w.hosts[first] {
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

func (r request) Context() context.Context       { return r.ctx }
func (r request) Keyspace() string               { return r.keyspace }
func (r request) GetRoutingKey() ([]byte, error) { return r.key, r.err }

// unasked is a request that must not be asked.
type unasked struct{ request }

func (unasked) Keyspace() string               { panic("asked for the keyspace") }
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

// The attempts of a path go to one replica after the other, then to hosts that are none, then to those tried longest ago.
func TestAttempts(t *testing.T) {
	t.Parallel()
	w := newTown(0, 0, 0, 0, 0)
	for range 100 {
		a, r := attempt("ks3", w.key(1))
		var order []int
		for range 8 {
			a.Next(context.Background())
			order = append(order, w.first(r))
			if a.Host() != w.hosts[order[len(order)-1]] {
				t.Fatal("the attempt does not know its host")
			}
			a.End(TimedOut)
			w.policy.forget(a.Host())
		}
		replicas, others := slices.Clone(order[:3]), slices.Clone(order[3:5])
		slices.Sort(replicas)
		slices.Sort(others)
		if !slices.Equal(replicas, []int{1, 2, 3}) || !slices.Equal(others, []int{0, 4}) {
			t.Fatalf("%v", order)
		}
		// Of the last four it is known when.
		if !slices.Equal(order[5:], []int{order[0], order[1], order[2]}) {
			t.Fatalf("%v", order)
		}
	}
}

// Requests for one partition are spread over its replicas.
func TestSpread(t *testing.T) {
	t.Parallel()
	w := newTown(0, 0, 0, 0, 0)
	counts := make([]int, 5)
	_, r := attempt("ks3", w.key(4))
	for range 3000 {
		counts[w.first(r)]++
	}
	t.Logf("%v", counts)
	for i, n := range counts {
		if replica := i == 4 || i < 2; replica && n < 800 || !replica && n > 0 {
			t.Errorf("%d of 3000 go to host %d", n, i)
		}
	}
}

// Of a keyspace of which nothing is known, the owner of the token is known; without a token, or a key, the order is the
// wrapped policy's.
func TestUnknown(t *testing.T) {
	t.Parallel()
	w := newTown(0, 0, 0)
	_, r := attempt("unheard", w.key(2))
	_, keyless := attempt("ks3", nil)
	counts := make([]int, 3)
	for range 30 {
		if n := w.first(r); n != 2 {
			t.Fatalf("goes to %d", n)
		}
		counts[w.first(keyless)]++
	}
	if !slices.Equal(counts, []int{10, 10, 10}) {
		t.Errorf("round robin: %v", counts)
	}
	if n := len(w.plan(nil)); n != 3 {
		t.Errorf("gocql may ask without a request: %d hosts", n)
	}
	if n := len(w.plan(request{ctx: context.Background(), err: errors.New("not prepared")})); n != 3 {
		t.Errorf("the key is unknown: %d hosts", n)
	}
}

// A request that is no attempt, such as a read of the service, goes to a replica too.
func TestPlainRequest(t *testing.T) {
	t.Parallel()
	w := newTown(0, 0, 0, 0)
	for i := range 4 {
		r := request{ctx: context.Background(), keyspace: "ks1", key: w.key(i)}
		if n := w.first(r); n != i {
			t.Errorf("partition of %d goes to %d", i, n)
		}
	}
}

// What gocql tells of requests that are no attempts takes hosts out of rotation, and brings them back.
func TestMark(t *testing.T) {
	t.Parallel()
	expired, cancel := context.WithTimeout(context.Background(), -time.Second)
	defer cancel()
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		err  error
		want Result
	}{
		{"answer", context.Background(), nil, Answered},
		{"error of the server", context.Background(), &gocql.RequestErrUnavailable{}, Answered},
		{"no row", context.Background(), gocql.ErrNotFound, Answered},
		{"own limit of gocql", context.Background(), gocql.ErrTimeoutNoResponse, TimedOut},
		{"deadline, of which gocql says nothing", expired, nil, TimedOut},
		{"cancelled, of which gocql says nothing", gone, nil, Cancelled},
		{"connection", context.Background(), gocql.ErrConnectionClosed, Broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newTown(0)
			mark := func(ctx context.Context, err error) {
				w.policy.Pick(request{ctx: ctx, keyspace: "ks1", key: []byte("k")})().Mark(err)
			}
			mark(context.Background(), gocql.ErrTimeoutNoResponse)
			mark(context.Background(), gocql.ErrTimeoutNoResponse)
			mark(c.ctx, c.err)
			if out := !w.node(0).breaker.in(); out != (c.want == TimedOut) {
				t.Errorf("after two timeouts and this: out of rotation %v", out)
			}
			if !w.node(0).breaker.in() {
				return
			}
			mark(context.Background(), gocql.ErrTimeoutNoResponse)
			if out := !w.node(0).breaker.in(); out != (c.want != Answered) {
				t.Errorf("after one more: out of rotation %v", out)
			}
		})
	}
}

// Of attempts gocql's own word does not count: it says nil of those that ran out of time.
func TestMarkOfAttempt(t *testing.T) {
	t.Parallel()
	w := newTown(0)
	a, r := attempt("ks1", []byte("k"))
	for range limit {
		a.Next(context.Background())
		w.policy.Pick(r)().Mark(nil)
		a.End(TimedOut)
		a.End(Answered) // again, says nothing
	}
	if w.node(0).breaker.in() {
		t.Error("in rotation")
	}
}

// The wrapped policy is told of what it chose: some of gocql's learn from it.
func TestMarkOfWrapped(t *testing.T) {
	t.Parallel()
	w := newTown(0, 0)
	next := w.policy.Pick(request{ctx: context.Background(), keyspace: "ks1", key: w.key(0)})
	next().Mark(nil) // a replica, which the wrapped policy did not choose
	next().Mark(gocql.ErrConnectionClosed)
	if !slices.Equal(w.near.marks, []error{gocql.ErrConnectionClosed}) {
		t.Errorf("%v", w.near.marks)
	}
	w.near.marks = nil
	w.silence(0, 1) // replicas are passed over, and come when the wrapped policy has given them too
	next = w.policy.Pick(request{ctx: context.Background(), keyspace: "ks2", key: w.key(0)})
	next().Mark(nil)
	next().Mark(nil)
	if len(w.near.marks) != 2 {
		t.Errorf("%v", w.near.marks)
	}
}

// When gocql has new connections with a host, or has taken it for down, its past is forgotten; likewise if it has gone.
func TestForget(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]func(*Policy, *gocql.HostInfo){
		"up":   (*Policy).HostUp,
		"down": (*Policy).HostDown,
		"gone": func(p *Policy, h *gocql.HostInfo) { p.RemoveHost(h); p.AddHost(h) },
	} {
		w := newTown(0, 0)
		w.silence(0, 1)
		event(w.policy, w.hosts[0])
		if !w.node(0).breaker.in() || w.node(1).breaker.in() {
			t.Errorf("%s: in rotation %v, the other %v", name, w.node(0).breaker.in(), w.node(1).breaker.in())
		}
	}
}

// A host that comes back under its id with another address is another host; the old one may leave later.
func TestReplaced(t *testing.T) {
	t.Parallel()
	w := newTown(0, 0)
	h := new(gocql.HostInfo)
	h.SetHostID(w.hosts[0].HostID())
	h.SetConnectAddress(net.IPv4(127, 0, 0, 9))
	w.policy.AddHost(h)
	w.policy.RemoveHost(w.hosts[0])
	if m := w.policy.find(h); m == nil || m.info != h {
		t.Errorf("%+v", m)
	}
}

// A second request for the same, sent later and answered first, counts as silence of the first one's host.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	w := newTown(0, 0, 0)
	a, _ := attempt("ks3", w.key(0))
	var slow *gocql.HostInfo
	for i := 0; w.policy.find(w.hosts[0]).breaker.in(); i++ {
		if i > 1000 {
			t.Fatal("host 0 is never out of rotation")
		}
		first, second := a.Fork(), a.Fork()
		first.Next(context.Background())
		w.first(unasked{request{ctx: first}})
		second.Avoid(first)
		second.Next(context.Background())
		w.first(unasked{request{ctx: second}})
		if first.Host() == second.Host() {
			t.Fatal("both go to one host")
		}
		if slow = first.Host(); slow != w.hosts[0] {
			first.End(Answered)
			second.End(Cancelled)
			continue
		}
		second.End(Answered)
		first.End(Cancelled)
	}
	for i := range 3 {
		if in := w.node(i).breaker.in(); in != (i > 0) {
			t.Errorf("host %d in rotation: %v", i, in)
		}
	}
}

// All hosts are in every plan, once, and in order: replicas first, whatever is out of rotation last.
func TestOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tiers := rapid.SliceOfN(rapid.UintRange(0, 2), 1, 8).Draw(t, "tiers")
		w := newTown(tiers...)
		w.near.max = 2
		w.policy.AddHost(w.hosts[0]) // again, now that the last tier is known
		w.replicate(5)
		n := len(w.hosts)
		out, tried := make([]bool, n), make([]int, n)
		for i := range n {
			if rapid.IntRange(0, 2).Draw(t, "out") == 0 {
				out[i] = true
				w.silence(i)
			}
		}
		first := rapid.IntRange(0, n-1).Draw(t, "first replica")
		factor := rapid.IntRange(1, 5).Draw(t, "replicas")
		a, r := attempt(fmt.Sprint("ks", factor), w.key(first))
		for i := range rapid.IntRange(0, 4).Draw(t, "tried") {
			h := rapid.IntRange(0, n-1).Draw(t, "host")
			a.avoid(w.node(h))
			tried[h] = i + 1
		}
		// How much speaks against a host, greatest first.
		rank := func(h int) [5]int {
			far, replica, silent := tiers[h] == 2, (h-first+n)%n < factor, 0
			if out[h] {
				silent = 1
			}
			switch {
			case far:
				return [5]int{silent, 1, tried[h], b2i(!replica), 0}
			case replica && tried[h] == 0:
				return [5]int{silent, 0, 0, 0, int(tiers[h])}
			}
			return [5]int{silent, 0, tried[h], b2i(!replica), 0}
		}
		order := w.plan(r)
		sorted := slices.Clone(order)
		slices.Sort(sorted)
		for i := range n {
			if len(order) != n || sorted[i] != i {
				t.Fatalf("plan %v of %d hosts", order, n)
			}
			if i == 0 {
				continue
			}
			a, b := rank(order[i-1]), rank(order[i])
			if a[0] == 1 && b[0] == 1 { // among those out, tiers do not matter
				a[4], b[4] = 0, 0
			}
			if slices.Compare(a[:], b[:]) > 0 {
				t.Fatalf("plan %v: %d %v before %d %v", order, order[i-1], a, order[i], b)
			}
		}
		if a.Host() != nil || a.node.Load() != nil {
			t.Fatal("the plan has ended, but a host is picked")
		}
	})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A host that is out of rotation gets one attempt when it has sent something, or other nodes say that it is up, and only one.
func TestTrial(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		replica bool
		sign    func(*town)
	}{
		"replica": {true, func(w *town) {
			w.policy.Observe(nil).ObserveFrameHeader(context.Background(), gocql.ObservedFrameHeader{Host: w.hosts[0]})
		}},
		"other": {false, func(w *town) { w.policy.AddHost(w.hosts[0]) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTown(0, 0, 0)
			var key []byte
			if test.replica {
				key = w.key(0)
			}
			w.policy.Observe(nil).ObserveFrameHeader(context.Background(), gocql.ObservedFrameHeader{}) // there is one
			w.silence(0)
			count := func() (n int) {
				for range 100 {
					a, r := attempt("ks3", key)
					a.Next(context.Background())
					if w.first(r) == 0 {
						n++
					}
				}
				return n
			}
			if n := count(); n != 0 {
				t.Errorf("%d attempts while it is silent", n)
			}
			test.sign(w)
			if n := count(); n != 1 {
				t.Errorf("%d attempts at once after a sign of life", n)
			}
			w.node(0).breaker.end(Answered, true, time.Now)
			if n := count(); n < 10 {
				t.Errorf("%d of 100 when it is back", n)
			}
		})
	}
}

// A policy of gocql that never ends does not make an endless plan.
func TestEndless(t *testing.T) {
	t.Parallel()
	w := newTown(0, 0, 0)
	p := New(gocql.HostPoolHostPolicy(hostpool.New(nil)))
	p.AddHosts(w.hosts)
	w.policy = p
	w.silence(1)
	order := w.plan(nil)
	for i := range 3 {
		if !slices.Contains(order, i) {
			t.Errorf("plan %v", order)
		}
	}
}

// Observers are told what the policy sees, and only those of the caller are chained.
func TestObserve(t *testing.T) {
	t.Parallel()
	w := newTown(0)
	var own seen
	first := w.policy.Observe(&own)
	second := New(gocql.RoundRobinHostPolicy()).Observe(first)
	second.ObserveFrameHeader(context.Background(), gocql.ObservedFrameHeader{Host: w.hosts[0]})
	second.ObserveFrameHeader(context.Background(), gocql.ObservedFrameHeader{})
	if own != 2 {
		t.Errorf("%d headers", own)
	}
	if second.(*observer).next != &own {
		t.Error("the observer of another session is kept")
	}
}

type seen int

func (s *seen) ObserveFrameHeader(context.Context, gocql.ObservedFrameHeader) { *s++ }
