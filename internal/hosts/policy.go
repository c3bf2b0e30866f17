package hosts

import (
	"context"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/gocql/gocql"
)

// Policy is a host selection policy for one session of gocql. Its plan for a request is, in this order: replicas of the
// partition, other hosts, hosts that the path of the request has tried already, hosts of other datacentres, and hosts
// that are out of rotation. A host is never left out: if all are out of rotation, they are tried all the same. That of
// a [Group] has its nodes alone.
//
// Which hosts are near, and the order of those that are not replicas, is up to the policy that it wraps.
type Policy struct {
	// Datacentre is the one that all hosts of the session are in; empty if they may be in several. It is set before the
	// session is made.
	Datacentre string

	wrapped gocql.HostSelectionPolicy
	ring    atomic.Pointer[ring]

	mu           sync.Mutex // for what follows, and for replacing the ring
	session      *gocql.Session
	nodes        map[string]*node
	partitioner  string
	replications map[string]replication
	reading      bool // keyspaces are being read
	again        bool // and are to be read once more

	observed atomic.Bool  // some header of a frame has been seen
	joins    atomic.Int64 // when partitions may join groups again, Unix nanoseconds
	readNext atomic.Int64 // when an unknown keyspace is a reason to read again, Unix nanoseconds
}

var (
	_ gocql.HostSelectionPolicy = (*Policy)(nil)
	_ gocql.HostTierer          = (*Policy)(nil)
	_ gocql.ReadyPolicy         = (*Policy)(nil)
)

// New wraps a policy of gocql, which must not be used elsewhere.
func New(wrapped gocql.HostSelectionPolicy) *Policy {
	p := &Policy{wrapped: wrapped, nodes: map[string]*node{}}
	p.ring.Store(&ring{})
	return p
}

// policies has a weak.Pointer[Policy] for each session by its weak.Pointer[gocql.Session]: gocql does not tell a
// session's policy, and sessions must not be kept for this.
var policies sync.Map

// Of is the policy of a session, nil if that has none of this package.
func Of(session *gocql.Session) *Policy {
	if p, ok := policies.Load(weak.Make(session)); ok {
		return p.(weak.Pointer[Policy]).Value() //nolint:forcetypeassert // it has no others
	}
	return nil
}

// DatacentreOf is the datacentre that all requests of a session go to, empty if that is not known.
func DatacentreOf(session *gocql.Session) string {
	if p := Of(session); p != nil {
		return p.Datacentre
	}
	return ""
}

// Init implements [gocql.HostSelectionPolicy]. As gocql's own policies do, it panics if two sessions share the policy.
func (p *Policy) Init(session *gocql.Session) {
	p.mu.Lock()
	shared := p.session != nil
	p.session = session
	p.mu.Unlock()
	if shared {
		panic("denorm: two sessions share a host selection policy; call Configure before each NewSession")
	}
	if session != nil {
		key := weak.Make(session)
		policies.Store(key, weak.Make(p))
		runtime.AddCleanup(session, func(key weak.Pointer[gocql.Session]) { policies.Delete(key) }, key)
	}
	p.wrapped.Init(session)
}

// Fresh is a policy like p for another session, nil if the wrapped one cannot be made again, as it has settings, or p
// is nil.
func (p *Policy) Fresh() *Policy {
	if p == nil || reflect.TypeOf(p.wrapped) != reflect.TypeOf(gocql.RoundRobinHostPolicy()) {
		return nil
	}
	fresh := New(gocql.RoundRobinHostPolicy())
	fresh.Datacentre = p.Datacentre
	return fresh
}

// Taken says whether policy is one that has a session already, and would panic as that of another.
func Taken(policy gocql.HostSelectionPolicy) bool {
	if p, ok := policy.(*Policy); ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.session != nil || Taken(p.wrapped)
	}
	v := reflect.ValueOf(policy)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return false
	}
	session := v.Elem().FieldByName("getKeyspaceMetadata") // of gocql's token-aware policy, which has no other way to know
	return session.Kind() == reflect.Func && !session.IsNil()
}

// SetPartitioner implements [gocql.SetPartitioner]. gocql calls it after each look at the cluster.
func (p *Policy) SetPartitioner(name string) {
	p.mu.Lock()
	p.partitioner = name
	p.rebuild()
	p.mu.Unlock()
	p.wrapped.SetPartitioner(name)
}

// KeyspaceChanged implements [gocql.HostSelectionPolicy].
func (p *Policy) KeyspaceChanged(e gocql.KeyspaceUpdateEvent) {
	p.readKeyspaces()
	p.wrapped.KeyspaceChanged(e)
}

// AddHosts is AddHost for many: gocql calls it, if there is one, when a session begins.
func (p *Policy) AddHosts(hosts []*gocql.HostInfo) {
	p.mu.Lock()
	for _, h := range hosts {
		p.add(h)
	}
	p.rebuild()
	p.mu.Unlock()
	if bulk, ok := p.wrapped.(interface{ AddHosts([]*gocql.HostInfo) }); ok {
		bulk.AddHosts(hosts)
		return
	}
	for _, h := range hosts {
		p.wrapped.AddHost(h)
	}
}

// AddHost implements [gocql.HostStateNotifier]. gocql also calls it for hosts that it has added before.
func (p *Policy) AddHost(h *gocql.HostInfo) { p.AddHosts([]*gocql.HostInfo{h}) }

// RemoveHost implements [gocql.HostStateNotifier].
func (p *Policy) RemoveHost(h *gocql.HostInfo) {
	p.mu.Lock()
	if n := p.nodes[h.HostID()]; n != nil && n.info == h {
		delete(p.nodes, h.HostID())
		p.rebuild()
	}
	p.mu.Unlock()
	p.wrapped.RemoveHost(h)
}

// HostUp implements [gocql.HostStateNotifier].
func (p *Policy) HostUp(h *gocql.HostInfo) {
	p.forget(h)
	p.wrapped.HostUp(h)
}

// HostDown implements [gocql.HostStateNotifier].
func (p *Policy) HostDown(h *gocql.HostInfo) {
	p.forget(h)
	p.wrapped.HostDown(h)
}

// IsLocal implements [gocql.HostSelectionPolicy].
func (p *Policy) IsLocal(h *gocql.HostInfo) bool { return p.wrapped.IsLocal(h) }

// HostTier implements [gocql.HostTierer].
func (p *Policy) HostTier(h *gocql.HostInfo) uint {
	tier, _ := p.tier(h)
	return tier
}

// MaxHostTier implements [gocql.HostTierer].
func (p *Policy) MaxHostTier() uint {
	if tierer, ok := p.wrapped.(gocql.HostTierer); ok {
		return tierer.MaxHostTier()
	}
	return 1
}

// Ready implements [gocql.ReadyPolicy].
func (p *Policy) Ready() bool {
	ready, ok := p.wrapped.(gocql.ReadyPolicy)
	return ok && ready.Ready()
}

// Reset makes the policy ready for another session. It is in the HostSelectionPolicy of the fork of ScyllaDB, whose
// version 1.19.0 does not call it.
func (p *Policy) Reset() {
	p.mu.Lock()
	p.session = nil
	p.mu.Unlock()
	if wrapped, ok := p.wrapped.(interface{ Reset() }); ok {
		wrapped.Reset()
	}
}

// IsOperational says whether the policy can work with a session. The fork of ScyllaDB calls it, gocql does not.
func (p *Policy) IsOperational(session *gocql.Session) error {
	if wrapped, ok := p.wrapped.(interface {
		IsOperational(session *gocql.Session) error
	}); ok {
		return wrapped.IsOperational(session) //nolint:wrapcheck // the driver has asked the policy
	}
	return nil
}

// tier is the wrapped policy's opinion of a host.
func (p *Policy) tier(h *gocql.HostInfo) (tier uint, far bool) {
	if tierer, ok := p.wrapped.(gocql.HostTierer); ok {
		tier = tierer.HostTier(h)
	} else if !p.wrapped.IsLocal(h) {
		tier = 1
	}
	return tier, tier > 0 && tier >= p.MaxHostTier()
}

// add takes a host in. That gocql adds it once more is a sign of life: other nodes have said that it is up.
func (p *Policy) add(h *gocql.HostInfo) {
	if n := p.nodes[h.HostID()]; n != nil && n.info == h {
		n.breaker.hear()
		return
	}
	n := &node{info: h}
	n.breaker.observed = &p.observed
	p.nodes[h.HostID()] = n
}

// rebuild replaces the ring. p.mu is held.
func (p *Policy) rebuild() {
	members := make(map[string]*member, len(p.nodes))
	for id, n := range p.nodes {
		m := newMember(n, p.partitioner)
		m.tier, m.far = p.tier(n.info)
		members[id] = m
	}
	p.ring.Store(newRing(members, p.replications))
}

// find is the member that a host is; nil if it is unknown.
func (p *Policy) find(h *gocql.HostInfo) *member {
	if h == nil {
		return nil
	}
	return p.ring.Load().members[h.HostID()]
}

func (p *Policy) forget(h *gocql.HostInfo) {
	if m := p.find(h); m != nil {
		m.breaker.reset()
	}
}

// Observe gives an observer for the session of the policy, and passes on what it sees to next, unless that is nil: each
// header of a frame is a sign of life. If next is such an observer, of another session, what that passes on to takes
// its place.
func (p *Policy) Observe(next gocql.FrameHeaderObserver) gocql.FrameHeaderObserver {
	if other, ok := next.(*observer); ok {
		next = other.next
	}
	return &observer{policy: p, next: next}
}

type observer struct {
	policy *Policy
	next   gocql.FrameHeaderObserver
}

// ObserveFrameHeader implements [gocql.FrameHeaderObserver].
func (o *observer) ObserveFrameHeader(ctx context.Context, header gocql.ObservedFrameHeader) {
	if !o.policy.observed.Load() {
		o.policy.observed.Store(true)
	}
	if m := o.policy.find(header.Host); m != nil {
		m.breaker.hear()
	}
	if o.next != nil {
		o.next.ObserveFrameHeader(ctx, header)
	}
}
