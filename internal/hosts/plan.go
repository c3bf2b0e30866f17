package hosts

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/murmur3"
)

// plan is the order of hosts for one request. Mostly only the first is asked for, so the others are found when they
// are.
type plan struct {
	policy  *Policy
	ring    *ring
	request gocql.ExecutableQuery
	attempt *Attempt // nil for a request that is none

	replicas [12]*member // those from given to count were not given yet
	given    int
	count    int

	rest  gocql.NextHost // of the wrapped policy; nil until it is asked
	asks  int            // how often it may still be asked: some never end
	later []choice       // hosts that were passed over
	ended bool           // rest has ended, and later is in order

	first choice // most plans give one host: it costs no allocation
}

// choice is a host of a plan. Other versions of the driver have methods of a SelectedHost that gocql 1.7 has not, such
// as the token by which the fork of ScyllaDB chooses a connection: they are those of the embedded one.
type choice struct {
	gocql.SelectedHost // of the wrapped policy; nil if it did not choose the host, until the host is given: then unchosen
	plan               *plan
	member             *member // nil if the policy knows nothing of the host
	rank               int
	trial              bool
}

// unchosen is what gocql's own policy says of a host without a request, nowhere.
var nowhere, unchosen = func() (*gocql.HostInfo, gocql.SelectedHost) {
	host, policy := new(gocql.HostInfo), gocql.RoundRobinHostPolicy()
	policy.AddHost(host)
	return host, policy.Pick(nil)()
}()

// The rank of a host that was passed over is a sum: 1 to 4 if the request has tried it, the more the later; and of
// these.
const (
	rankFar = 8
	rankOut = 16
)

// Pick implements [gocql.HostSelectionPolicy]. For an attempt it never waits; for another request it asks gocql for the
// routing key, which may prepare the statement.
func (p *Policy) Pick(request gocql.ExecutableQuery) gocql.NextHost {
	s := &plan{policy: p, ring: p.ring.Load(), request: request}
	if request != nil {
		s.attempt = attemptOf(request.Context())
		s.route()
	}
	return s.next
}

// route finds the replicas.
func (p *plan) route() {
	var keyspace string
	var key []byte
	if p.attempt != nil {
		if p.attempt.Group != nil {
			p.count = copy(p.replicas[:], p.attempt.Group.nodes)
			return
		}
		keyspace, key = p.attempt.Keyspace, p.attempt.Key
	} else if k, err := p.request.GetRoutingKey(); err == nil {
		keyspace, key = p.request.Keyspace(), k
	}
	var token int64
	switch {
	case len(p.ring.owners) == 0:
		return
	case key != nil:
		token = murmur3.Token(key)
	case p.attempt != nil && p.attempt.Token != nil:
		token = *p.attempt.Token
	default:
		return
	}
	p.count = len(p.ring.replicas(p.policy.known(p.ring, keyspace), token, p.replicas[:0]))
	for i := p.count - 1; i > 0; i-- { // as rand.Shuffle, which would cost an allocation
		j := rand.IntN(i + 1) //nolint:gosec // it spreads load, it guards nothing
		p.replicas[i], p.replicas[j] = p.replicas[j], p.replicas[i]
	}
}

// next implements [gocql.NextHost].
func (p *plan) next() gocql.SelectedHost {
	if p.attempt != nil && p.attempt.Group != nil {
		if c, ok := p.shared(); ok {
			return p.give(c)
		}
	} else if c, ok := p.replica(); ok {
		return p.give(c)
	} else if c, ok := p.other(); ok {
		return p.give(c)
	}
	if len(p.later) > 0 {
		c := p.later[0]
		p.later = p.later[1:]
		return p.give(c)
	}
	if p.attempt != nil {
		p.attempt.pick(nil, nil, false)
		if p.attempt.Group == nil && p.policy.Datacentre != "" {
			p.attempt.before().without = p.policy.Datacentre
		}
	}
	return nil
}

// replica chooses the nearest replica that is in rotation and new to the request. Those that are not have been put into
// later once the wrapped policy is asked, and come from there.
func (p *plan) replica() (choice, bool) {
	if p.rest != nil {
		return choice{}, false
	}
	left := p.replicas[p.given:p.count]
	for tier, more := uint(0), len(left) > 0; more; tier++ {
		more = false
		for i, m := range left {
			if m.tier != tier {
				more = more || !m.far && m.tier > tier // what is far is in the last tier, which is not asked for
				continue
			}
			if p.attempt.age(m.node) > 0 {
				continue
			}
			if trial := !m.breaker.in(); !trial || m.breaker.try(time.Now()) {
				left[0], left[i] = left[i], left[0]
				p.given++
				return choice{member: m, trial: trial}, true
			}
		}
	}
	return choice{}, false
}

// other chooses a host by the order of the wrapped policy, if it is near, in rotation, and new to the request. The
// others are put into later.
func (p *plan) other() (choice, bool) {
	if p.ended {
		return choice{}, false
	}
	if p.rest == nil {
		p.rest = p.policy.wrapped.Pick(p.request)
		p.asks = 2 * (len(p.ring.members) + 1)
		for _, m := range p.replicas[p.given:p.count] {
			p.later = append(p.later, choice{member: m, rank: p.rank(m)})
		}
	}
	for ; p.asks > 0; p.asks-- {
		host := p.rest()
		if host == nil {
			break
		}
		m := p.policy.find(host.Info())
		c := choice{member: m, SelectedHost: host}
		if m == nil {
			return c, true
		}
		if slices.Contains(p.replicas[:p.given], m) {
			continue
		}
		if i := slices.IndexFunc(p.later, func(l choice) bool { return l.member == m }); i >= 0 {
			p.later[i].SelectedHost = host
			continue
		}
		c.rank = p.rank(m)
		if c.trial = c.rank == rankOut && m.breaker.try(time.Now()); c.trial || c.rank == 0 {
			return c, true
		}
		p.later = append(p.later, c)
	}
	slices.SortStableFunc(p.later, func(a, b choice) int { return a.rank - b.rank })
	p.ended = true
	return choice{}, false
}

// rank says how much speaks against a host.
func (p *plan) rank(m *member) int {
	rank := p.attempt.age(m.node)
	if m.far {
		rank += rankFar
	}
	if !m.breaker.in() {
		rank += rankOut
	}
	return rank
}

// give hands a choice to gocql, and tells the attempt.
func (p *plan) give(c choice) gocql.SelectedHost {
	given := &p.first
	if given.plan != nil { // speculation may still look at it
		given = new(choice)
	}
	*given = c
	given.plan = p
	if c.SelectedHost == nil {
		given.SelectedHost = unchosen
	}
	if p.attempt != nil {
		var n *node
		if c.member != nil {
			n = c.member.node
		}
		p.attempt.pick(given.Info(), n, c.trial)
	}
	return given
}

// Info implements [gocql.SelectedHost].
func (c *choice) Info() *gocql.HostInfo {
	if host := c.SelectedHost.Info(); host != nowhere {
		return host
	}
	return c.member.info
}

// Mark implements [gocql.SelectedHost]. Of attempts [Attempt.End] tells more. gocql says nil also of a request that
// ended with its context.
func (c *choice) Mark(err error) {
	c.SelectedHost.Mark(err)
	if c.member == nil || c.plan.attempt != nil {
		return
	}
	if err == nil && c.plan.request != nil {
		err = c.plan.request.Context().Err()
	}
	c.member.breaker.end(ResultOf(err), c.trial, time.Now)
}
