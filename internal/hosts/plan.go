package hosts

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gocql/gocql"

	"github.com/denorm-go/denorm/internal/murmur3"
)

// plan is the order of hosts for one request. Mostly only the first is asked for, so the others are found when they are.
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

// choice is a host of a plan. Other versions of the driver have methods of a SelectedHost that gocql 1.7 has not, such as the token by
// which the fork of ScyllaDB chooses a connection: they are those of the embedded one.
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

// The rank of a host that was passed over is a sum: 1 to 4 if the request has tried it, the more the later; and of these.
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
func (s *plan) route() {
	var keyspace string
	var key []byte
	if s.attempt != nil {
		if s.attempt.Group != nil {
			s.count = copy(s.replicas[:], s.attempt.Group.nodes)
			return
		}
		keyspace, key = s.attempt.Keyspace, s.attempt.Key
	} else if k, err := s.request.GetRoutingKey(); err == nil {
		keyspace, key = s.request.Keyspace(), k
	}
	var token int64
	switch {
	case len(s.ring.owners) == 0:
		return
	case key != nil:
		token = murmur3.Token(key)
	case s.attempt != nil && s.attempt.Token != nil:
		token = *s.attempt.Token
	default:
		return
	}
	s.count = len(s.ring.replicas(s.policy.known(s.ring, keyspace), token, s.replicas[:0]))
	for i := s.count - 1; i > 0; i-- { // as rand.Shuffle, which would cost an allocation
		j := rand.IntN(i + 1) //nolint:gosec // it spreads load, it guards nothing
		s.replicas[i], s.replicas[j] = s.replicas[j], s.replicas[i]
	}
}

// next implements [gocql.NextHost].
func (s *plan) next() gocql.SelectedHost {
	if s.attempt != nil && s.attempt.Group != nil {
		if c, ok := s.shared(); ok {
			return s.give(c)
		}
	} else if c, ok := s.replica(); ok {
		return s.give(c)
	} else if c, ok := s.other(); ok {
		return s.give(c)
	}
	if len(s.later) > 0 {
		c := s.later[0]
		s.later = s.later[1:]
		return s.give(c)
	}
	if s.attempt != nil {
		s.attempt.pick(nil, nil, false)
	}
	return nil
}

// replica chooses the nearest replica that is in rotation and new to the request. Those that are not have been put into later
// once the wrapped policy is asked, and come from there.
func (s *plan) replica() (choice, bool) {
	if s.rest != nil {
		return choice{}, false
	}
	left := s.replicas[s.given:s.count]
	for tier, more := uint(0), len(left) > 0; more; tier++ {
		more = false
		for i, m := range left {
			if m.tier != tier {
				more = more || !m.far && m.tier > tier // what is far is in the last tier, which is not asked for
				continue
			}
			if s.attempt.age(m.node) > 0 {
				continue
			}
			if trial := !m.breaker.in(); !trial || m.breaker.try(time.Now()) {
				left[0], left[i] = left[i], left[0]
				s.given++
				return choice{member: m, trial: trial}, true
			}
		}
	}
	return choice{}, false
}

// other chooses a host by the order of the wrapped policy, if it is near, in rotation, and new to the request. The others
// are put into later.
func (s *plan) other() (choice, bool) {
	if s.ended {
		return choice{}, false
	}
	if s.rest == nil {
		s.rest = s.policy.wrapped.Pick(s.request)
		s.asks = 2 * (len(s.ring.members) + 1)
		for _, m := range s.replicas[s.given:s.count] {
			s.later = append(s.later, choice{member: m, rank: s.rank(m)})
		}
	}
	for ; s.asks > 0; s.asks-- {
		host := s.rest()
		if host == nil {
			break
		}
		m := s.policy.find(host.Info())
		c := choice{member: m, SelectedHost: host}
		if m == nil {
			return c, true
		}
		if slices.Contains(s.replicas[:s.given], m) {
			continue
		}
		if i := slices.IndexFunc(s.later, func(l choice) bool { return l.member == m }); i >= 0 {
			s.later[i].SelectedHost = host
			continue
		}
		c.rank = s.rank(m)
		if c.trial = c.rank == rankOut && m.breaker.try(time.Now()); c.trial || c.rank == 0 {
			return c, true
		}
		s.later = append(s.later, c)
	}
	slices.SortStableFunc(s.later, func(a, b choice) int { return a.rank - b.rank })
	s.ended = true
	return choice{}, false
}

// rank says how much speaks against a host.
func (s *plan) rank(m *member) int {
	rank := s.attempt.age(m.node)
	if m.far {
		rank += rankFar
	}
	if !m.breaker.in() {
		rank += rankOut
	}
	return rank
}

// give hands a choice to gocql, and tells the attempt.
func (s *plan) give(c choice) gocql.SelectedHost {
	given := &s.first
	if given.plan != nil { // speculation may still look at it
		given = new(choice)
	}
	*given = c
	given.plan = s
	if c.SelectedHost == nil {
		given.SelectedHost = unchosen
	}
	if s.attempt != nil {
		var n *node
		if c.member != nil {
			n = c.member.node
		}
		s.attempt.pick(given.Info(), n, c.trial)
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

// Mark implements [gocql.SelectedHost]. Of attempts [Attempt.End] tells more. gocql says nil also of a request that ended
// with its context.
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
